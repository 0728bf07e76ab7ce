import type { ManagedPermissions } from '../requirements-permissions.js'
import type { ConfigOrigin, ConfigProblem } from '../server.js'

/** The older choice between three policies. */
export type SandboxMode = 'read-only' | 'workspace-write' | 'danger-full-access'

/** `[sandbox_workspace_write]`: what `workspace-write` allows beside the workspace. Absent members are off. */
export interface WorkspaceWriteSettings {
  /** Absolute, or below the user's home with `~`. */
  readonly writableRoots?: readonly string[]
  readonly networkAccess?: boolean
  readonly excludeTmpdir?: boolean
  readonly excludeSlashTmp?: boolean
}

/** One line of a profile's `filesystem`. */
export interface ProfileRule {
  /** Absolute in either style, `~` or `~/…`, or special: it then begins with `:`. */
  readonly path: string
  /** Below it; absent: the path itself. Has no `.` and no `..`. */
  readonly subpath?: string
  readonly access: 'read' | 'write' | 'deny'
}

/** `[permissions.<name>]`: a profile of the user's own. */
export interface ProfileSettings {
  readonly name: string
  /** Another one, or a preset; its rules hold where this one has none for the same path. */
  readonly extends?: string
  /** Further folders that count as workspace; as `writableRoots`. */
  readonly workspaceRoots: readonly string[]
  readonly rules: readonly ProfileRule[]
  readonly globScanMaxDepth?: number
  readonly network?: boolean
  readonly origin: ConfigOrigin
}

/** What one file says of permissions. */
export interface PermissionSections {
  readonly mode?: SandboxMode
  readonly workspaceWrite?: WorkspaceWriteSettings
  /** `default_permissions`. */
  readonly chosen?: ChosenProfile
  readonly profiles: ReadonlyMap<string, ProfileSettings>
  /** Profiles whose entry is an error: they hide those of lower layers rather than fall back to them. */
  readonly broken: ReadonlySet<string>
  /** What chooses a policy can't be read: nobody knows how narrow it was meant to be. */
  readonly isBroken: boolean
}

/** The name of a profile or preset, and where it is named. */
export interface ChosenProfile {
  readonly name: string
  readonly place: string
}

/** The permissions of a whole configuration. What servers are told by it, the permissions room says. */
export interface PermissionSettings {
  /** What holds where nobody says otherwise. `broken`: it can't be told, so that nothing is allowed. */
  readonly byDefault:
    | { readonly is: 'unset' }
    | { readonly is: 'mode'; readonly mode: SandboxMode }
    | { readonly is: 'profile'; readonly name: string }
    | { readonly is: 'broken' }
  readonly workspaceWrite: WorkspaceWriteSettings
  /** Those that hold up: what they extend is there, and leads nowhere back. */
  readonly profiles: ReadonlyMap<string, ProfileSettings>
  /** Profile or preset by environment, of those that name one. An id that is here with `undefined` names none that is there. */
  readonly ofEnvironment: ReadonlyMap<string, string | undefined>
  /** What requirements let profiles and policies be, one of each file; all hold. Absent: nothing is demanded. */
  readonly managed?: readonly ManagedPermissions[]
  /** What is wrong between the files. */
  readonly problems: readonly ConfigProblem[]
}

/** Presets by both of their names: the ones of `sandbox_mode`, and the ones of profiles. */
export const PRESETS: ReadonlyMap<string, SandboxMode> = new Map([
  ['read-only', 'read-only'],
  ['workspace-write', 'workspace-write'],
  ['danger-full-access', 'danger-full-access'],
  [':read-only', 'read-only'],
  [':workspace', 'workspace-write'],
  [':danger-full-access', 'danger-full-access'],
])

/** Whether there is a profile or preset of that name. One of the user's counts before a preset. */
export function isProfileName({ profiles }: Pick<PermissionSettings, 'profiles'>, name: string): boolean {
  return profiles.has(name) || PRESETS.has(name)
}

/** What can be named, for those who named something else. */
export function profileNames({ profiles }: Pick<PermissionSettings, 'profiles'>): readonly string[] {
  return [...new Set([...profiles.keys(), 'read-only', 'workspace-write', 'danger-full-access'])]
}

/** Where nothing is configured. */
export const NO_PERMISSIONS: PermissionSettings = Object.freeze({
  byDefault: Object.freeze({ is: 'unset' } as const),
  workspaceWrite: Object.freeze({}),
  profiles: new Map<string, ProfileSettings>(),
  ofEnvironment: new Map<string, string | undefined>(),
  problems: Object.freeze([]),
})
