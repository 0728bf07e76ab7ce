import { FirstPartyAuthError, InvalidArgumentsError } from '../../errors.js'
import { type HeaderField, isHeaderValue } from '../header-field.js'
import type {
  AccountFacts,
  AssertedRequest,
  Credential,
  HostAssertionCredential,
  HostHeadersCredential,
  HostTokensCredential,
} from './credential.js'
import type { CredentialSource, RefreshReason } from './credential-source.js'
import { factsOf } from './stored-auth.js'
import { refreshFailed } from './token-endpoint.js'

/** What the host is asked for when its credential was refused (reference: runtime-auth, 10). */
export interface HostRefreshRequest {
  readonly reason: 'unauthorized'
  readonly previousAccountId: string | null
}

export interface HostTokens {
  readonly accessToken: string
  readonly accountId: string
  readonly isWorkspace?: boolean
}

/** ChatGPT tokens of the host; `refresh` asks it for new ones. Nothing of it is ever stored. */
export function hostTokensSource(
  tokens: HostTokens,
  refresh?: (request: HostRefreshRequest) => Promise<HostTokens>,
): CredentialSource {
  const first = hostTokensCredential(tokens)
  return hostSource(first, refresh && (async (request) => hostTokensCredential(await refresh(request))))
}

export function hostTokensCredential({ accessToken, accountId, isWorkspace }: HostTokens): HostTokensCredential {
  checkValue('accessToken', accessToken)
  return Object.freeze({
    kind: 'chatgptAuthTokens',
    ...factsOf(accessToken),
    accessToken,
    accountId,
    ...(isWorkspace !== undefined && { isWorkspace }),
  })
}

export interface HostHeaders extends Omit<AccountFacts, 'userId'> {
  readonly headers: readonly HeaderField[]
  /** Required and stable: what the connections of this user are told by. */
  readonly userId: string
  /** Off by default: the headers are for the first-party backend. */
  readonly usesBackend?: boolean
}

export function hostHeadersSource(
  given: HostHeaders,
  refresh?: (request: HostRefreshRequest) => Promise<HostHeaders>,
): CredentialSource {
  const first = hostHeadersCredential(given)
  return hostSource(first, refresh && (async (request) => hostHeadersCredential(await refresh(request))))
}

function hostHeadersCredential({ usesBackend = false, ...given }: HostHeaders): HostHeadersCredential {
  if (given.userId === '') throw new InvalidArgumentsError('headers of the host need a user id')
  // Values that can't be sent are passed over, as in the reference (auth, 2.2).
  const headers = given.headers.filter(([, value]) => isHeaderValue(value))
  return Object.freeze({ kind: 'headers', ...given, headers: Object.freeze(headers), usesBackend })
}

export interface HostAssertions extends Omit<AccountFacts, 'userId'> {
  readonly userId: string
  readonly accessToken?: string
  readonly assert: (request: AssertedRequest) => Promise<string>
}

/** The host asserts each request itself; nothing is registered and no key is made here. */
export function hostAssertionSource(given: HostAssertions): CredentialSource {
  if (given.userId === '') throw new InvalidArgumentsError('assertions of the host need a user id')
  const credential: HostAssertionCredential = Object.freeze({ kind: 'hostAssertion', ...given })
  return hostSource(credential, undefined)
}

function hostSource(
  first: Credential,
  refresh: ((request: HostRefreshRequest) => Promise<Credential>) | undefined,
): CredentialSource {
  let latest = first
  const source: CredentialSource = { kind: 'host', load: async () => latest }
  if (refresh === undefined) return source
  return {
    ...source,
    refresh: async (current: Credential, _reason: RefreshReason) => {
      const previousAccountId = current.kind === 'apiKey' ? null : (current.accountId ?? null)
      try {
        latest = await refresh({ reason: 'unauthorized', previousAccountId })
      } catch (error) {
        if (error instanceof FirstPartyAuthError && error.code === 'refresh_failed') throw error
        // The host's error is not ours to pass on: it may quote what it was given. By default it may pass.
        throw refreshFailed('other', false, 'the host did not give a new credential')
      }
      return latest
    },
  }
}

function checkValue(member: string, value: string): void {
  if (value === '' || !isHeaderValue(value)) throw new InvalidArgumentsError(`${member} of the host is no header value`)
}
