import type { OAuthHttp, SubjectToken } from '../../auth/index.js'
import type { KeySetLimits } from './key-set.js'

/** The gateway as a protected resource (RFC 9728) of somebody's authorization server. */
export interface ResourceServerOptions {
  /** Exactly as in the `iss` of tokens and in its metadata. */
  readonly issuer: string
  /** The gateway's own URL as clients know it. Default: the one that it listens on. */
  readonly resource?: string
  /** What the `aud` of a token may be; one of them must be in it. Default: the resource. */
  readonly audience?: readonly string[]
  /** Where the issuer's keys are. Default: as its metadata says (RFC 8414, OpenID Connect Discovery). */
  readonly jwksUrl?: string
  /** JWS algorithms, asymmetric ones. Default: `DEFAULT_ALGORITHMS`. */
  readonly algorithms?: readonly string[]
  /** Methods, `prefix/*` or `*`, and the scopes that each needs, all of them. Default: `DEFAULT_SCOPES`. */
  readonly scopes?: ReadonlyMap<string, readonly string[]>
  /** Needed by every request. Default: none. */
  readonly requiredScopes?: readonly string[]
  /** What a client without a token is told to ask for. Default: all that may be needed. */
  readonly initialScopes?: readonly string[]
  /** Milliseconds by which clocks may differ. Default 30 s. */
  readonly clockSkewMs?: number
  /** How the issuer is reached. Default: this host's HTTP. */
  readonly http?: OAuthHttp
  readonly keySet?: Partial<KeySetLimits>
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
