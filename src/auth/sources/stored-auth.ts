import { CredentialStoreError } from '../../errors.js'
import { agentIdentityFrom } from './agent-record.js'
import { asRecord, readClaims, text } from './claims.js'
import type { Credential, SessionCredential } from './credential.js'

/** The content of `auth.json`, members of others included: a save keeps what it does not know. */
export type StoredAuth = Readonly<Record<string, unknown>>

/**
 * The credential that a stored record holds; null when it holds none. Its mode is `auth_mode`, else what is there: a
 * personal access token, an API key, else a session (reference: auth, 4, "Storage").
 *
 * @throws CredentialStoreError `credentials_invalid`, which names the member and never its value. A mode that belongs to
 * the host is one: such credentials are never loaded from storage.
 */
export function credentialFrom(stored: StoredAuth, place: string): Credential | null {
  switch (modeOf(stored, place)) {
    case 'pat': {
      const token = text(stored.personal_access_token)
      return token === undefined ? null : Object.freeze({ kind: 'personalAccessToken', token, ...factsOf(token) })
    }
    case 'apikey': {
      const key = text(stored.OPENAI_API_KEY)
      return key === undefined ? null : Object.freeze({ kind: 'apiKey', key })
    }
    case 'agentidentity':
      return agentIdentityFrom(stored.agent_identity, `${place} agent_identity`)
    case 'chatgpt':
      return sessionFrom(stored, place)
  }
}

type StoredMode = 'pat' | 'apikey' | 'agentidentity' | 'chatgpt'

const MODES: ReadonlyMap<string, StoredMode> = new Map([
  ['personalaccesstoken', 'pat'],
  ['apikey', 'apikey'],
  ['agentidentity', 'agentidentity'],
  ['chatgpt', 'chatgpt'],
])

function modeOf(stored: StoredAuth, place: string): StoredMode {
  const named = stored.auth_mode
  if (named === undefined || named === null) {
    if (text(stored.personal_access_token) !== undefined) return 'pat'
    return text(stored.OPENAI_API_KEY) === undefined ? 'chatgpt' : 'apikey'
  }
  const mode = typeof named === 'string' ? MODES.get(named.toLowerCase().replaceAll('_', '')) : undefined
  if (mode !== undefined) return mode
  throw new CredentialStoreError('credentials_invalid', 'auth_mode names no mode that can be stored', {
    place: `${place} auth_mode`,
  })
}

function sessionFrom(stored: StoredAuth, place: string): SessionCredential | null {
  if (stored.tokens === undefined || stored.tokens === null) return null
  const tokens = asRecord(stored.tokens)
  const accessToken = text(tokens?.access_token)
  if (tokens === undefined || accessToken === undefined)
    throw new CredentialStoreError('credentials_invalid', 'tokens hold no access token', { place: `${place} tokens` })
  const lastRefresh = typeof stored.last_refresh === 'string' ? Date.parse(stored.last_refresh) : Number.NaN
  return sessionOf({
    accessToken,
    ...optional('refreshToken', text(tokens.refresh_token)),
    ...optional('idToken', text(tokens.id_token)),
    ...optional('accountId', text(tokens.account_id)),
    ...(!Number.isNaN(lastRefresh) && { lastRefresh }),
  })
}

/** A session from its tokens; what they claim of the account fills in what is not given. */
export function sessionOf(tokens: Omit<SessionCredential, 'kind'>): SessionCredential {
  const claimed = { ...factsOf(tokens.accessToken), ...(tokens.idToken !== undefined && factsOf(tokens.idToken)) }
  // Whether the account is one with FedRAMP may be claimed by either token, and only once.
  const isFedramp = claimed.isFedramp ?? factsOf(tokens.accessToken).isFedramp
  return Object.freeze({ kind: 'chatgpt', ...claimed, ...(isFedramp && { isFedramp }), ...tokens })
}

export function factsOf(token: string) {
  const { expiresAt: _, ...facts } = readClaims(token)
  return facts
}

/** A record with this credential in it; other members stay. Host-given credentials have no stored form. */
export function storedFrom(credential: Credential, before: StoredAuth): StoredAuth {
  const {
    OPENAI_API_KEY: _key,
    tokens,
    last_refresh: _at,
    personal_access_token: _pat,
    agent_identity,
    ...rest
  } = before
  switch (credential.kind) {
    case 'apiKey':
      return { ...rest, auth_mode: 'apikey', OPENAI_API_KEY: credential.key }
    case 'personalAccessToken':
      return { ...rest, auth_mode: 'personalAccessToken', personal_access_token: credential.token }
    case 'agentIdentity':
      return { ...rest, auth_mode: 'agentIdentity', agent_identity: recordOf(credential, agent_identity) }
    case 'chatgpt':
      return {
        ...rest,
        auth_mode: 'chatgpt',
        OPENAI_API_KEY: null,
        tokens: {
          ...asRecord(tokens),
          id_token: credential.idToken ?? null,
          access_token: credential.accessToken,
          refresh_token: credential.refreshToken ?? null,
          account_id: credential.accountId ?? null,
        },
        ...(credential.lastRefresh !== undefined && { last_refresh: new Date(credential.lastRefresh).toISOString() }),
      }
    default:
      throw new CredentialStoreError('credentials_invalid', 'credentials of the host are never stored', {
        place: credential.kind,
      })
  }
}

function recordOf(credential: Extract<Credential, { kind: 'agentIdentity' }>, before: unknown) {
  return {
    ...asRecord(before),
    agent_runtime_id: credential.runtimeId,
    agent_private_key: credential.privateKey,
    account_id: credential.accountId ?? null,
    chatgpt_user_id: credential.userId ?? null,
    chatgpt_account_is_fedramp: credential.isFedramp ?? false,
  }
}

function optional<K extends string, V>(name: K, value: V | undefined): { [P in K]?: V } {
  const member: { [P in K]?: V } = {}
  if (value !== undefined) member[name] = value
  return member
}
