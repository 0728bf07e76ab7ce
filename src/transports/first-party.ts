import { type AuthContext, eligibilityOf, transportAuth, withoutOwned } from '../auth/index.js'
import type { ServerConfig } from '../config/index.js'
import type { JsonObject } from '../protocol/index.js'
import { configuredHeaders } from './http/header-fields.js'
import type { HttpAuth } from './http/http-auth.js'

/**
 * Whether first-party auth of a thread is asked for the requests of this server: `auth = "chatgpt"`, over HTTP, from this
 * machine, without an `Authorization` or bearer variable of its own. Where its URL leads is looked at for each request.
 * Source: reference, auth 2.5.
 */
export function usesFirstParty(
  { transport, environmentId }: ServerConfig,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  if (transport.type === 'stdio' || transport.auth !== 'chatgpt') return false
  const { fields: headers } = configuredHeaders(transport, env, '')
  const hasBearerVariable = transport.bearerTokenEnvVar !== undefined
  return eligibilityOf({ auth: transport.auth, environmentId, hasBearerVariable, headers }) === 'ours'
}

/** The live definition of a tool. */
export type ToolLookup = (name: string) => JsonObject | undefined

/**
 * First-party auth for one transport that is opened now, as the thread's context has it.
 *
 * @throws FirstPartyAuthError as `AuthContext.connect`: nothing is opened then, and never without auth instead
 */
export function firstPartyAuth(context: AuthContext, tool: ToolLookup = () => undefined) {
  const connection = context.connect('mcp')
  const auth: HttpAuth = transportAuth(connection, {
    isIdempotent: (operation) => operation.tool !== undefined && isIdempotent(tool(operation.tool)),
  })
  return {
    connection,
    auth,
    redirects: connection.redirects,
    owned: (configured: Parameters<typeof withoutOwned>[0]) => withoutOwned(configured, context.mode),
  }
}

/** As its server declares it. */
function isIdempotent(definition: JsonObject | undefined): boolean {
  const annotations = definition?.annotations
  if (typeof annotations !== 'object' || annotations === null || Array.isArray(annotations)) return false
  return annotations.idempotentHint === true
}
