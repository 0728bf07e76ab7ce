import { executionCwd, pathStyleOf } from '../authority/index.js'
import type { Profiles } from '../catalog/index.js'
import {
  isProfileName,
  type PermissionSettings,
  profileNames,
  type ResolvedProfile,
  resolvedFor,
  type SandboxMode,
} from '../config/index.js'
import type { DiscoveryProblem } from '../environments/index.js'
import { ConfigError, PermissionProfileError } from '../errors.js'
import { LOCAL_ENVIRONMENT } from '../identity/index.js'
import {
  atHome,
  materialiseRoots,
  NOTHING_ALLOWED,
  type PermissionProfile,
  parsePermissionProfile,
  presetProfile,
  profileOfRules,
} from '../permissions/index.js'
import type { JsonObject } from '../protocol/index.js'
import type { Profile } from './composition.js'
import { type Limited, limitedProfile } from './managed-permissions.js'
import type { SelectedPlace } from './selection.js'

/** What governs where nobody hands a profile over. */
export interface ConfiguredPermissions {
  readonly settings: PermissionSettings
  /** What `~` stands for on the host. */
  readonly home: string
  /** Name of the profile that was asked for, for all environments. */
  readonly chosen?: string
}

export interface GoverningParts {
  readonly places: readonly SelectedPlace[]
  readonly permissions: ConfiguredPermissions
  /** Of the thread, on the host. */
  readonly threadCwd: string
}

/** Whose profile governs which environment, each with its workspace roots as absolute paths. */
export interface GoverningProfiles extends Profiles<Profile> {
  /** Profiles that can't be told. */
  readonly problems: readonly DiscoveryProblem[]
}

/** Where a profile holds. */
interface Place {
  readonly id: string
  readonly cwd: string
  readonly workspaceRoots: readonly string[]
}

/**
 * The profile of each selected environment: what was handed over for it, else what the configuration says. Made once for
 * all calls of all steps, until the selection or the configuration is another one (reference: authority, 9). What can't be
 * told is one problem, and allows nothing in its environment.
 */
export function governingProfiles(parts: GoverningParts): GoverningProfiles {
  const { places, threadCwd } = parts
  const problems: DiscoveryProblem[] = []
  const made = (place: Place): JsonObject => {
    try {
      const { value, exceeded } = allowed(profileOf(place, parts), place, parts)
      if (exceeded.length > 0) problems.push(notAllowed(place, exceeded))
      return value
    } catch (error) {
      if (!(error instanceof PermissionProfileError)) throw error
      const message = `the permission profile can't be told, so that nothing is allowed there: ${error.message}`
      problems.push(Object.freeze({ code: 'invalid_permission_profile', environment: place.id, message }))
      return onWire(NOTHING_ALLOWED)
    }
  }
  const host = executionCwd(LOCAL_ENVIRONMENT, places, threadCwd) ?? threadCwd
  const byPlace = new Map(places.map((place) => [place.id, made(place)]))
  const runtime = byPlace.get(LOCAL_ENVIRONMENT) ?? made({ id: LOCAL_ENVIRONMENT, cwd: host, workspaceRoots: [host] })
  return { runtime, ofEnvironment: (environment) => byPlace.get(environment), problems }
}

/** @throws ConfigError `unknown_profile`, with the names that there are */
export function checkProfileName(settings: PermissionSettings, name: string, place = 'permissions'): void {
  if (isProfileName(settings, name)) return
  const known = profileNames(settings)
  const message = `there is no permission profile \`${name}\`: there are ${known.join(', ')}`
  throw new ConfigError('unknown_profile', message, { place, data: { profile: name, known } })
}

/**
 * As whom an environment is looked into: undefined where nobody handed a profile over or configured one, since what holds
 * then lets everything be read.
 */
export function discoveryProfile(environment: string, parts: GoverningParts): JsonObject | undefined {
  const place = parts.places.find(({ id }) => id === environment)
  if (place === undefined) return undefined
  const { settings, chosen } = parts.permissions
  const handed = handedOver(environment, parts)
  if (handed !== undefined && settings.managed === undefined) return handed
  const isOpen = chosen === undefined && settings.byDefault.is === 'unset' && !settings.ofEnvironment.has(environment)
  if (isOpen && settings.managed === undefined) return undefined
  const { ofEnvironment, problems } = governingProfiles(parts)
  const isAsItWas = handed === undefined && problems.every((problem) => problem.environment !== environment)
  return isOpen && isAsItWas ? undefined : (ofEnvironment(environment) ?? undefined)
}

function profileOf(place: Place, parts: GoverningParts): JsonObject {
  const { id, cwd, workspaceRoots: roots } = place
  const handed = handedOver(id, parts)
  if (handed !== undefined) return materialiseRoots(handed, { cwd, roots, style: pathStyleOf(cwd) })
  const { settings, home, chosen } = parts.permissions
  // Where `~` is elsewhere, only the machine there knows.
  return onWire(configured(resolvedFor(settings, id, chosen), place, id === LOCAL_ENVIRONMENT ? home : undefined))
}

/** As it is where the requirements let it be so: what nobody knows in it then stays. */
function allowed(profile: JsonObject, place: Place, { permissions }: GoverningParts): Limited<JsonObject> {
  const { managed } = permissions.settings
  if (managed === undefined) return { value: profile, exceeded: [] }
  const presetAs = (preset: SandboxMode) => configured({ is: 'preset', preset, options: {} }, place)
  const { value, exceeded } = limitedProfile(parsePermissionProfile(profile), managed, presetAs)
  return { value: exceeded.length === 0 ? profile : onWire(value), exceeded }
}

function notAllowed({ id }: Place, exceeded: readonly string[]): DiscoveryProblem {
  const message = `the permission profile goes beyond ${exceeded.join(' and ')}: servers are told of a narrower one`
  return Object.freeze({ code: 'profile_not_allowed', environment: id, message })
}

/** Its own, else the host's, unless the configuration or whoever started the thread says what holds there. */
function handedOver(id: string, { places, permissions: { settings, chosen } }: GoverningParts): JsonObject | undefined {
  const own = places.find((place) => place.id === id)?.permissions
  if (own !== undefined || chosen !== undefined || settings.ofEnvironment.has(id)) return own
  return places.find((place) => place.id === LOCAL_ENVIRONMENT)?.permissions
}

function configured(resolved: ResolvedProfile, { cwd, workspaceRoots }: Place, home?: string): PermissionProfile {
  const at = { style: pathStyleOf(cwd), ...(home !== undefined && { home }) }
  switch (resolved.is) {
    case 'nothing':
      return NOTHING_ALLOWED
    case 'rules':
      return profileOfRules(resolved, { ...at, roots: workspaceRoots })
    case 'preset': {
      const {
        writableRoots = [],
        networkAccess = false,
        excludeTmpdir = false,
        excludeSlashTmp = false,
      } = resolved.options
      const [first = cwd, ...more] = workspaceRoots
      return presetProfile(resolved.preset, {
        cwd: first,
        workspaceRoots: [...more, ...writableRoots.map((root) => atHome(root, at))],
        network: networkAccess ? 'enabled' : 'restricted',
        excludeTmpdir,
        excludeSlashTmp,
        style: at.style,
      })
    }
  }
}

/** Every profile is JSON; an interface without an index signature can't say so itself. */
function onWire(profile: PermissionProfile): JsonObject {
  return JSON.parse(JSON.stringify(profile))
}
