// What the library gives beside the runtime itself.
export {
  type AssertionIssuer,
  AuthManager,
  type AuthManagerOptions,
  accessTokenSource,
  apiKeySource,
  type BackendPlaces,
  CallbackListener,
  type CredentialSource,
  callbackPlace,
  hostAssertionSource,
  hostHeadersSource,
  hostTokensSource,
  type LoggedIn,
  type LoginServer,
  type NetworkPolicies,
  type PendingLogin,
  type RuntimeAuthMode,
  type ServerLoginOptions,
  type ServerLogins,
  type StoredCredential,
  type SubjectToken,
  type SubjectTokens,
  sessionOf,
  type UnattendedLoginOptions,
} from '../auth/index.js'
export type {
  ElicitationAnswer,
  FunctionHook,
  HookInput,
  HookListing,
  HookReport,
  HookRun,
  LauncherFault,
  LauncherFinding,
  LauncherFindings,
  PauseState,
  PromptFacts,
  Reviewer,
  ReviewRequest,
  SurfacedElicitation,
} from '../authority/index.js'
export { clientRequestParams, fallbackPromptParams, promptParams, reviewSchema } from '../authority/index.js'
export type { CatalogProblem, EffectiveServer, PermissionAuthority } from '../catalog/index.js'
export type { AnalyticsSettings, ConfigProblem, LoadedConfig } from '../config/index.js'
export type {
  CacheHint,
  ClientProfile,
  ConnectionEvent,
  FromServer,
  Inventory,
  ReadyClient,
  ServerRequestHandler,
  ServerStatus,
} from '../connections/index.js'
export type {
  AddedEnvironmentOptions,
  CapabilityRoot,
  DiscoveryProblem,
  EnvironmentRegistry,
  EnvironmentState,
} from '../environments/index.js'
export * from '../errors.js'
export { type FirstPartyOptions, type HomeCredentials, ReeveHost, type ReeveHostOptions } from '../host/index.js'
export { displayKey, type EnvironmentId, type ServerKey, type ServerName, serverKey } from '../identity/index.js'
export type * from '../threads/index.js'
