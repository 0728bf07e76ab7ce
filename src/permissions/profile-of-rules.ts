import { PermissionProfileError } from '../errors.js'
import { isAbsolutePath, type PathStyle, pathRules } from './path-style.js'
import type { FileSystemEntry, FileSystemPath, PermissionProfile } from './types.js'

/** Who may do what at one path: absolute, `~` or below it, or special with a colon in front. */
export interface PathRule {
  readonly path: string
  /** Below it. */
  readonly subpath?: string
  readonly access: 'read' | 'write' | 'deny'
}

export interface ProfileRules {
  readonly rules: readonly PathRule[]
  /** Further roots beside those of the environment. */
  readonly workspaceRoots: readonly string[]
  readonly globScanMaxDepth?: number
  readonly network: boolean
}

/** Where a profile of rules holds. */
export interface RulesPlace {
  /** What `:workspace_roots` stands for; absolute. */
  readonly roots: readonly string[]
  /** Of the environment that the profile governs. */
  readonly style: PathStyle
  /** What `~` stands for there. Absent: nobody knows. */
  readonly home?: string
}

/**
 * A profile that a user wrote as rules, in its wire shape: every root is an absolute path, and patterns of the workspace are
 * patterns of each root. Frozen.
 *
 * @throws PermissionProfileError `~` where nobody knows what it stands for, or a workspace root of another style
 */
export function profileOfRules(profile: ProfileRules, place: RulesPlace): PermissionProfile {
  const added = profile.workspaceRoots.map((root) => atHome(root, place))
  const roots = [...new Set([...place.roots, ...added])]
  const other = roots.find((root) => !isAbsolutePath(root, place.style))
  if (other !== undefined) throw unusable(`the workspace root \`${other}\` is no absolute path there`, other)
  const { globScanMaxDepth: depth } = profile
  const entries = profile.rules.flatMap((rule) => entriesOf(rule, roots, place))
  return Object.freeze({
    type: 'managed',
    file_system: Object.freeze({
      type: 'restricted',
      entries: Object.freeze(entries),
      ...(depth !== undefined && { glob_scan_max_depth: depth }),
    }),
    network: profile.network ? 'enabled' : 'restricted',
  })
}

/** A path that may begin with `~`, as it is called there. */
export function atHome(path: string, { home, style }: Pick<RulesPlace, 'home' | 'style'>): string {
  if (path !== '~' && !path.startsWith('~/')) return path
  if (home === undefined)
    throw unusable(`\`${path}\`: nobody here knows what \`~\` stands for there; write the whole path`, path)
  return path === '~' ? home : pathRules(style).join(home, path.slice(2))
}

function entriesOf({ path, subpath, access }: PathRule, roots: readonly string[], place: RulesPlace) {
  const paths =
    path === ':workspace_roots' ? roots.map((root) => pathOf(root, subpath, place)) : [special(path, subpath)]
  const found = path.startsWith(':') ? paths : [pathOf(atHome(path, place), subpath, place)]
  return found.map((one): FileSystemEntry => Object.freeze({ path: one, access }))
}

function pathOf(folder: string, subpath: string | undefined, { style }: RulesPlace): FileSystemPath {
  const path = subpath === undefined ? folder : pathRules(style).join(folder, subpath)
  const isPattern = /[*?[\]]/.test(subpath ?? folder)
  return Object.freeze(isPattern ? { type: 'glob_pattern', pattern: path } : { type: 'path', path })
}

const KINDS = { ':root': 'root', ':minimal': 'minimal', ':tmpdir': 'tmpdir', ':slash_tmp': 'slash_tmp' } as const

/** What is not known is passed on: a launcher that knows it no better refuses, or grants nothing. */
function special(path: string, subpath: string | undefined): FileSystemPath {
  const known = Object.entries(KINDS).find(([name]) => name === path)
  const value =
    known === undefined
      ? ({ kind: 'unknown', path, ...(subpath !== undefined && { subpath }) } as const)
      : ({ kind: known[1] } as const)
  return Object.freeze({ type: 'special', value: Object.freeze(value) })
}

function unusable(message: string, place: string): PermissionProfileError {
  return new PermissionProfileError(message, { place })
}

/** Nothing may be read, written or reached: for where nobody can tell what was meant. */
export const NOTHING_ALLOWED: PermissionProfile = Object.freeze({
  type: 'managed',
  file_system: Object.freeze({ type: 'restricted', entries: Object.freeze([]) }),
  network: 'restricted',
})
