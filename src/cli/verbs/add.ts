import { editing } from '../../config/index.js'
import type { Cli } from '../cli.js'
import { loadForCli, tellProblems } from '../configuring/configuration.js'
import { type AddOptions, entryFromOptions } from '../configuring/entry.js'
import { tellOutcome } from '../configuring/outcome.js'
import { shownConfig } from '../configuring/shown.js'
import { type ScopeOption, targetFile } from '../configuring/target.js'

/**
 * Adds a server to a file, or changes what is given of the one of that name (`--replace`: all of it).
 *
 * @param command program and arguments of a stdio server; empty with `--url`
 * @throws UsageError, InvalidServerNameError, ConfigError
 */
export async function run(
  cli: Cli,
  name: string,
  command: readonly string[],
  options: AddOptions & ScopeOption & { readonly replace?: boolean },
): Promise<number> {
  const entry = entryFromOptions(command, options)
  const file = targetFile(cli, options)
  const { addServer } = await editing()
  const outcome = await addServer(file, name, entry, { replace: options.replace ?? false })
  const loaded = await loadForCli(cli)
  tellOutcome(cli, { name }, outcome, file)
  // The file may be another one than those that count here, say a project's that is not trusted.
  const counts = loaded.servers.find((server) => server.name === name)
  if (counts !== undefined && counts.origin.file !== file)
    cli.err.warn(`'${name}' of ${counts.origin.file} counts instead: it comes later`)
  else if (counts !== undefined && !shownConfig(counts, {}).enabled)
    cli.err.line(`note: it is disabled; 'reeve enable ${name}' switches it on`)
  tellProblems(cli, {
    problems: loaded.problems.filter((problem) => problem.server === name || problem.code === 'untrusted_project'),
    shadowed: [],
  })
  return 0
}
