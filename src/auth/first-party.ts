export { type Clock, systemClock } from './clock.js'
export type { HeaderField } from './header-field.js'
export type { AuthHttp, AuthReply, AuthRequest } from './http/auth-http.js'
export { createAuthHttp, type RequestSender } from './http/client-http.js'
export { followedRedirect, type RedirectFacts } from './http/followed-redirect.js'
export { CA_VARIABLE, trustedCertificates } from './http/trust.js'
export { AuthManager, type AuthManagerOptions } from './manager/auth-manager.js'
export { type RecoveryReason, type RecoveryStep, UnauthorizedRecovery } from './manager/recovery.js'
export type { AccountGrant, AuthChange, SignedIn, Snapshot } from './manager/snapshot.js'
export { AuthContext, type AuthRuntime } from './runtime/auth-context.js'
export { type AuthIdentity, authIdentity, toolCacheKey } from './runtime/auth-identity.js'
export {
  type BackendPlaces,
  type BackendStage,
  mcpEndpointOf,
  PRODUCTION_BASE,
  stageOfBase,
} from './runtime/backend.js'
export { BackendClient, type BackendRequest } from './runtime/backend-client.js'
export type { AuthOperation, Authorization, AuthRedirects, ConnectionAuth } from './runtime/connection-auth.js'
export { eligibilityOf, type ServerFacts, withoutOwned } from './runtime/eligibility.js'
export { type AbandonedSession, endSession, type SessionEnd } from './runtime/end-session.js'
export { type AuthOfTransport, type TransportAuthOptions, transportAuth } from './runtime/http-auth.js'
export { RuntimeInstances, type RuntimeInstancesOptions } from './runtime/instances.js'
export { type AssertionIssuer, firstPartyIssuer, HARNESS, type HarnessFacts } from './runtime/issuer.js'
export { carriesAuth, layOut, type RequestLayout } from './runtime/layouts.js'
export { type RuntimeAuthMode, runtimeModeOf, statusRuntimeMode, threadRuntimeMode } from './runtime/mode.js'
export { type NetworkPolicies, type NetworkPolicy, openNetwork } from './runtime/network-policy.js'
export type { AuthClient } from './runtime/plan.js'
export { withRebuild } from './runtime/rebuild-once.js'
export { isReplaySafe, type RepeatFacts } from './runtime/replay-safe.js'
export { AgentTasks } from './sources/agent-identity.js'
export { type AuthStorage, MemoryAuthStorage } from './sources/auth-storage.js'
export {
  type AccountIdentity,
  type Credential,
  type CredentialKind,
  identityOf,
  sameIdentity,
  tokenEndsAt,
  usesBackend,
} from './sources/credential.js'
export type { CredentialSource, RefreshReason, SourceKind } from './sources/credential-source.js'
export {
  accessTokenSource,
  apiKeyCredential,
  apiKeySource,
  personalTokenCredential,
  type Selection,
  selectionOf,
} from './sources/environment-source.js'
export { FileAuthStorage } from './sources/file-storage.js'
export { type AuthStorageMode, authStorage, type HomeAuthStorageOptions } from './sources/home-storage.js'
export {
  type HostAssertions,
  type HostHeaders,
  type HostRefreshRequest,
  type HostTokens,
  hostAssertionSource,
  hostHeadersSource,
  hostTokensSource,
} from './sources/host-source.js'
export { installationId } from './sources/installation-id.js'
export { type StoredAuth, sessionOf } from './sources/stored-auth.js'
export { StoredSource, type StoredSourceOptions } from './sources/stored-source.js'
export { TokenEndpoint as FirstPartyTokenEndpoint, type TokenEndpointOptions } from './sources/token-endpoint.js'
