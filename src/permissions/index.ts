export { checkPolicy } from './check-policy.js'
export { materialiseRoots, type WorkspaceRoots } from './materialise.js'
export { isRecord, memberPlace } from './members.js'
export { parsePermissionProfile } from './parse-profile.js'
export { isAbsolutePath, type PathStyle, pathRules } from './path-style.js'
export { PROTECTED_FOLDERS, type PresetName, type PresetOptions, presetProfile } from './presets.js'
export {
  atHome,
  NOTHING_ALLOWED,
  type PathRule,
  type ProfileRules,
  profileOfRules,
  type RulesPlace,
} from './profile-of-rules.js'
export { hasFullAccess, hasFullDiskRead, hasFullDiskWrite, hasNetwork } from './questions.js'
export { parseSandboxPolicy, profileOfPolicy, type SandboxPolicy } from './sandbox-policy.js'
export type * from './types.js'
