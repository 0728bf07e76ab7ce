import { optional } from './optional.js'
import { PRESETS, type SandboxMode } from './permissions/settings.js'
import { flag, list, map, type Notes, oneOf, type Shape } from './schema/shape.js'
import type { Path, Raw, RawTable } from './source/raw.js'

/** An approval policy by its name; `on-failure` is an older one that Codex still knows. */
export type PolicyName = 'untrusted' | 'on-failure' | 'on-request' | 'granular' | 'never'

/**
 * What one requirements file lets profiles and policies be, by the keys of Codex's own. What is absent is free; an empty
 * list allows nothing. It only narrows: what is narrower than something allowed is allowed, too.
 */
export interface ManagedPermissions {
  /** The file, for people. */
  readonly source: string
  /** `allowed_sandbox_modes`. */
  readonly modes?: readonly ManagedMode[]
  /** `allowed_permission_profiles`. Presets alone: what a profile of the user's own says is the user's to write. */
  readonly presets?: readonly SandboxMode[]
  /** `allowed_approval_policies`. */
  readonly policies?: readonly PolicyName[]
}

/** `external-sandbox`: profiles for which another sandbox is answerable. */
export type ManagedMode = SandboxMode | 'external-sandbox'

/** Where nothing can be read: nothing is allowed. */
export function nothingPermitted(source: string): ManagedPermissions {
  return Object.freeze({ source, modes: Object.freeze([]), policies: Object.freeze([]) })
}

const modes = list(oneOf('read-only', 'workspace-write', 'danger-full-access', 'external-sandbox'))
const policies = list(oneOf('untrusted', 'on-failure', 'on-request', 'granular', 'never'))
const profiles = map(flag)

interface Reading {
  readonly source: string
  readonly root: RawTable
  readonly notes: Notes
  /** Undefined after a fault, which is told with what it leads to. */
  readonly attempt: <T>(read: () => T, consequence: string) => T | undefined
  readonly warn: (code: string, message: string, path: Path) => void
}

/** Reads `allowed_*` of a requirements file. A fault in one of them allows nothing. */
export function readManagedPermissions({
  source,
  root,
  notes,
  attempt,
  warn,
}: Reading): ManagedPermissions | undefined {
  const listed = <T>(name: string, shape: Shape<readonly T[]>, consequence: string): readonly T[] | undefined => {
    const value = root[name]
    if (value === undefined) return undefined
    return Object.freeze(attempt(() => shape.read(value, [name], notes), consequence) ?? [])
  }
  const presetsOf = (value: Raw): readonly SandboxMode[] => {
    const path = ['allowed_permission_profiles']
    const named = attempt(() => profiles.read(value, path, notes), NOTHING_ALLOWED_THERE) ?? {}
    const allowed = Object.entries(named).flatMap(([name, isAllowed]) => (isAllowed ? [name] : []))
    for (const name of allowed)
      if (!PRESETS.has(name)) warn('unsupported_member', `\`${name}\` is no preset: ${ONLY_PRESETS}`, [...path, name])
    return Object.freeze([...new Set(allowed.flatMap((name) => PRESETS.get(name) ?? []))])
  }
  const given = root.allowed_permission_profiles
  const found = {
    ...optional('modes', listed('allowed_sandbox_modes', modes, NOTHING_ALLOWED_THERE)),
    ...optional('presets', given === undefined ? undefined : presetsOf(given)),
    ...optional('policies', listed('allowed_approval_policies', policies, 'every thread has the policy `untrusted`')),
  }
  return Object.keys(found).length === 0 ? undefined : Object.freeze({ source, ...found })
}

const NOTHING_ALLOWED_THERE = 'servers are told that nothing is allowed'
const ONLY_PRESETS = 'what a profile of that name says is for its user to write, so that this allows nothing'
