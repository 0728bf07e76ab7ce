import { PermissionProfileError } from '../../errors.js'
import { hasFullDiskRead, type PermissionProfile, parsePermissionProfile } from '../../permissions/index.js'
import { type ExecPathStyle, fileUriOf } from '../../protocol/index.js'
import type { Environment, EnvironmentFiles } from '../environment.js'
import type { DiscoveryPlace } from './types.js'

/** As whom the files of a place are looked at (reference: catalog, 9.2). */
export type Sight =
  /** Every file may be read. */
  | { readonly is: 'open' }
  /** The executor itself holds every read to the profile; `sandbox` is for its discoveries. */
  | { readonly is: 'sandboxed'; readonly sandbox: object; readonly files: EnvironmentFiles }
  /** Nobody there could hold a read to the profile, so nothing is read. */
  | { readonly is: 'closed'; readonly reason: string }

const OPEN: Sight = Object.freeze({ is: 'open' })

/**
 * Under a profile that restricts files an executor is asked in a sandbox. One without a sandbox, as the host is one, is read
 * only where the profile lets everything be read. A profile that nobody understands lets nothing be read. Raises as
 * `Environment.info`.
 */
export async function sightOf(place: DiscoveryPlace): Promise<Sight> {
  if (place.permissions === undefined) return OPEN
  const profile = profileOf(place.permissions)
  if (profile instanceof PermissionProfileError)
    return closed(place.environment, `its permission profile can't be read: ${profile.message}`)
  if (profile.type !== 'managed' || profile.file_system.type === 'unrestricted') return OPEN
  return (await sandboxed(place, profile)) ?? (hasFullDiskRead(profile) ? OPEN : withoutSandbox(place))
}

function profileOf(permissions: object): PermissionProfile | PermissionProfileError {
  try {
    return parsePermissionProfile(permissions)
  } catch (error) {
    if (error instanceof PermissionProfileError) return error
    throw error
  }
}

async function sandboxed(place: DiscoveryPlace, profile: PermissionProfile): Promise<Sight | undefined> {
  const { environment } = place
  if (environment.ask === undefined || environment.filesUnder === undefined) return undefined
  const [{ capabilities }, style] = await Promise.all([environment.info(), environment.pathStyle()])
  if (capabilities?.capabilityDiscoverySandbox !== true) return undefined
  const sandbox = sandboxOf(place, profile, style)
  return sandbox && { is: 'sandboxed', sandbox, files: environment.filesUnder(sandbox) }
}

/** The intent that an executor builds its own sandbox from (reference: executor-protocol, 8.1). Paths are `file:` URIs. */
function sandboxOf(
  { cwd, workspaceRoots = [] }: DiscoveryPlace,
  profile: PermissionProfile,
  style: ExecPathStyle,
): object | undefined {
  const permissions = withUris(profile, style)
  const folder = cwd === undefined ? undefined : fileUriOf(cwd, style)
  const roots = workspaceRoots.map((path) => fileUriOf(path, style))
  if (permissions === undefined || folder === undefined || roots.includes(undefined)) return undefined
  return Object.freeze({
    permissions,
    cwd: folder,
    workspaceRoots: roots,
    windowsSandboxLevel: 'disabled',
  })
}

function withUris(profile: PermissionProfile, style: ExecPathStyle): object | undefined {
  if (profile.type !== 'managed' || profile.file_system.type === 'unrestricted') return profile
  const entries = profile.file_system.entries.map((entry) => {
    if (entry.path.type !== 'path') return entry
    const path = fileUriOf(entry.path.path, style)
    return path === undefined ? undefined : { ...entry, path: { type: 'path', path } }
  })
  if (entries.includes(undefined)) return undefined
  return { ...profile, file_system: { ...profile.file_system, entries } }
}

function withoutSandbox({ environment }: DiscoveryPlace): Sight {
  return closed(environment, 'its permission profile restricts what may be read, and nothing there can hold to that')
}

function closed({ id }: Environment, reason: string): Sight {
  return Object.freeze({ is: 'closed', reason: `plugins in environment '${id}' are not looked for: ${reason}` })
}
