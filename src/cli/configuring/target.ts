import { join } from 'node:path'
import { findProject, type LoadedConfig, PROJECT_CONFIG } from '../../config/index.js'
import type { Cli } from '../cli.js'
import { UsageError } from '../usage.js'

/** `--scope user|project`: whose file is meant. */
export interface ScopeOption {
  readonly scope?: string
}

/** The one file that `add`, `import` and `config path` mean: `--config`, the project's, or the user's own. */
export function targetFile(cli: Cli, { scope }: ScopeOption): string {
  const named = namedFile(cli)
  if (named !== undefined) {
    if (scope !== undefined) throw new UsageError('--scope does not go with --config, which names the file')
    return named
  }
  if (scope === 'project') return findProject(cli.cwd, cli.home)?.file ?? join(cli.cwd, PROJECT_CONFIG)
  if (scope !== undefined && scope !== 'user') throw new UsageError(`--scope is 'user' or 'project', not '${scope}'`)
  return join(cli.home, 'config.toml')
}

/**
 * The file of `--config`, if one is named.
 *
 * @throws UsageError several are
 */
export function namedFile(cli: Cli): string | undefined {
  const [named, ...more] = cli.configFiles
  if (more.length > 0) throw new UsageError('name one --config file: only one can be changed')
  return named
}

/** Files in which an existing entry may stand, the one that counts first. */
export function entryFiles(cli: Cli, loaded: LoadedConfig, options: ScopeOption): readonly string[] {
  if (options.scope !== undefined) return [targetFile(cli, options)]
  return loaded.files
    .filter(({ exists, trusted }) => exists && trusted)
    .map(({ path }) => path)
    .reverse()
}

/** A JSON file can't be edited: it is tried, and so named in the refusal, only when the server stands in it. */
export function mayHold(file: string, name: string, { servers }: LoadedConfig): boolean {
  return !/\.jsonc?$/i.test(file) || servers.some((server) => server.name === name && server.origin.file === file)
}
