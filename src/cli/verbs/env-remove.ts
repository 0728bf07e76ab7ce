import { join } from 'node:path'
import { editing, nearest } from '../../config/index.js'
import { UnknownEnvironmentError } from '../../errors.js'
import type { Cli } from '../cli.js'
import { loadForCli } from '../configuring/configuration.js'

/**
 * Takes an environment out of the files in which it stands: first the one whose entry counts.
 *
 * @throws UnknownEnvironmentError unless `--ignore-missing`; ConfigError
 */
export async function run(cli: Cli, id: string, options: { readonly ignoreMissing?: boolean }): Promise<number> {
  const { environments, files } = await loadForCli(cli)
  const counts = environments.entries.find((entry) => entry.id === id)?.origin.file
  const tomls = files.filter(({ exists, trusted, path }) => exists && trusted && !/\.jsonc?$/i.test(path))
  const places = cli.configFiles.length > 0 ? [] : [join(cli.home, 'environments.toml')]
  const candidates = new Set([
    ...(counts === undefined || counts === 'CODEX_EXEC_SERVER_URL' ? [] : [counts]),
    ...tomls.map(({ path }) => path).reverse(),
    ...places,
  ])
  const { removeEnvironment } = await editing()
  for (const file of candidates) {
    const outcome = await removeEnvironment(file, id)
    if (outcome === 'unknown') continue
    if (cli.json) cli.out.json({ id, removed: true, file })
    else cli.out.line(`removed '${id}' from ${file}`)
    if (outcome === 'removed_with_default') cli.err.line('note: `default` named it, and is removed too')
    await tellWhatCountsNow(cli, id)
    return 0
  }
  const known = environments.entries.map((entry) => entry.id)
  if (!options.ignoreMissing) throw unknown(id, known)
  if (cli.json) cli.out.json({ id, removed: false, file: null })
  else cli.err.line(`there is no environment '${id}'`)
  return 0
}

function unknown(id: string, known: readonly string[]): UnknownEnvironmentError {
  const suggestion = nearest(id, known)
  return new UnknownEnvironmentError(id, { known, ...(suggestion !== undefined && { suggestion }) })
}

async function tellWhatCountsNow(cli: Cli, id: string): Promise<void> {
  const { environments, servers } = await loadForCli(cli)
  const below = environments.entries.find((entry) => entry.id === id)
  if (below !== undefined) return cli.err.line(`note: '${id}' of ${below.origin.file} counts now`)
  for (const { name, config } of servers)
    if (config.environmentId === id)
      cli.err.warn(`the server '${name}' has environment_id "${id}": it cannot start any more`)
}
