import {
  type PermissionSettings,
  PRESETS,
  type ProfileRule,
  type ProfileSettings,
  type SandboxMode,
  type WorkspaceWriteSettings,
} from './settings.js'

/** What a configuration means by a choice, in the terms of one file: nothing refers to anything else any more. */
export type ResolvedProfile =
  | { readonly is: 'preset'; readonly preset: SandboxMode; readonly options: WorkspaceWriteSettings }
  | {
      readonly is: 'rules'
      readonly rules: readonly ProfileRule[]
      readonly workspaceRoots: readonly string[]
      readonly globScanMaxDepth?: number
      readonly network: boolean
    }
  /** It can't be told, so nothing is allowed. */
  | { readonly is: 'nothing' }

const NOTHING: ResolvedProfile = Object.freeze({ is: 'nothing' })

/**
 * What holds in an environment. Where nothing is configured that is `read-only`, as in the reference for a folder that
 * nobody has trusted.
 *
 * @param chosen by whoever started this; counts before what the environment itself names, and that before the default
 */
export function resolvedFor(settings: PermissionSettings, environment: string, chosen?: string): ResolvedProfile {
  const { byDefault, ofEnvironment, workspaceWrite } = settings
  if (chosen !== undefined) return resolvedByName(settings, chosen)
  if (ofEnvironment.has(environment)) {
    const name = ofEnvironment.get(environment)
    return name === undefined ? NOTHING : resolvedByName(settings, name)
  }
  switch (byDefault.is) {
    case 'unset':
      return preset('read-only', {})
    case 'mode':
      return preset(byDefault.mode, byDefault.mode === 'workspace-write' ? workspaceWrite : {})
    case 'profile':
      return resolvedByName(settings, byDefault.name)
    case 'broken':
      return NOTHING
  }
}

/** A profile of the user's own, else the preset of that name. One that is not there allows nothing. */
function resolvedByName(settings: PermissionSettings, name: string): ResolvedProfile {
  const own = settings.profiles.get(name)
  if (own !== undefined) return resolved(settings, own)
  const found = PRESETS.get(name)
  return found === undefined ? NOTHING : preset(found, {})
}

function preset(mode: SandboxMode, options: WorkspaceWriteSettings): ResolvedProfile {
  return Object.freeze({ is: 'preset', preset: mode, options })
}

/** Child before parent, by path; in the order of the paths, as Codex sends them. */
function resolved({ profiles }: PermissionSettings, child: ProfileSettings): ResolvedProfile {
  const rules = new Map<string, ProfileRule>()
  const roots: string[] = []
  let { globScanMaxDepth, network } = child
  for (let at: ProfileSettings | undefined = child; at !== undefined; ) {
    for (const rule of at.rules) if (!rules.has(keyOf(rule))) rules.set(keyOf(rule), rule)
    roots.push(...at.workspaceRoots)
    globScanMaxDepth ??= at.globScanMaxDepth
    network ??= at.network
    const parent: string | undefined = at.extends
    at = parent === undefined ? undefined : profiles.get(parent)
    if (at === undefined && parent !== undefined)
      for (const rule of presetRules(parent)) if (!rules.has(keyOf(rule))) rules.set(keyOf(rule), rule)
  }
  const sorted = [...rules].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, rule]) => rule)
  return Object.freeze({
    is: 'rules',
    rules: Object.freeze(sorted),
    workspaceRoots: Object.freeze([...new Set(roots)]),
    ...(globScanMaxDepth !== undefined && { globScanMaxDepth }),
    network: network ?? false,
  })
}

/** What a preset says where a profile extends it. */
function presetRules(name: string): readonly ProfileRule[] {
  const reading: ProfileRule = { path: ':root', access: 'read' }
  if (PRESETS.get(name) === 'read-only') return [reading]
  const writing = [':workspace_roots', ':slash_tmp', ':tmpdir'].map((path): ProfileRule => ({ path, access: 'write' }))
  return [reading, ...writing]
}

function keyOf({ path, subpath = '' }: ProfileRule): string {
  return `${path}\0${subpath}`
}
