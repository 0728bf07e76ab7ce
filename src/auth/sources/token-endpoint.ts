import { FirstPartyAuthError, ReeveError } from '../../errors.js'
import type { Clock } from '../clock.js'
import type { AuthHttp, AuthReply } from '../http/auth-http.js'
import { asRecord, text } from './claims.js'
import type { RefreshReason } from './credential-source.js'

export const TOKEN_URL = 'https://auth.openai.com/oauth/token'
export const REVOKE_URL = 'https://auth.openai.com/oauth/revoke'
export const CLIENT_ID = 'app_EMoamEEZ73f0CkXaXp7hrann'

const PROVIDER_MS = 45_000
const REVOKE_MS = 10_000

export interface TokenEndpointOptions {
  readonly http: AuthHttp
  readonly clock: Clock
  readonly tokenUrl?: string
  readonly revokeUrl?: string
  readonly clientId?: string
}

/** What a refresh brought; what is missing keeps its old value. */
export interface RefreshedTokens {
  readonly accessToken?: string
  readonly refreshToken?: string
  readonly idToken?: string
}

export type RefreshFailureReason = 'expired' | 'exhausted' | 'revoked' | 'other' | 'account_mismatch' | 'transport'

const REASONS: ReadonlyMap<string, RefreshFailureReason> = new Map([
  ['refresh_token_expired', 'expired'],
  ['refresh_token_reused', 'exhausted'],
  ['refresh_token_invalidated', 'revoked'],
])

/** As the backend's own client says them. */
const WIRE_REASONS = {
  proactive_expiry: 'proactive_expiry',
  unauthorized_recovery: 'unauthorized_recovery',
  requested: 'forced',
} as const satisfies Readonly<Record<RefreshReason, string>>

/** The authority's endpoints for stored sessions (reference: auth, 4). */
export class TokenEndpoint {
  readonly #options: TokenEndpointOptions

  constructor(options: TokenEndpointOptions) {
    this.#options = options
  }

  /** Rejects with `FirstPartyAuthError` `refresh_failed`: permanent if 401 or a known reason, everything else transient. */
  async refresh(refreshToken: string, reason: RefreshReason): Promise<RefreshedTokens> {
    const { tokenUrl = TOKEN_URL, clientId = CLIENT_ID } = this.#options
    const reply = await this.#post(tokenUrl, PROVIDER_MS, {
      client_id: clientId,
      grant_type: 'refresh_token',
      refresh_reason: WIRE_REASONS[reason],
      refresh_token: refreshToken,
    })
    if (reply.status !== 200) throw failureOf(reply)
    const body = parsed(reply.body)
    if (body === undefined) throw refreshFailed('other', false, 'the token endpoint gave no JSON object')
    const accessToken = text(body.access_token)
    const next = text(body.refresh_token)
    const idToken = text(body.id_token)
    return {
      ...(accessToken !== undefined && { accessToken }),
      ...(next !== undefined && { refreshToken: next }),
      ...(idToken !== undefined && { idToken }),
    }
  }

  /** Resolves when the authority took it; rejects with `FirstPartyAuthError` otherwise. */
  async revoke(token: string): Promise<void> {
    const { revokeUrl = REVOKE_URL, clientId = CLIENT_ID } = this.#options
    const reply = await this.#post(revokeUrl, REVOKE_MS, {
      token,
      token_type_hint: 'refresh_token',
      client_id: clientId,
    })
    if (reply.status !== 200)
      throw refreshFailed('other', false, `the authority answered the revocation with ${reply.status}`)
  }

  async #post(url: string, limitMs: number, body: Readonly<Record<string, string>>): Promise<AuthReply> {
    const { http, clock } = this.#options
    const abort = new AbortController()
    const cancel = clock.after(limitMs, () => abort.abort())
    try {
      return await http.send({
        method: 'POST',
        url,
        headers: [
          ['content-type', 'application/json'],
          ['accept', '*/*'],
        ],
        body: JSON.stringify(body),
        signal: abort.signal,
      })
    } catch (cause) {
      throw refreshFailed('transport', false, 'the authority could not be reached', cause)
    } finally {
      cancel()
    }
  }
}

function failureOf(reply: AuthReply): FirstPartyAuthError {
  const body = parsed(reply.body)
  const nested = asRecord(body?.error)
  const code = (text(nested?.code) ?? text(body?.error) ?? text(body?.code) ?? '').toLowerCase()
  const reason = REASONS.get(code) ?? 'other'
  const permanent = reply.status === 401 || reason !== 'other'
  return refreshFailed(reason, permanent, `the token endpoint answered ${reply.status}`)
}

/** The text of a permanent failure is the observed one (reference: runtime-auth, 5). */
export function refreshFailed(
  reason: RefreshFailureReason,
  permanent: boolean,
  detail: string,
  cause?: unknown,
): FirstPartyAuthError {
  const message = permanent
    ? 'Your access token could not be refreshed. Please log out and sign in again.'
    : `the access token could not be refreshed: ${detail}`
  // The cause of a failed request may quote its body: only a typed one is safe to keep.
  return new FirstPartyAuthError('refresh_failed', message, {
    transient: !permanent,
    data: { reason, permanent, detail },
    ...(cause instanceof ReeveError && { cause }),
  })
}

function parsed(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return asRecord(JSON.parse(body))
  } catch {
    return undefined
  }
}
