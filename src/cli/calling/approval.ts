import { displayKey } from '../../identity/index.js'
import type { ThreadOptions } from '../../threads/index.js'
import type { Cli } from '../cli.js'
import { oneLine } from '../printable.js'

type OnApproval = NonNullable<ThreadOptions['onApproval']>

/**
 * Who answers when the configuration wants to be asked about a tool: `--yes`, else a person at the terminal. Undefined
 * where nobody can be asked; such calls are then refused.
 */
export function askApproval(cli: Cli, yes: boolean): OnApproval | undefined {
  if (yes) return async () => 'approve'
  if (cli.stdin.isTTY !== true) return undefined
  return async ({ key, tool, arguments: args, offers }, signal) => {
    cli.err.clear()
    cli.err.error(`${oneLine(displayKey(key))} / ${oneLine(tool)}`)
    if (args !== undefined) cli.err.error(`  ${oneLine(JSON.stringify(args))}`)
    const mayLast = offers.includes('always')
    cli.err.error(mayLast ? 'Run it? [y/N], or always' : 'Run it? [y/N]')
    const answer = await oneAnswer(cli, signal)
    if (mayLast && /^a(?:lways)?$/i.test(answer)) return 'approve_always'
    return /^y(?:es)?$/i.test(answer) ? 'approve' : 'decline'
  }
}

/** The next line of stdin; empty when it ends or the call is given up. */
async function oneAnswer(cli: Cli, signal: AbortSignal | undefined): Promise<string> {
  const { createInterface } = await import('node:readline')
  const lines = createInterface({ input: cli.stdin, terminal: false })
  return new Promise((resolve) => {
    const done = (answer: string): void => {
      signal?.removeEventListener('abort', onAbort)
      // First: closing reports the end of the input, which means no answer.
      resolve(answer)
      lines.close()
    }
    const onAbort = (): void => done('')
    lines.once('line', (line) => done(line.trim()))
    lines.once('close', () => done(''))
    if (signal?.aborted) onAbort()
    else signal?.addEventListener('abort', onAbort, { once: true })
  })
}
