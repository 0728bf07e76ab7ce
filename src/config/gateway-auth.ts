import { described, fault, integer, list, map, type Notes, table, text } from './schema/shape.js'
import type { Path, Raw } from './source/raw.js'

/**
 * The authorization server whose tokens the gateway takes over HTTP, as `[gateway.auth]` or an embedding program names it.
 * Absent members are up to the gateway.
 */
export interface GatewayAuthSettings {
  /** Exactly as in the `iss` of tokens and in its metadata. */
  readonly issuer?: string
  /** The gateway's own URL as clients know it. Default: the one that it listens on. */
  readonly resource?: string
  /** What the `aud` of a token may be; one of them must be in it. Default: the resource. */
  readonly audience?: readonly string[]
  /** Where the issuer's keys are. Default: as its metadata says (RFC 8414, OpenID Connect Discovery). */
  readonly jwksUrl?: string
  /** JWS algorithms, asymmetric ones. Default: `DEFAULT_ALGORITHMS` of the gateway. */
  readonly algorithms?: readonly string[]
  /** Methods, `prefix/*` or `*`, and the scopes that each needs, all of them. Default: `DEFAULT_SCOPES` of the gateway. */
  readonly scopes?: ReadonlyMap<string, readonly string[]>
  /** Needed by every request. Default: none. */
  readonly requiredScopes?: readonly string[]
  /** What a client without a token is told to ask for. Default: all that may be needed. */
  readonly initialScopes?: readonly string[]
  /** Milliseconds by which clocks may differ. Default 30 s. */
  readonly clockSkewMs?: number
}

export const gatewayShape = table({
  auth: described(
    table({
      issuer: described(text, 'Issuer of the tokens, exactly as in their `iss`.'),
      resource: described(text, "The gateway's URL as clients know it; otherwise the one that it listens on."),
      audience: described(list(text), 'What the `aud` of tokens may be; otherwise the resource.'),
      jwks_url: described(text, 'Where the keys of the issuer are; otherwise as its metadata says.'),
      algorithms: described(list(text), 'Signature algorithms that are taken; never `none` or a symmetric one.'),
      scopes: described(map(list(text)), 'Scopes that a method needs, by its name, `prefix/*` or `*`.'),
      required_scopes: described(list(text), 'Scopes that every request needs.'),
      initial_scopes: described(list(text), 'Scopes that clients are told to ask for first; otherwise all.'),
      clock_skew_sec: described(integer('0 to 300 seconds', 0n, 300n), 'How far clocks may differ.', { default: 30 }),
    }),
    'Clients over HTTP log in at an authorization server.',
  ),
})

/** @throws ConfigError */
export function readGatewayAuth(value: Raw, path: Path, notes: Notes): GatewayAuthSettings | undefined {
  const { auth } = gatewayShape.read(value, path, notes)
  if (auth === undefined) return undefined
  const at = [...path, 'auth']
  if (auth.issuer === undefined || auth.issuer.trim() === '')
    throw fault('missing_member', 'gateway.auth needs an issuer', at, { member: 'issuer' })
  for (const member of ['issuer', 'resource', 'jwks_url'] as const) {
    const text = auth[member]
    if (text !== undefined && !URL.canParse(text))
      throw fault('invalid_value', `${member} must be a URL`, [...at, member], { member })
  }
  if (auth.audience?.length === 0)
    throw fault('invalid_value', 'audience must name at least one', [...at, 'audience'], { member: 'audience' })
  return Object.freeze({
    issuer: auth.issuer,
    ...(auth.resource !== undefined && { resource: auth.resource }),
    ...(auth.audience && { audience: auth.audience }),
    ...(auth.jwks_url !== undefined && { jwksUrl: auth.jwks_url }),
    ...(auth.algorithms && { algorithms: auth.algorithms }),
    ...(auth.scopes && { scopes: new Map(Object.entries(auth.scopes)) }),
    ...(auth.required_scopes && { requiredScopes: auth.required_scopes }),
    ...(auth.initial_scopes && { initialScopes: auth.initial_scopes }),
    ...(auth.clock_skew_sec !== undefined && { clockSkewMs: auth.clock_skew_sec * 1000 }),
  })
}
