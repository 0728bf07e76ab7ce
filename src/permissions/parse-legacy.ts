import { PermissionProfileError } from '../errors.js'
import { list, type Members, member, memberPlace, record, wrong } from './members.js'
import { absolutePath, parseEntries, scanDepth } from './parse-entries.js'
import type { FileSystemEntry, FileSystemPolicy, NetworkPolicy, PermissionProfile } from './types.js'

/**
 * The form before profiles had a type: `{network: {enabled}, file_system: {read, write}}`, or `entries` instead of `read`
 * and `write`; every member may be absent or null, and what is not granted is not allowed. Members that it does not know
 * are refused, since the object names no form that could tell what they mean.
 */
export function parseLegacyProfile(profile: Members, place: string): PermissionProfile {
  refuseOthers(profile, ['network', 'file_system'], place)
  return Object.freeze({
    type: 'managed',
    file_system: fileSystemOf(member(profile, 'file_system'), memberPlace(place, 'file_system')),
    network: networkOf(member(profile, 'network'), memberPlace(place, 'network')),
  })
}

function networkOf(value: unknown, place: string): NetworkPolicy {
  if (value === undefined || value === null) return 'restricted'
  const network = record(value, place)
  refuseOthers(network, ['enabled'], place)
  const enabled = member(network, 'enabled')
  if (enabled === undefined || enabled === null) return 'restricted'
  if (typeof enabled !== 'boolean') return wrong(enabled, 'true or false', memberPlace(place, 'enabled'))
  return enabled ? 'enabled' : 'restricted'
}

function fileSystemOf(value: unknown, place: string): FileSystemPolicy {
  const policy = value === undefined || value === null ? {} : record(value, place)
  if (Object.hasOwn(policy, 'entries')) {
    refuseOthers(policy, ['entries', 'glob_scan_max_depth'], place)
    const entries = memberPlace(place, 'entries')
    return Object.freeze({
      type: 'restricted',
      entries: parseEntries(list(policy.entries, entries), entries),
      ...scanDepth(policy, place),
    })
  }
  refuseOthers(policy, ['read', 'write'], place)
  return Object.freeze({
    type: 'restricted',
    entries: Object.freeze([...grants(policy, 'read', place), ...grants(policy, 'write', place)]),
  })
}

function grants(policy: Members, access: 'read' | 'write', place: string): readonly FileSystemEntry[] {
  const at = memberPlace(place, access)
  const paths = member(policy, access)
  if (paths === undefined || paths === null) return []
  return list(paths, at).map((path, index) =>
    Object.freeze({
      path: Object.freeze({ type: 'path', path: absolutePath(path, `${at}[${index}]`) } as const),
      access,
    }),
  )
}

function refuseOthers(object: Members, known: readonly string[], place: string): void {
  const other = Object.keys(object).find((name) => !known.includes(name))
  if (other === undefined) return
  const at = memberPlace(place, other)
  throw new PermissionProfileError(`${at} is no member of a profile without \`type\`: expected ${known.join(', ')}`, {
    place: at,
  })
}
