import type { PermissionAuthority } from '../catalog/index.js'
import { type PermissionProfile, parsePermissionProfile, presetProfile } from '../permissions/index.js'
import type { Profile } from './composition.js'

/**
 * The permission profile that a server's calls and questions are judged by; undefined where none governs it.
 *
 * @throws PermissionProfileError
 */
export function permissionsOf(authority: PermissionAuthority<Profile>): PermissionProfile | undefined {
  if (authority.kind === 'none') return undefined
  return authority.profile === null ? OWN_PROFILE : parsePermissionProfile(authority.profile)
}

/** Nothing is known of what the runtime itself may do, so that `never` does not take it for everything. */
export const OWN_PROFILE = presetProfile('read-only', { cwd: '/' })
