import { FirstPartyAuthError } from '../../errors.js'

export type BackendStage = 'production' | 'staging'

/**
 * Where the first-party backend is. The user's configuration cannot set any of it; a program that embeds Reeve may, to
 * reach a deployment of its own.
 */
export interface BackendPlaces {
  /** The base of backend requests. */
  readonly baseUrl: string
  /** Exact origins of a deployment that are trusted as the base's stage is. */
  readonly trustedOrigins?: readonly string[]
  /** Where a deployment registers; https. */
  readonly registrationUrl?: string
}

export const PRODUCTION_BASE = 'https://chatgpt.com/backend-api/'

const REGISTRATION: Readonly<Record<BackendStage, string>> = {
  production: 'https://auth.openai.com/agent/register',
  staging: 'https://auth.api.openai.org/agent/register',
}
const STAGING_HOST = 'chatgpt-staging.com'

/** Which stage a base belongs to; undefined for a foreign or insecure one. */
export function stageOfBase({ baseUrl, trustedOrigins = [] }: BackendPlaces): BackendStage | undefined {
  const url = parsed(baseUrl)
  if (url === undefined) return undefined
  if (trustedOrigins.includes(url.origin)) return 'production'
  if (url.protocol !== 'https:' || url.port !== '') return undefined
  if (url.hostname === 'chatgpt.com' || url.hostname === 'chat.openai.com') return 'production'
  return isStagingHost(url.hostname) ? 'staging' : undefined
}

/**
 * Where this base registers its runtimes.
 *
 * @throws FirstPartyAuthError `registration_failed` for any other base: no key is registered there (reference:
 * runtime-auth, 2.3).
 */
export function registrationUrl(places: BackendPlaces): string {
  const stage = stageOfBase(places)
  const own = parsed(places.registrationUrl ?? '')
  const isPlain = (url: URL) => url.username === '' && url.password === '' && url.search === ''
  if (stage !== undefined && own?.protocol === 'https:' && isPlain(own)) return own.href
  const base = parsed(places.baseUrl)
  if (stage !== undefined && places.registrationUrl === undefined && base !== undefined && isPlain(base))
    return REGISTRATION[stage]
  throw new FirstPartyAuthError(
    'registration_failed',
    'runtime registration requires a secure endpoint without credentials or query parameters',
  )
}

/** How a destination stands to the backend. `odd`: a first-party host, reached in a way that is not supported. */
export type Destination =
  | { readonly kind: 'first_party'; readonly stage: BackendStage }
  | { readonly kind: 'odd' }
  | { readonly kind: 'foreign' }

/** For the model and the backend's own clients (reference: runtime-auth, 4.3). */
export function endpointOf(url: URL, places: BackendPlaces): Destination {
  const stage = stageOfBase(places)
  if (stage !== undefined && isTrusted(url, places)) return { kind: 'first_party', stage }
  const known = knownStage(url.hostname)
  if (known === undefined) return { kind: 'foreign' }
  return url.protocol === 'https:' && url.port === '' ? { kind: 'first_party', stage: known } : { kind: 'odd' }
}

/**
 * For MCP servers with `auth = "chatgpt"`: only exactly `https://chatgpt.com`, the staging host when it is the base, and a
 * deployment's origins; everything else is foreign (reference: auth, 2.5; runtime-auth, 4.2).
 */
export function mcpEndpointOf(url: URL, places: BackendPlaces): Destination {
  const stage = stageOfBase(places)
  if (stage !== undefined && isTrusted(url, places)) return { kind: 'first_party', stage }
  if (url.origin === 'https://chatgpt.com') return { kind: 'first_party', stage: 'production' }
  const isStaging = url.protocol === 'https:' && url.port === '' && isStagingHost(url.hostname)
  return isStaging && stage === 'staging' ? { kind: 'first_party', stage: 'staging' } : { kind: 'foreign' }
}

function isTrusted(url: URL, { trustedOrigins = [] }: BackendPlaces): boolean {
  return trustedOrigins.includes(url.origin)
}

function knownStage(host: string): BackendStage | undefined {
  if (host === 'api.openai.com' || host === 'chatgpt.com' || host === 'chat.openai.com') return 'production'
  return host === 'api.openai.org' || isStagingHost(host) ? 'staging' : undefined
}

function isStagingHost(host: string): boolean {
  return host === STAGING_HOST || host.endsWith(`.${STAGING_HOST}`)
}

function parsed(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined
}
