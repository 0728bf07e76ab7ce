export { effectiveRoots, usableRoots } from './capability-roots.js'
export { Catalog, CatalogBuilder } from './catalog.js'
export { configuredCatalog } from './configured.js'
export { type AccountFacts, effectiveServers, isAgentPlugin, NO_ACCOUNT } from './effective.js'
export { type EnvironmentAuthority, environmentAuthority, underEnvironmentAuthority } from './environment-authority.js'
export { hostedAppsRegistration, isHostOwnedApps } from './hosted-apps.js'
export {
  type PermissionAuthority,
  type Profiles,
  permissionAuthorities,
  type ReadonlyKeyMap,
  uniformAuthorities,
} from './permission-authority.js'
export { underPluginOverlay } from './plugin-overlay.js'
export { type Policies, underPolicies } from './policies.js'
export { disabledReasonText, type RequirementFault, requirementFaults, underRequirements } from './requirements.js'
export { type ThreadCatalogParts, threadCatalog } from './thread-catalog.js'
export { approvalModeOf } from './tool-settings.js'
export * from './types.js'
