import type { ServerConfig } from '../config/index.js'
import type { Environment } from '../environments/index.js'
import { ConfigError } from '../errors.js'
import { displayKey, type ServerKey } from '../identity/index.js'
import type { Transport } from '../protocol/index.js'
import { openHttp } from './http/open.js'
import { openStdio } from './stdio/open.js'

export interface OpenerOptions {
  /** By execution environment id. */
  readonly environments: ReadonlyMap<string, Environment>
  /** The host's variables. */
  readonly parentEnv: Readonly<Record<string, string | undefined>>
  /** Working directory of a local stdio server without `cwd`, where the opening names none. */
  readonly defaultCwd: string
  /** Every line that a server writes to stderr. */
  readonly onstderr?: (key: ServerKey, line: string) => void
}

/** A server to open: its key, for error texts, and how to reach it. */
export interface Openable {
  readonly key: ServerKey
  readonly config: ServerConfig
}

/**
 * Opens servers where their configuration places them (reference: connections, 3). Every call gives a new transport, not
 * started.
 *
 * @throws ConfigError from the returned function, when the execution environment is unknown or the transport unusable
 */
export function transportOpener(
  options: OpenerOptions,
): (server: Openable, how: { readonly signal: AbortSignal; readonly cwd?: string }) => Promise<Transport> {
  const { environments, parentEnv, defaultCwd, onstderr } = options
  return async ({ key, config }, { signal, cwd = defaultCwd }) => {
    const environment = environments.get(config.environmentId)
    const label = displayKey(key)
    if (environment === undefined) throw unknownEnvironment(label, config.environmentId)
    const { transport: server } = config
    if (server.type === 'stdio') {
      const listener = onstderr && ((line: string) => onstderr(key, line))
      return openStdio({
        environment,
        server,
        parentEnv,
        platform: process.platform,
        defaultCwd: cwd,
        label,
        signal,
        ...(listener && { onstderr: listener }),
      })
    }
    const spawn = environment.kind === 'local' ? environment.spawn.bind(environment) : undefined
    return openHttp({ http: environment.http, server, env: parentEnv, label, cwd, ...(spawn && { spawn }) })
  }
}

function unknownEnvironment(label: string, id: string): ConfigError {
  return new ConfigError('unknown_environment', `MCP server '${label}': unknown environment id \`${id}\``, {
    place: `mcp_servers.${label}.environment_id`,
  })
}
