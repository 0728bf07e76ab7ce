export { KEEP_NOTHING, narrowestHint, readCacheHint } from './cache-hint.js'
export type { CaptureOptions } from './capture-wait.js'
export type { CapturedServer } from './captured.js'
export type { EraMemory, RememberedEra } from './eras/memory.js'
export { discovered } from './eras/verdict.js'
export { sameExecutionContract, withoutReadOnlyHint } from './execution-contract.js'
export { type ConnectionIdentity, cacheIdentity, connectionIdentity, type IdentityContext } from './identity.js'
export type * from './inventory.js'
export { LISTS, type Listed, type ListMethod, listAllPages, type SendList } from './listing.js'
export { ConnectionManager, type ManagerOptions } from './manager.js'
export { ACCEPTED_REVISIONS, type Handshake, OFFERED_REVISION } from './negotiate.js'
export type { OpenOptions, PlacedOpener, PlacedOpenOptions, TransportOpener } from './opener.js'
export { ConnectionPool, type PoolOptions } from './pool.js'
export {
  type CallBinding,
  type CallPayload,
  type CallRunOptions,
  DEFAULT_TOOL_TIMEOUT,
  type PreparedCall,
} from './prepared-call.js'
export type { HostVariables } from './referenced-variables.js'
export { DEFAULT_STARTUP_TIMEOUT, type StoredAuthState } from './startup-failure.js'
export type { StoredLogins } from './stored-logins.js'
export { systemTimers, type Timer, type Timers } from './timers.js'
export { isToolEnabled } from './tool-filter.js'
export type * from './types.js'
