import { list, type Members, member, memberPlace, oneOf, record } from './members.js'
import { parseEntries, scanDepth } from './parse-entries.js'
import { parseLegacyProfile } from './parse-legacy.js'
import type { FileSystemPolicy, NetworkPolicy, PermissionProfile } from './types.js'

/**
 * Reads a permission profile in every form that the reference accepts (authority, 8): `managed`, `disabled`, `external`, and
 * the object without `type` that older versions wrote. Unknown members of the typed forms are ignored here; whoever hands
 * the profile on hands on the object that it came as.
 *
 * @param place where the profile stands, for errors: `permissionProfile`, or nothing
 * @throws PermissionProfileError with the place of the member at fault
 *
 * @example
 * ```ts
 * const profile = parsePermissionProfile(state.permissionProfile, 'permissionProfile')
 * if (hasFullDiskWrite(profile)) …
 * ```
 */
export function parsePermissionProfile(value: unknown, place = ''): PermissionProfile {
  const profile = record(value, place)
  if (!Object.hasOwn(profile, 'type')) return parseLegacyProfile(profile, place)
  switch (oneOf(profile.type, ['managed', 'disabled', 'external'] as const, memberPlace(place, 'type'))) {
    case 'disabled':
      return Object.freeze({ type: 'disabled' })
    case 'external':
      return Object.freeze({ type: 'external', network: networkOf(profile, place) })
    case 'managed':
      return Object.freeze({
        type: 'managed',
        file_system: fileSystemOf(member(profile, 'file_system'), memberPlace(place, 'file_system')),
        network: networkOf(profile, place),
      })
  }
}

function networkOf(profile: Members, place: string): NetworkPolicy {
  return oneOf(member(profile, 'network'), ['restricted', 'enabled'] as const, memberPlace(place, 'network'))
}

function fileSystemOf(value: unknown, place: string): FileSystemPolicy {
  const policy = record(value, place)
  const type = oneOf(member(policy, 'type'), ['restricted', 'unrestricted'] as const, memberPlace(place, 'type'))
  if (type === 'unrestricted') return Object.freeze({ type })
  const entries = memberPlace(place, 'entries')
  return Object.freeze({
    type,
    entries: parseEntries(list(member(policy, 'entries'), entries), entries),
    ...scanDepth(policy, place),
  })
}
