export * from './broker/index.js'
export { LATEST_REVISION, SERVED_REVISIONS } from './eras.js'
export { GATEWAY_FEATURES } from './features.js'
export type { Authentication, Authenticator, Principal } from './http/authentication.js'
export { HTTP_LIMITS, type HttpLimits } from './http/limits.js'
export { loadOrCreateToken } from './http/token.js'
export {
  DEFAULT_ALGORITHMS,
  DEFAULT_SCOPES,
  ProtectedResource,
  principalId,
  type ResourceServerOptions,
} from './inbound-auth/index.js'
export { MODERN_LIMITS, type ModernLimits } from './modern/limits.js'
export { ownersAuth } from './owners-auth.js'
export { type HttpServing, type ServeHttpOptions, serveHttp } from './serve-http.js'
export { type ServeStdioOptions, serveStdio } from './serve-stdio.js'
export type { Serving, SessionRow } from './serving.js'
export type { GatewaySessionOptions } from './session.js'
export { type RuntimeChoice, type ShownRuntime, showRuntime } from './show-runtime.js'
export type { StartThreadOptions, ThreadStarter } from './thread-starter.js'
export { parseUri, qualifyUri } from './uris.js'
