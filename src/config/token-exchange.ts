import { described, fault, list, table, text } from './schema/shape.js'
import type { Path } from './source/raw.js'

/**
 * `[mcp_servers.X.oauth.token_exchange]`: the token that a principal came to the gateway with is exchanged for one of this
 * server (RFC 8693).
 */
export interface TokenExchangeSettings {
  /** Registered at the authorization server for it. */
  readonly clientId: string
  /** The variable that holds the client's secret; absent: a public client. */
  readonly clientSecretEnv?: string
  /** The target by name. */
  readonly audience?: string
  /** The target by URL; absent: the server's own, unless an audience is named. */
  readonly resource?: string
  readonly scopes?: readonly string[]
  /** Absent: that of the issuer of the principal's token. */
  readonly tokenEndpoint?: string
}

export const tokenExchangeShape = table({
  client_id: described(text, 'Client id for the exchange, registered beforehand.'),
  client_secret_env: described(text, 'Variable that holds the secret of the client.'),
  audience: described(text, 'Target service by its name at the authorization server.'),
  resource: described(text, 'Target service by its URL; the URL of the server when neither is given.'),
  scopes: described(list(text), 'Scopes to ask for.'),
  token_endpoint: described(text, "Where tokens are exchanged; otherwise the issuer's own token endpoint."),
})

/** @throws ConfigError `missing_member`, `invalid_value` */
export function readTokenExchange(
  members: ReturnType<typeof tokenExchangeShape.read>,
  path: Path,
): TokenExchangeSettings {
  const { client_id: clientId, client_secret_env, audience, resource, scopes, token_endpoint } = members
  const at = [...path, 'oauth', 'token_exchange']
  if (clientId === undefined || clientId.trim() === '')
    throw fault('missing_member', 'token_exchange needs a client_id', at, { member: 'client_id' })
  for (const [member, value] of Object.entries({ resource, token_endpoint }))
    if (value !== undefined && !URL.canParse(value))
      throw fault('invalid_value', `${member} must be a URL`, [...at, member], { member })
  return Object.freeze({
    clientId,
    ...(client_secret_env !== undefined && { clientSecretEnv: client_secret_env }),
    ...(audience !== undefined && { audience }),
    ...(resource !== undefined && { resource }),
    ...(scopes && { scopes: Object.freeze(scopes) }),
    ...(token_endpoint !== undefined && { tokenEndpoint: token_endpoint }),
  })
}
