export type { AppsCache, AppsCacheEntry, AppsCacheKey } from './apps/cache.js'
export type { AppsSettings } from './apps/thread-apps.js'
export { KEEP_NOTHING, narrowestHint, readCacheHint } from './cache-hint.js'
export type {
  AnalyticsSink,
  AnalyticsSource,
  AnalyticsThread,
  CallOutcome,
  FinalApproval,
  ToolCallFacts,
} from './call-analytics.js'
export type { ThreadConfiguration } from './composition.js'
export { type ConfiguredPermissions, checkProfileName } from './governing-profiles.js'
export { type Offered, type OfferingServer, type OfferOptions, offer } from './offered.js'
export { type FirstPartyParts, type OwningAuth, requireOwning } from './owning-auth.js'
export type { ThreadMemory, ThreadRecord } from './record.js'
export { type Addressable, selectServer } from './select.js'
export { RuntimeThread } from './thread.js'
export { LOCAL_USER, type ThreadHost, type ThreadOrigin } from './thread-host.js'
export type * from './types.js'
export { isModelVisible } from './visibility.js'
