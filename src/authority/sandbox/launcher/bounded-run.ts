import type { Environment, EnvironmentProcess } from '../../../environments/index.js'
import { ReeveError } from '../../../errors.js'
import type { Fault } from './finding.js'

/** Far more than any help text has. */
const MOST_BYTES = 1_048_576

export interface RunRequest {
  readonly program: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** Milliseconds until it is ended with all that it started. */
  readonly timeoutMs: number
}

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  /** Its last line, for error texts. */
  readonly lastWords: string
}

/** Runs a program that may do anything: its time and what it prints are bounded, and nothing of it is left. */
export async function boundedRun(spawner: Pick<Environment, 'spawn'>, request: RunRequest): Promise<Ran | Fault> {
  const { timeoutMs, ...spawn } = request
  let program: EnvironmentProcess
  try {
    program = await spawner.spawn({ ...spawn, label: 'launcher probe' })
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error
    return { fault: 'not_started', reason: error.message }
  }
  const printed = new Printed()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, 'late')
  })
  program.onstdout = (chunk) => printed.add('stdout', chunk)
  program.onstderr = (chunk) => printed.add('stderr', chunk)
  program.closeStdin()
  const outcome = await Promise.race([program.exited, late, printed.tooMuch])
  clearTimeout(timer)
  await program.terminate()
  if (outcome === 'late') return { fault: 'timed_out', reason: `gave no answer in ${timeoutMs} ms` }
  if (outcome === 'too much') return { fault: 'too_much_output', reason: `printed more than ${MOST_BYTES} bytes` }
  return {
    code: outcome.code,
    stdout: printed.text('stdout'),
    lastWords: printed.text('stderr').trim().split('\n').at(-1) ?? '',
  }
}

class Printed {
  readonly tooMuch: Promise<'too much'>
  readonly #chunks: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] }
  #bytes = 0
  #onTooMuch: (outcome: 'too much') => void = () => {}

  constructor() {
    this.tooMuch = new Promise((resolve) => {
      this.#onTooMuch = resolve
    })
  }

  add(stream: 'stdout' | 'stderr', chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#bytes > MOST_BYTES) this.#onTooMuch('too much')
    else this.#chunks[stream].push(chunk)
  }

  text(stream: 'stdout' | 'stderr'): string {
    return Buffer.concat(this.#chunks[stream]).toString('utf8')
  }
}
