import { LOCAL_ENVIRONMENT, type ServerKey, ServerKeyMap } from '../identity/index.js'
import { isHostOwnedApps } from './hosted-apps.js'
import type { EffectiveServer } from './types.js'

/**
 * Whose permission profile governs a server. `none`: no calls are prepared for it and its elicitations are declined.
 * The profile is opaque here.
 */
export type PermissionAuthority<Profile> =
  | { readonly kind: 'runtime'; readonly profile: Profile }
  | { readonly kind: 'environment'; readonly environment: string; readonly profile: Profile }
  | { readonly kind: 'none' }

/** The profiles at hand: the runtime's own, and those that environments supplied. */
export interface Profiles<Profile> {
  readonly runtime: Profile
  /** By execution environment id. */
  readonly ofEnvironment: (environment: string) => Profile | undefined
}

/** The authority of every enabled server, by key (reference: catalog, 6). A disabled one has no entry. */
export function permissionAuthorities<Profile>(
  servers: readonly EffectiveServer[],
  profiles: Profiles<Profile>,
): ReadonlyKeyMap<PermissionAuthority<Profile>> {
  return byKey(servers, (server) => authorityOf(server, profiles))
}

/** Outside any thread: one default profile for the runtime and for every enabled server. */
export function uniformAuthorities<Profile>(
  servers: readonly EffectiveServer[],
  profile: Profile,
): ReadonlyKeyMap<PermissionAuthority<Profile>> {
  return byKey(servers, () => ({ kind: 'runtime', profile }))
}

/** A map by exact key that only answers. */
export type ReadonlyKeyMap<Value> = Pick<ServerKeyMap<Value>, 'get' | 'has' | 'keys' | 'size'>

function authorityOf<Profile>(server: EffectiveServer, profiles: Profiles<Profile>): PermissionAuthority<Profile> {
  const environment = server.config.environmentId
  if (isHostOwnedApps(server)) return { kind: 'runtime', profile: profiles.runtime }
  const supplied = profiles.ofEnvironment(environment)
  if (supplied !== undefined) return { kind: 'environment', environment, profile: supplied }
  return environment === LOCAL_ENVIRONMENT || server.source.kind === 'selected_plugin'
    ? { kind: 'runtime', profile: profiles.runtime }
    : { kind: 'none' }
}

function byKey<Profile>(
  servers: readonly EffectiveServer[],
  authority: (server: EffectiveServer) => PermissionAuthority<Profile>,
): ReadonlyKeyMap<PermissionAuthority<Profile>> {
  const entries = servers
    .filter(({ config }) => config.enabled)
    .map((server): readonly [ServerKey, PermissionAuthority<Profile>] => [server.key, Object.freeze(authority(server))])
  return new ServerKeyMap(entries)
}
