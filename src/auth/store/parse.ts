import type { ClientAuthMethod, ClientIdentity, StoredCredential } from './credential.js'

type Fields = Readonly<Record<string, unknown>>

const METHODS: readonly ClientAuthMethod[] = ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt']
const KINDS = ['configured', 'document', 'registered'] as const
const GRANTS = ['authorization_code', 'client_credentials', 'jwt_bearer'] as const

/** The text of the file. Undefined when it is none of ours, or a member of it is not as it was written. */
export function parseCredentials(text: string): readonly StoredCredential[] | undefined {
  let whole: unknown
  try {
    whole = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isFields(whole) || whole.version !== 1 || !Array.isArray(whole.credentials)) return undefined
  const entries = whole.credentials.map(parseEntry)
  return entries.every((entry) => entry !== undefined) ? Object.freeze(entries) : undefined
}

export function serialiseCredentials(credentials: readonly StoredCredential[]): string {
  return `${JSON.stringify({ version: 1, credentials }, null, 2)}\n`
}

function parseEntry(entry: unknown): StoredCredential | undefined {
  if (!isFields(entry)) return undefined
  const client = parseClient(entry.client)
  const grant = GRANTS.find((known) => known === entry.grant)
  const { server, environment, url, principal, issuer, loginId, loggedInAt, tokenEndpoint, accessToken, scopes } = entry
  const isWhole =
    areTexts(server, environment, url, principal, issuer, loginId, tokenEndpoint, accessToken) &&
    areOptional('string', entry.revocationEndpoint, entry.resource, entry.refreshToken, entry.dpopKey, entry.subject) &&
    areOptional('number', entry.expiresAt) &&
    areOptional('boolean', entry.needsLogin)
  if (!isWhole || client === undefined || grant === undefined || typeof loggedInAt !== 'number') return undefined
  if (!isTextList(scopes) || (entry.wantedScopes !== undefined && !isTextList(entry.wantedScopes))) return undefined
  // Every member was looked at; those that are not known are kept for a newer version that wrote them.
  return Object.freeze({ ...entry, client, grant } as unknown) as StoredCredential
}

function parseClient(client: unknown): ClientIdentity | undefined {
  if (!isFields(client)) return undefined
  const method = METHODS.find((known) => known === client.method)
  const kind = KINDS.find((known) => known === client.kind)
  const { id, secret, redirectUri, secretExpiresAt } = client
  if (typeof id !== 'string' || method === undefined || kind === undefined) return undefined
  if (!areOptional('string', secret, redirectUri) || !areOptional('number', secretExpiresAt)) return undefined
  return Object.freeze({
    id,
    method,
    kind,
    ...(typeof secret === 'string' && { secret }),
    ...(typeof redirectUri === 'string' && { redirectUri }),
    ...(typeof secretExpiresAt === 'number' && { secretExpiresAt }),
  })
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && areTexts(...value)
}

function areTexts(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'string')
}

function areOptional(type: 'string' | 'number' | 'boolean', ...values: readonly unknown[]): boolean {
  return values.every((value) => value === undefined || typeof value === type)
}
