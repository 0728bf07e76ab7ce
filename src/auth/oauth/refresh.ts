import type { StoredCredential } from '../store/credential.js'
import type { OAuthHttp } from './http.js'
import { requestToken, type TokenAnswer } from './token-endpoint.js'

/** Milliseconds that an authorization server may take (reference: auth, 1.8). */
export const REFRESH_TIME = 45_000

/**
 * A newer credential in the place of this one, by its refresh token or by its grant. What the answer leaves out stays as
 * it was. Stores nothing.
 *
 * @throws as `requestToken`
 */
export async function refreshed(
  before: StoredCredential,
  http: OAuthHttp,
  timeoutMs: number,
): Promise<StoredCredential> {
  const { tokenEndpoint: url, issuer, client, dpopKey } = before
  return withToken(
    before,
    await requestToken({ http, url, issuer, client, fields: fieldsOf(before), dpopKey, timeoutMs }),
  )
}

function fieldsOf({ grant, refreshToken, resource, scopes }: StoredCredential): Map<string, string> {
  const fields = new Map<string, string>()
  if (grant === 'client_credentials') {
    fields.set('grant_type', 'client_credentials')
    if (scopes.length > 0) fields.set('scope', scopes.join(' '))
  } else {
    fields.set('grant_type', 'refresh_token')
    fields.set('refresh_token', refreshToken ?? '')
  }
  if (resource !== undefined) fields.set('resource', resource)
  return fields
}

function withToken(before: StoredCredential, token: TokenAnswer): StoredCredential {
  const { expiresAt: _ended, dpopKey: _bound, ...kept } = before
  const subject = before.subject ?? token.subject
  return Object.freeze({
    ...kept,
    ...token,
    ...(subject !== undefined && { subject }),
    scopes: token.scopes ?? before.scopes,
  })
}
