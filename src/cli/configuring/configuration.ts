import { type ConfiguredServer, type LoadedConfig, loadConfig, nearest } from '../../config/index.js'
import { ConfigError, UnknownServerError } from '../../errors.js'
import { serverKey } from '../../identity/index.js'
import type { Cli } from '../cli.js'
import { oneLine } from '../printable.js'

/** Loads what the command line names, under the administrator's requirements. Starts nothing. */
export async function loadForCli(cli: Cli): Promise<LoadedConfig> {
  const { home, cwd, env, configFiles } = cli
  const loaded = await loadConfig({ home, cwd, env, files: configFiles })
  return loaded.requirements === undefined ? loaded : { ...loaded, servers: await underRequirements(loaded) }
}

async function underRequirements(loaded: LoadedConfig): Promise<readonly ConfiguredServer[]> {
  const { configuredCatalog } = await import('../../catalog/index.js')
  const allowed = new Map(configuredCatalog(loaded).servers.map(({ key, config }) => [key.name as string, config]))
  return loaded.servers.map((server) => ({ ...server, config: allowed.get(server.name) ?? server.config }))
}

/**
 * @throws UnknownServerError with the closest name; ConfigError when the server is there but broken.
 */
export function serverNamed(loaded: LoadedConfig, name: string): ConfiguredServer {
  const server = loaded.servers.find((one) => one.name === name)
  if (server !== undefined) return server
  const fault = loaded.problems.find((problem) => problem.server === name && problem.severity === 'error')
  if (fault !== undefined) throw new ConfigError(fault.code, fault.message, { place: fault.place })
  throw unknownServer(name, namesIn(loaded))
}

export function unknownServer(name: string, names: Iterable<string>): UnknownServerError {
  const suggestion = nearest(name, names)
  return new UnknownServerError(serverKey(name), suggestion === undefined ? {} : { suggestion })
}

/** Names that are configured, broken ones too. */
export function namesIn(loaded: LoadedConfig): readonly string[] {
  const broken = loaded.problems.flatMap(({ server }) => (server === undefined ? [] : [server]))
  return [...new Set([...loaded.servers.map(({ name }) => name), ...broken])]
}

/** Tells each problem on stderr. The exit code of a verb that did its own part: 1 when a problem is an error. */
export function tellProblems(cli: Cli, { problems, shadowed }: Pick<LoadedConfig, 'problems' | 'shadowed'>): number {
  for (const { severity, place, message } of problems) {
    const line = oneLine(`${place}: ${message}`)
    if (severity === 'error') cli.err.error(`${cli.err.style.red('error:')} ${line}`)
    else cli.err.warn(line)
  }
  for (const { name, origin, by } of shadowed) {
    const why = by.broken ? 'has a broken entry of that name' : 'has that name too, and comes later'
    cli.err.line(oneLine(`note: '${name}' of ${origin.file} is not used: ${by.file} ${why}`))
  }
  return problems.some(({ severity }) => severity === 'error') ? 1 : 0
}
