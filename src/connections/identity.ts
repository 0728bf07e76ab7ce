import { isAbsolute } from 'node:path'
import type { AuthIdentity } from '../auth/index.js'
import type { EffectiveServer } from '../catalog/index.js'
import type { HttpServer, ServerConfig, StdioServer } from '../config/index.js'
import { keyText, LOCAL_ENVIRONMENT, type ServerKey } from '../identity/index.js'
import { canonicalJson, sha256 } from './canonical.js'
import { hasExplicitAuthorization, storedOAuthApplies } from './http-authorization.js'
import { type HostVariables, normalEnvVar, referencedVariables, variable } from './referenced-variables.js'
import type { ClientProfile } from './types.js'

/** What a connection depends on beside its server's registration. */
export interface IdentityContext {
  readonly profile: ClientProfile
  /** The host's variables as they are now. */
  readonly env: HostVariables
  /** Working directory of a local stdio server without `cwd`, and of a local headers helper. */
  readonly fallbackCwd: string
  /** Tells two handles of one environment id apart; absent where there is only one. */
  readonly environmentHandle?: string
  /** A digest of the stored OAuth credentials, or of the reason why they can't be read; counts only where they apply. */
  readonly storedCredentials?: string
  /** First-party auth of who holds the connection, for servers that use it. */
  readonly firstParty?: AuthIdentity
  /** For whom the server is used; absent: the local user. What it offers may be theirs alone. */
  readonly principal?: string
}

/**
 * Which connections may stand for each other (reference: connections, 2). Two registrations with one digest are served
 * by one connection; what only shapes a view of it (filters, timeouts, approval modes, the parallel flag) is not in it,
 * nor is the client's name and version, by which no server may behave otherwise.
 */
export interface ConnectionIdentity {
  readonly key: ServerKey
  /** What the digest is made of, for `doctor` and tests: every value that could be a secret is there as a hash only. */
  readonly fields: Readonly<Record<string, unknown>>
  /** SHA-256 in lower-case hex. */
  readonly digest: string
  /** The same of how the server is launched or reached alone, whoever its client is. */
  readonly launch: string
}

export function connectionIdentity(server: EffectiveServer, context: IdentityContext): ConnectionIdentity {
  const { config } = server
  const launch = launchFields(server, context)
  const fields = {
    ...launch,
    ...(config.protocol !== undefined && { protocol: config.protocol }),
    client: hashed(canonicalJson(context.profile.capabilities)),
    ...(context.profile.further && { introduction: hashed(canonicalJson(context.profile.further)) }),
    ...(context.principal !== undefined && { principal: context.principal }),
    ...(context.firstParty
      ? { firstParty: context.firstParty }
      : storedOAuthApplies(config, context.env) && { credentials: context.storedCredentials ?? null }),
  }
  return Object.freeze({
    key: server.key,
    fields: Object.freeze(fields),
    digest: sha256(canonicalJson(fields)),
    launch: sha256(canonicalJson(launch)),
  })
}

/**
 * The entry of the durable inventory cache that belongs to a server, or `undefined` where what a server offers must not
 * be kept: it may differ by account, or by variables that are not seen here (reference: connections, 7.4). Needs no
 * transport, so that tools can be listed from the cache without starting anything. The client's name and version do not
 * count, its capabilities do.
 */
export function cacheIdentity(server: EffectiveServer, context: IdentityContext): string | undefined {
  if (!isCacheable(server.config, context)) return undefined
  const { firstParty, principal } = context
  const { capabilities, further } = context.profile
  const fields = {
    ...launchFields(server, context),
    capabilities,
    ...(further && { further }),
    ...(firstParty && { firstParty }),
    ...(principal !== undefined && { principal }),
  }
  return sha256(canonicalJson(fields))
}

function isCacheable(config: ServerConfig, context: IdentityContext): boolean {
  const { transport } = config
  if (transport.type === 'stdio') return !transport.envVars.map(normalEnvVar).some(({ source }) => source === 'remote')
  if (transport.httpHeadersHelper !== undefined) return false
  const named = transport.bearerTokenEnvVar !== undefined || Object.keys(transport.envHttpHeaders).length > 0
  if (named && config.environmentId !== LOCAL_ENVIRONMENT) return false
  if (transport.oauth !== undefined || transport.oauthResource !== undefined || config.scopes !== undefined)
    return false
  if (hasExplicitAuthorization(config)) return true
  // An account's own: another account, source or mode has an entry of its own.
  if (transport.auth === 'chatgpt') return typeof context.firstParty?.account === 'string'
  return context.storedCredentials === undefined || !storedOAuthApplies(config, context.env)
}

function launchFields({ key, config, source }: EffectiveServer, context: IdentityContext): Record<string, unknown> {
  const { transport } = config
  const plugin = 'plugin' in source ? source.plugin : undefined
  return {
    key: keyText(key),
    environment: config.environmentId,
    ...(context.environmentHandle !== undefined && { handle: context.environmentHandle }),
    transport: transport.type === 'stdio' ? stdioFields(transport) : httpFields(transport),
    variables: Object.fromEntries(
      referencedVariables(config, context.env).map((name) => [name, hashed(variable(context.env, name))]),
    ),
    ...(usesFallbackCwd(config) && { fallbackCwd: context.fallbackCwd }),
    ...(plugin?.hostRoot !== undefined && { pluginRoot: plugin.hostRoot }),
    agentPlugin: plugin?.agentPlugin ?? false,
  }
}

function stdioFields(stdio: StdioServer): Record<string, unknown> {
  return {
    type: stdio.type,
    command: hashed(stdio.command),
    args: stdio.args.map(hashed),
    env: hashedValues(stdio.env),
    envVars: stdio.envVars.map(normalEnvVar).sort((a, b) => (canonicalJson(a) < canonicalJson(b) ? -1 : 1)),
    ...(stdio.cwd !== undefined && { cwd: stdio.cwd }),
    ...(stdio.sandbox && { sandbox: stdio.sandbox }),
  }
}

function httpFields(http: HttpServer): Record<string, unknown> {
  return {
    type: http.type,
    url: hashed(http.url),
    auth: http.auth,
    ...(http.bearerTokenEnvVar !== undefined && { bearerTokenEnvVar: http.bearerTokenEnvVar }),
    headers: hashedValues(http.httpHeaders),
    envHeaders: http.envHttpHeaders,
    ...(http.httpHeadersHelper !== undefined && { headersHelper: hashed(http.httpHeadersHelper) }),
    ...(http.oauth !== undefined && { oauth: http.oauth }),
    ...(http.oauthResource !== undefined && { oauthResource: http.oauthResource }),
  }
}

function usesFallbackCwd({ environmentId, transport }: ServerConfig): boolean {
  if (environmentId !== LOCAL_ENVIRONMENT) return false
  if (transport.type !== 'stdio') return transport.httpHeadersHelper !== undefined
  // A relative one starts there.
  return transport.cwd === undefined || !isAbsolute(transport.cwd)
}

function hashedValues(values: Readonly<Record<string, string>>): Record<string, string | null> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, hashed(value)]))
}

/** Command lines, URLs, headers and variables may carry tokens. Null for what is not set. */
function hashed(value: string | undefined): string | null {
  return value === undefined ? null : sha256(value)
}
