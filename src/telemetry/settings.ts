import type { BackendPlaces } from '../auth/index.js'
import type { AnalyticsSettings } from '../config/index.js'

/** Where events go. */
export interface AnalyticsPlace {
  readonly url: string
  /** False: not the backend's origin, so that no credential goes there, nor anything else of ours beside the events. */
  readonly isBackend: boolean
}

const PATH = '/codex/analytics-events/events'

/** Undefined: off, an empty base, or one that is no http(s) address (reference: auth, "Analytics binding"). */
export function analyticsPlace(
  { enabled = false, endpoint }: AnalyticsSettings,
  places: BackendPlaces,
): AnalyticsPlace | undefined {
  const base = (endpoint ?? places.baseUrl).trim().replace(/\/+$/, '')
  if (!enabled || !URL.canParse(base)) return undefined
  const { protocol, origin, username, password, search, hash } = new URL(base)
  if (protocol !== 'https:' && protocol !== 'http:') return undefined
  if (username !== '' || password !== '' || search !== '' || hash !== '') return undefined
  return Object.freeze({ url: `${base}${PATH}`, isBackend: isBackend(origin, places) })
}

function isBackend(origin: string, { baseUrl, trustedOrigins = [] }: BackendPlaces): boolean {
  return (URL.canParse(baseUrl) && new URL(baseUrl).origin === origin) || trustedOrigins.includes(origin)
}
