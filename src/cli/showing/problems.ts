import type { ConfigProblem } from '../../config/index.js'
import type { Cli } from '../cli.js'
import { oneLine } from '../printable.js'

/** Tells on stderr what is wrong with the configuration, a line each. */
export function tellProblems(cli: Cli, problems: readonly ConfigProblem[]): void {
  for (const { severity, place, message } of problems) {
    const text = oneLine(`${place}: ${message}`)
    if (severity === 'error') cli.err.error(`${cli.err.style.red('error:')} ${text}`)
    else cli.err.warn(text)
  }
}
