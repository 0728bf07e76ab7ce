import { nearest } from '../nearest.js'
import type { ConfigOrigin, ConfigProblem } from '../server.js'
import {
  type ChosenProfile,
  isProfileName,
  NO_PERMISSIONS,
  type PermissionSections,
  type PermissionSettings,
  PRESETS,
  type ProfileSettings,
  profileNames,
  type WorkspaceWriteSettings,
} from './settings.js'

/** An environment that names a profile. */
export interface NamingEnvironment {
  readonly id: string
  readonly permissions?: string
  readonly origin: ConfigOrigin
}

/**
 * Puts what files say of permissions on each other, lowest first: a profile is replaced as a whole. Of what chooses, the
 * last file counts, and in one file `default_permissions` before `sandbox_mode`, as in Codex. What names a profile that
 * isn't there allows nothing.
 */
export function mergePermissions(
  sections: readonly PermissionSections[],
  environments: readonly NamingEnvironment[],
): PermissionSettings {
  const problems: ConfigProblem[] = []
  const report = (severity: ConfigProblem['severity'], code: string, message: string, place: string) =>
    problems.push(Object.freeze({ severity, code, message, place }))
  const written = new Map<string, ProfileSettings>()
  let workspaceWrite: WorkspaceWriteSettings = {}
  for (const { profiles, broken, ...section } of sections) {
    for (const name of broken) written.delete(name)
    for (const [name, profile] of profiles) written.set(name, profile)
    workspaceWrite = { ...workspaceWrite, ...section.workspaceWrite }
  }
  const profiles = new Map([...written].filter(([, profile]) => holdsUp(profile, written, report)))
  const missing = (kind: string, { name, place }: ChosenProfile) => {
    const names = profileNames({ profiles })
    const close = nearest(name, names)
    const hint = close === undefined ? `there are ${names.join(', ')}.` : `did you mean \`${close}\`?`
    const message = `${kind} names the permission profile \`${name}\`, which there is not: ${hint} Until it is mended, servers are told that nothing is allowed`
    report('error', 'unknown_profile', message, place)
  }
  const ofEnvironment = new Map<string, string | undefined>()
  for (const { id, permissions: name, origin } of environments) {
    if (name === undefined) continue
    const isThere = isProfileName({ profiles }, name)
    if (!isThere) missing(`environment \`${id}\``, { name, place: `${placeOf(origin)} permissions` })
    ofEnvironment.set(id, isThere ? name : undefined)
  }
  const byDefault = defaultOf(sections, (chosen) => {
    if (isProfileName({ profiles }, chosen.name)) return true
    missing('default_permissions', chosen)
    return false
  })
  for (const { chosen, mode } of sections) {
    if (chosen === undefined || mode === undefined) continue
    const message = '`default_permissions` counts, and `sandbox_mode` of this file is ignored: keep one of them'
    report('warning', 'ignored_member', message, chosen.place)
  }
  if (
    byDefault === NO_PERMISSIONS.byDefault &&
    profiles.size === 0 &&
    ofEnvironment.size === 0 &&
    problems.length === 0
  )
    return NO_PERMISSIONS
  return Object.freeze({
    byDefault,
    workspaceWrite: Object.freeze(workspaceWrite),
    profiles,
    ofEnvironment,
    problems: Object.freeze(problems),
  })
}

function defaultOf(
  sections: readonly PermissionSections[],
  isThere: (chosen: ChosenProfile) => boolean,
): PermissionSettings['byDefault'] {
  if (sections.some(({ isBroken }) => isBroken)) return Object.freeze({ is: 'broken' })
  const last = sections.findLast(({ mode, chosen }) => mode !== undefined || chosen !== undefined)
  const { mode, chosen } = last ?? {}
  if (chosen === undefined && mode !== undefined) return Object.freeze({ is: 'mode', mode })
  if (chosen === undefined) return NO_PERMISSIONS.byDefault
  return Object.freeze(isThere(chosen) ? { is: 'profile', name: chosen.name } : { is: 'broken' })
}

type Report = (severity: ConfigProblem['severity'], code: string, message: string, place: string) => void

/** Whether what a profile extends is there, all the way. */
function holdsUp(profile: ProfileSettings, all: ReadonlyMap<string, ProfileSettings>, report: Report): boolean {
  const { name, origin } = profile
  const fail = (message: string) => {
    report(
      'error',
      'invalid_value',
      `the permission profile \`${name}\` ${message}`,
      `${placeOf(origin)} permissions.${name}`,
    )
    return false
  }
  const way = [name]
  for (let at = profile; at.extends !== undefined; ) {
    const next = at.extends
    if (way.includes(next)) return fail(`extends itself by way of ${[...way, next].join(', ')}`)
    way.push(next)
    const found = all.get(next)
    if (found === undefined) {
      const preset = PRESETS.get(next)
      if (preset === undefined) return fail(`extends \`${next}\`, which there is not`)
      return preset === 'danger-full-access' ? fail(`can't extend \`${next}\`: it restricts nothing`) : true
    }
    at = found
  }
  return true
}

function placeOf({ file, line }: ConfigOrigin): string {
  return line === undefined ? file : `${file}:${line}`
}
