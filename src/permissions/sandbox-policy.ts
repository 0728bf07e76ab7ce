import { list, member, memberPlace, oneOf, record, wrong } from './members.js'
import { absolutePath } from './parse-entries.js'
import { type PresetOptions, presetProfile } from './presets.js'
import type { NetworkPolicy, PermissionProfile } from './types.js'

/** The older way to say what is allowed, as hosts of the app-server still send it (reference: authority, 8). */
export type SandboxPolicy =
  | { readonly type: 'dangerFullAccess' }
  | { readonly type: 'readOnly'; readonly networkAccess: NetworkPolicy }
  | { readonly type: 'externalSandbox'; readonly networkAccess: NetworkPolicy }
  | {
      readonly type: 'workspaceWrite'
      readonly writableRoots: readonly string[]
      readonly networkAccess: NetworkPolicy
      readonly excludeTmpdirEnvVar: boolean
      readonly excludeSlashTmp: boolean
    }

const TYPES = ['dangerFullAccess', 'readOnly', 'externalSandbox', 'workspaceWrite'] as const

/**
 * Reads a policy. Absent members restrict: no network, no further roots; `networkAccess` may be a boolean or the word that
 * profiles use.
 *
 * @throws PermissionProfileError with the place of the member at fault
 */
export function parseSandboxPolicy(value: unknown, place = 'sandboxPolicy'): SandboxPolicy {
  const policy = record(value, place)
  const type = oneOf(member(policy, 'type'), TYPES, memberPlace(place, 'type'))
  if (type === 'dangerFullAccess') return Object.freeze({ type })
  const networkAccess = networkOf(member(policy, 'networkAccess'), memberPlace(place, 'networkAccess'))
  if (type !== 'workspaceWrite') return Object.freeze({ type, networkAccess })
  const at = memberPlace(place, 'writableRoots')
  const roots = list(member(policy, 'writableRoots') ?? [], at)
  return Object.freeze({
    type,
    writableRoots: Object.freeze(roots.map((root, index) => absolutePath(root, `${at}[${index}]`))),
    networkAccess,
    excludeTmpdirEnvVar: flag(member(policy, 'excludeTmpdirEnvVar'), memberPlace(place, 'excludeTmpdirEnvVar')),
    excludeSlashTmp: flag(member(policy, 'excludeSlashTmp'), memberPlace(place, 'excludeSlashTmp')),
  })
}

/** The profile that says the same. Throws `PermissionProfileError` for a root that is not absolute in the style. */
export function profileOfPolicy(
  policy: SandboxPolicy,
  { cwd, style }: Pick<PresetOptions, 'cwd' | 'style'>,
): PermissionProfile {
  const at = { cwd, ...(style !== undefined && { style }) }
  switch (policy.type) {
    case 'dangerFullAccess':
      return presetProfile('danger-full-access', at)
    case 'readOnly':
      return presetProfile('read-only', { ...at, network: policy.networkAccess })
    case 'externalSandbox':
      return Object.freeze({ type: 'external', network: policy.networkAccess })
    case 'workspaceWrite':
      return presetProfile('workspace-write', {
        ...at,
        workspaceRoots: policy.writableRoots,
        network: policy.networkAccess,
        excludeTmpdir: policy.excludeTmpdirEnvVar,
        excludeSlashTmp: policy.excludeSlashTmp,
      })
  }
}

function networkOf(value: unknown, place: string): NetworkPolicy {
  if (value === undefined || value === null) return 'restricted'
  if (typeof value === 'boolean') return value ? 'enabled' : 'restricted'
  return oneOf(value, ['restricted', 'enabled'] as const, place)
}

function flag(value: unknown, place: string): boolean {
  if (value === undefined || value === null) return false
  return typeof value === 'boolean' ? value : wrong(value, 'true or false', place)
}
