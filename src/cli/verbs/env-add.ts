import { join } from 'node:path'
import { editing } from '../../config/index.js'
import type { Cli } from '../cli.js'
import { loadForCli } from '../configuring/configuration.js'
import { tellOutcome } from '../configuring/outcome.js'
import { namedFile } from '../configuring/target.js'
import { type EnvironmentAddOptions, environmentEntry } from '../environments/entry.js'

/**
 * Adds an environment to `environments.toml`, or changes what is given of the one of that id (`--replace`: all of it).
 * With `--config` the entry goes into that file's `[[environments]]`.
 *
 * @param words what follows `--`
 * @throws UsageError, ConfigError
 */
export async function run(
  cli: Cli,
  id: string,
  words: readonly string[],
  options: EnvironmentAddOptions & { readonly replace?: boolean },
): Promise<number> {
  const entry = environmentEntry(words, options, cli.cwd)
  const file = namedFile(cli) ?? join(cli.home, 'environments.toml')
  const { addEnvironment } = await editing()
  const outcome = await addEnvironment(file, id, entry, { replace: options.replace ?? false })
  tellOutcome(cli, { id }, outcome, file)
  await tellWhatCounts(cli, id, file)
  if (!cli.json) cli.err.line(`to try it: reeve env check ${id}`)
  return 0
}

/** The entry may be hidden by another file, or another entry may break the one that it went into. */
async function tellWhatCounts(cli: Cli, id: string, file: string): Promise<void> {
  const { environments, problems } = await loadForCli(cli)
  const counts = environments.entries.find((entry) => entry.id === id)
  if (counts !== undefined && counts.origin.file !== file)
    cli.err.warn(`'${id}' of ${counts.origin.file} counts instead: it comes later`)
  for (const { message, place } of counts === undefined ? problems : [])
    if (place.startsWith(file)) cli.err.warn(`${place}: ${message}`)
}
