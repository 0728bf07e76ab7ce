import { OAuthError, RedirectRefusedError } from '../../errors.js'
import type { StoredCredential } from '../store/credential.js'
import { endpoint } from './endpoint.js'
import { exchange, formPost, type OAuthHttp, refuseRedirect } from './http.js'
import { withClient } from './token-endpoint.js'

/** Milliseconds: nobody waits long for what is gone here already. */
const REVOKING_TIME = 5_000

/**
 * Tells the authorization server that a login is over (RFC 7009): by its refresh token, else by its access token. False
 * where that is not possible, or the server did not take it: the login is forgotten here all the same.
 */
export async function revoke(credential: StoredCredential, http: OAuthHttp): Promise<boolean> {
  const { revocationEndpoint, client, issuer, refreshToken, accessToken } = credential
  if (revocationEndpoint === undefined) return false
  const kind = refreshToken === undefined ? 'access_token' : 'refresh_token'
  const form = new Map([
    ['token', refreshToken ?? accessToken],
    ['token_type_hint', kind],
  ])
  try {
    const url = endpoint(revocationEndpoint, 'revocation endpoint')
    const { fields, headers } = withClient(client, issuer, form)
    const answer = await exchange(http, formPost(url, fields, headers), { timeoutMs: REVOKING_TIME })
    refuseRedirect(answer, url)
    return answer.status === 200
  } catch (error) {
    if (error instanceof OAuthError || error instanceof RedirectRefusedError) return false
    throw error
  }
}
