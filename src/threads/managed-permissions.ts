import { isDeepStrictEqual } from 'node:util'
import type { ManagedPermissions, PolicyName, SandboxMode } from '../config/index.js'
import {
  type ApprovalPolicy,
  type FileSystemEntry,
  hasFullDiskWrite,
  hasNetwork,
  NOTHING_ALLOWED,
  type PermissionProfile,
  presetProfile,
} from '../permissions/index.js'

type Managed = readonly ManagedPermissions[]

/** A value under the requirements, and the demands that it did not meet as it was. */
export interface Limited<Value> {
  readonly value: Value
  /** Key and file of each, for people. */
  readonly exceeded: readonly string[]
}

/**
 * What a profile is under the requirements. Only the profile itself is looked at, so that a name says nothing. One that
 * goes beyond what is allowed is left what it lets be read, without writes and without network, where reading is allowed
 * at all: that is in the profile and in every allowed one, so never wider than either. Else nothing is allowed.
 *
 * @param presetAs what a preset is in the place that the profile is for
 */
export function limitedProfile(
  asked: PermissionProfile,
  managed: Managed,
  presetAs: (preset: SandboxMode) => PermissionProfile,
): Limited<PermissionProfile> {
  let value = asked
  const exceeded: string[] = []
  const limit = (isAllowed: boolean, allowed: readonly unknown[], key: string, source: string) => {
    if (isAllowed) return
    exceeded.push(`${key} of ${source}`)
    value = allowed.length === 0 ? NOTHING_ALLOWED : forReading(value)
  }
  for (const { source, modes, presets } of managed) {
    if (modes !== undefined) limit(isOfMode(value, modes), modes, 'allowed_sandbox_modes', source)
    if (presets !== undefined)
      limit(isInPreset(value, presets, presetAs), presets, 'allowed_permission_profiles', source)
  }
  return { value, exceeded }
}

/** The widest thing that a policy of this name can do. `never` runs everything under full access, without asking. */
const WIDTH: Readonly<Record<PolicyName, number>> = {
  untrusted: 0,
  'on-failure': 1,
  'on-request': 1,
  granular: 2,
  never: 3,
}

/** What a policy is under the requirements: `untrusted` in place of one that is wider than all that are allowed. */
export function limitedPolicy(asked: ApprovalPolicy | null, managed: Managed): Limited<ApprovalPolicy | null> {
  const width = asked === null ? 0 : WIDTH[typeof asked === 'string' ? asked : 'granular']
  const exceeded = managed.flatMap(({ source, policies }) => {
    const allowed = policies?.map((name) => WIDTH[name])
    return allowed === undefined || width <= Math.max(0, ...allowed) ? [] : [`allowed_approval_policies of ${source}`]
  })
  return { value: exceeded.length === 0 ? asked : 'untrusted', exceeded }
}

const RANK = { 'read-only': 0, 'external-sandbox': 0, 'workspace-write': 1, 'danger-full-access': 2 } as const

function isOfMode(profile: PermissionProfile, modes: NonNullable<ManagedPermissions['modes']>): boolean {
  if (isNothing(profile)) return true
  const mode = modeOf(profile)
  if (mode === 'external-sandbox' && modes.includes(mode)) return true
  const needed = mode === 'external-sandbox' ? RANK['danger-full-access'] : RANK[mode]
  return modes.some((allowed) => RANK[allowed] >= needed)
}

/** The presets are compared as a whole: what else lies between two profiles can't be told from them alone. */
function isInPreset(
  profile: PermissionProfile,
  presets: readonly SandboxMode[],
  presetAs: (preset: SandboxMode) => PermissionProfile,
): boolean {
  if (isNothing(profile) || presets.includes('danger-full-access')) return true
  if (presets.length > 0 && modeOf(profile) === 'read-only') return true
  return presets.some((preset) => isDeepStrictEqual(profile, presetAs(preset)))
}

function isNothing(profile: PermissionProfile): boolean {
  return isDeepStrictEqual(profile, NOTHING_ALLOWED)
}

function modeOf(profile: PermissionProfile): SandboxMode | 'external-sandbox' {
  if (profile.type === 'external') return 'external-sandbox'
  if (profile.type === 'disabled' || profile.file_system.type === 'unrestricted' || hasFullDiskWrite(profile))
    return 'danger-full-access'
  const written = profile.file_system.entries.filter(({ access }) => access === 'write')
  if (written.some(isWholeDisk)) return 'danger-full-access'
  return written.length > 0 || hasNetwork(profile) ? 'workspace-write' : 'read-only'
}

/** Whatever is denied below it, a write to the root of a file system is none to a workspace. */
function isWholeDisk({ path }: FileSystemEntry): boolean {
  if (path.type === 'special') return path.value.kind === 'root' || path.value.kind === 'unknown'
  const text = path.type === 'path' ? path.path : path.pattern
  return /^(?:[A-Za-z]:)?[\\/]*$/.test(text)
}

/** Without writes and network. What another sandbox answers for says nothing of what it lets be read. */
function forReading(profile: PermissionProfile): PermissionProfile {
  if (profile.type === 'external') return NOTHING_ALLOWED
  if (profile.type === 'disabled' || profile.file_system.type === 'unrestricted')
    return presetProfile('read-only', { cwd: '/' })
  const entries = profile.file_system.entries.map(
    (entry): FileSystemEntry => (entry.access === 'write' ? { ...entry, access: 'read' } : entry),
  )
  return { type: 'managed', file_system: { ...profile.file_system, entries }, network: 'restricted' }
}
