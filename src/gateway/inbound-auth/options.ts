import type { OAuthHttp, SubjectToken } from '../../auth/index.js'
import type { GatewayAuthSettings } from '../../config/index.js'
import type { KeySetLimits } from './key-set.js'

/** The gateway as a protected resource (RFC 9728) of somebody's authorization server. */
export interface ResourceServerOptions extends GatewayAuthSettings {
  readonly issuer: string
  /** How the issuer is reached. Default: this host's HTTP. */
  readonly http?: OAuthHttp
  readonly keySet?: Partial<KeySetLimits>
  /** Milliseconds since 1970, as tokens count; the clock of the machine may jump. */
  readonly now?: () => number
  /** Told of each token that was taken, for those who exchange it; it goes nowhere else. */
  readonly onToken?: (principal: string, token: SubjectToken) => void
}

/** What a mapping of methods means where nobody says otherwise. */
export const DEFAULT_SCOPES: ReadonlyMap<string, readonly string[]> = new Map([
  ['tools/*', ['mcp:tools']],
  ['tasks/*', ['mcp:tools']],
  ['resources/*', ['mcp:resources']],
  ['prompts/*', ['mcp:prompts']],
  ['completion/*', ['mcp:prompts']],
  // What extensions add is relayed to servers, as calls are.
  ['*', ['mcp:tools']],
])

export const DEFAULT_CLOCK_SKEW = 30_000
