import type { AuthContext } from '../auth/index.js'
import type { ServerConfig } from '../config/index.js'
import type { Environment } from '../environments/index.js'
import { ConfigError } from '../errors.js'
import { displayKey, type ServerKey } from '../identity/index.js'
import type { Transport } from '../protocol/index.js'
import { firstPartyAuth, type ToolLookup, usesFirstParty } from './first-party.js'
import { AccountTransport } from './http/account-transport.js'
import type { HttpAuth } from './http/http-auth.js'
import { openHttp } from './http/open.js'
import { openStdio } from './stdio/open.js'
import type { ServerLauncher } from './stdio/sandboxed.js'

export interface OpenerOptions {
  /** By execution environment id: for openings that name no environment of their own. */
  readonly environments: ReadonlyMap<string, Environment>
  /** The host's variables. */
  readonly parentEnv: Readonly<Record<string, string | undefined>>
  /** Working directory of a local stdio server without `cwd`, where the opening names none. */
  readonly defaultCwd: string
  /** What servers with a sandbox are started with. Without it they aren't started. */
  readonly launcher?: ServerLauncher
  /** Credentials that the configuration does not give itself, for a server that is reached through this environment. */
  readonly credentials?: (
    server: Openable,
    environment: Environment,
    connection?: object,
    principal?: string,
  ) => HttpAuth | undefined
  /** Every line that a server writes to stderr. */
  readonly onstderr?: (key: ServerKey, line: string) => void
}

/** A server to open: its key, for error texts, and how to reach it. */
export interface Openable {
  readonly key: ServerKey
  readonly config: ServerConfig
  /** Who contributed it: what an Agent Plugin wants to be sent goes to the place that it named, and to no other. */
  readonly source?: { readonly kind: string; readonly plugin?: { readonly agentPlugin: boolean } }
}

export interface Opening {
  readonly signal: AbortSignal
  readonly cwd?: string
  /** Where it runs, by whoever wants it opened; null where they know no environment of that id. */
  readonly environment?: Environment | null
  /** Stands for the connection that it is opened for, at first and again after a session was lost. */
  readonly connection?: object
  /** First-party auth of who opens it; absent: it is opened without. */
  readonly auth?: AuthContext
  /** For whom; absent: the local user. */
  readonly principal?: string
  /** The live definitions of its tools. */
  readonly tool?: ToolLookup
}

/**
 * Opens servers where their configuration places them (reference: connections, 3). Every call gives a new transport, not
 * started.
 *
 * @throws ConfigError from the returned function, when the execution environment is unknown or the transport unusable
 */
export function transportOpener(options: OpenerOptions): (server: Openable, how: Opening) => Promise<Transport> {
  const { environments, parentEnv, defaultCwd, credentials, onstderr, launcher } = options
  return async ({ key, config, source }, { environment = environments.get(config.environmentId), ...how }) => {
    const { signal, cwd = defaultCwd, connection, auth: context, tool, principal } = how
    const label = displayKey(key)
    if (environment === undefined || environment === null) throw unknownEnvironment(label, config.environmentId)
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
        ...(launcher && { launcher }),
        ...(listener && { onstderr: listener }),
      })
    }
    const reached =
      environment.kind === 'local' ? { spawn: environment.spawn.bind(environment) } : { executor: environment }
    const redirects = source?.plugin?.agentPlugin === true ? 'stop-credentials' : 'same-origin'
    const about = { http: environment.http, server, env: parentEnv, label, cwd, ...reached }
    if (context !== undefined && usesFirstParty(config, parentEnv)) {
      const { connection: account, auth, owned, ...own } = firstPartyAuth(context, tool)
      const stops = own.redirects === 'stop'
      const below = await openHttp({ ...about, auth, owned, redirects: stops ? 'stop' : redirects })
      return new AccountTransport(below, { auth: account, manager: context.manager, label })
    }
    const auth = credentials?.({ key, config, ...(source && { source }) }, environment, connection, principal)
    return openHttp({ ...about, redirects, ...(auth && { auth }) })
  }
}

function unknownEnvironment(label: string, id: string): ConfigError {
  return new ConfigError('unknown_environment', `MCP server '${label}': unknown environment id \`${id}\``, {
    place: `mcp_servers.${label}.environment_id`,
  })
}
