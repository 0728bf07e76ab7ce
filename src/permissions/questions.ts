import type { FileSystemEntry, FileSystemPath, PermissionProfile } from './types.js'

/** Nothing is restricted: neither files nor network. */
export function hasFullAccess(profile: PermissionProfile): boolean {
  return hasFullDiskWrite(profile) && hasNetwork(profile)
}

/** Whether the network may be used. `disabled` restricts nothing. */
export function hasNetwork(profile: PermissionProfile): boolean {
  return profile.type === 'disabled' || profile.network === 'enabled'
}

/**
 * Whether every file may be written. True for `disabled`, and for `external`, where another sandbox is answerable
 * (reference: authority, 6.4).
 */
export function hasFullDiskWrite(profile: PermissionProfile): boolean {
  if (profile.type !== 'managed') return true
  const policy = profile.file_system
  if (policy.type === 'unrestricted') return true
  const writable = policy.entries.filter(({ access }) => access === 'write')
  if (!writable.some(isRoot)) return false
  return policy.entries.every((entry) => entry.access === 'write' || !narrows(entry, writable))
}

/** Whether every file may be read. */
export function hasFullDiskRead(profile: PermissionProfile): boolean {
  if (profile.type !== 'managed') return true
  const policy = profile.file_system
  if (policy.type === 'unrestricted') return true
  return (
    policy.entries.some((entry) => entry.access !== 'deny' && isRoot(entry)) &&
    policy.entries.every(({ access }) => access !== 'deny')
  )
}

/** Of two entries for one target, `deny` beats `write` and `write` beats `read`. */
function narrows(entry: FileSystemEntry, writable: readonly FileSystemEntry[]): boolean {
  if (entry.access === 'deny') return true
  // What programs need to start is only ever granted.
  if (entry.path.type === 'special' && entry.path.value.kind === 'minimal') return false
  const target = targetOf(entry.path)
  return !writable.some(({ path }) => targetOf(path) === target)
}

function isRoot({ path }: FileSystemEntry): boolean {
  return targetOf(path) === ROOT
}

const ROOT = 'path /'

/** The same text for the same target, as far as the profile alone tells. */
function targetOf(path: FileSystemPath): string {
  if (path.type === 'path') return `path ${path.path}`
  if (path.type === 'glob_pattern') return `glob ${path.pattern}`
  const { value } = path
  if (value.kind === 'root') return ROOT
  const subpath = 'subpath' in value ? value.subpath : undefined
  const own = 'path' in value ? value.path : ''
  return JSON.stringify([value.kind, own, subpath ?? ''])
}
