import type { PermissionAuthority } from '../catalog/index.js'
import { type PermissionProfile, parsePermissionProfile, presetProfile } from '../permissions/index.js'
import type { Profile } from './composition.js'

/**
 * The permission profile that a server's calls and questions are judged by; undefined where none governs it.
 *
 * @throws PermissionProfileError
 */
export function permissionsOf(authority: PermissionAuthority<Profile>): PermissionProfile | undefined {
  return authority.kind === 'none' ? undefined : readProfile(authority.profile)
}

/** @throws PermissionProfileError */
export function readProfile(profile: Profile): PermissionProfile {
  return profile === null ? OWN_PROFILE : parsePermissionProfile(profile)
}

/** Nothing is known of what the runtime itself may do, so that `never` does not take it for everything. */
export const OWN_PROFILE = presetProfile('read-only', { cwd: '/' })
