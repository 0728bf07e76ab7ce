import { PermissionProfileError } from '../../errors.js'
import {
  type FileSystemEntry,
  type FileSystemPath,
  materialiseRoots,
  type PathStyle,
  parsePermissionProfile,
  pathRules,
} from '../../permissions/index.js'
import type { JsonObject } from '../../protocol/index.js'

/** As whom files are read: the profile of the environment that owns the server of the call. */
export interface ReadAuthority {
  /** Null: none was handed over, so that it is as whoever runs this process. */
  readonly profile: JsonObject | null
  readonly cwd: string
  readonly workspaceRoots: readonly string[]
  readonly style: PathStyle
}

/** What a profile says of one path. */
export type Readable = (path: string) => boolean

/**
 * Which files a profile lets be read (reference: authority, 8): the entry that names the closest folder counts, of equals the
 * stricter; whatever a pattern denies is denied. What can't be told for certain is not readable.
 *
 * @throws PermissionProfileError the profile can't be read
 */
export function readableUnder({ profile: given, cwd, workspaceRoots, style }: ReadAuthority): Readable {
  if (given === null) return () => true
  const at = { cwd, roots: workspaceRoots, style }
  const profile = parsePermissionProfile(materialiseRoots(given, at))
  if (profile.type !== 'managed' || profile.file_system.type === 'unrestricted') return () => true
  const rules = profile.file_system.entries.map((entry) => ruleOf(entry, cwd, style))
  return (path) => {
    const folders = withParents(path, style)
    if (rules.some((rule) => rule.access === 'deny' && rule.is === 'pattern' && folders.some(rule.matches)))
      return false
    const ranked = rules.flatMap((rule) => (rule.is === 'folder' ? rankOf(rule, folders, style) : []))
    return ranked.reduce((best, next) => (next.rank > best.rank ? next : best), NOTHING).access !== 'deny'
  }
}

type Rule =
  | { readonly is: 'folder'; readonly path: string; readonly access: FileSystemEntry['access'] }
  | { readonly is: 'pattern'; readonly matches: (path: string) => boolean; readonly access: FileSystemEntry['access'] }
  | { readonly is: 'nothing'; readonly access: FileSystemEntry['access'] }

interface Ranked {
  readonly rank: number
  readonly access: FileSystemEntry['access']
}

const NOTHING: Ranked = { rank: -1, access: 'deny' }
const STRICTNESS = { read: 0, write: 1, deny: 2 } as const

function ruleOf({ path, access }: FileSystemEntry, cwd: string, style: PathStyle): Rule {
  if (path.type === 'glob_pattern') return { is: 'pattern', matches: matcherOf(path.pattern, cwd, style), access }
  const folder = folderOf(path, style)
  if (folder !== undefined) return { is: 'folder', path: folder, access }
  if (access !== 'deny') return { is: 'nothing', access }
  throw new PermissionProfileError('the profile denies a place that is not known here', {
    place: 'file_system.entries',
  })
}

/** Temporary folders of elsewhere, and what programs need to start, are no reason to read a file that a model names. */
function folderOf(path: Exclude<FileSystemPath, { type: 'glob_pattern' }>, style: PathStyle): string | undefined {
  if (path.type === 'path') return path.path
  if (path.value.kind === 'root') return ROOT
  return path.value.kind === 'slash_tmp' && style === 'posix' ? '/tmp' : undefined
}

const ROOT = ''

function rankOf({ path, access }: Rule & { is: 'folder' }, folders: readonly string[], style: PathStyle): Ranked[] {
  const wanted = path === ROOT ? ROOT : comparable(pathRules(style).resolve(path), style)
  const depth = path === ROOT ? folders.length - 1 : folders.findIndex((folder) => comparable(folder, style) === wanted)
  if (depth === -1) return []
  // The path itself comes first: the nearer the folder, the more its entry counts.
  return [{ rank: (folders.length - depth) * 3 + STRICTNESS[access], access }]
}

/** The path and every folder above it, nearest first. */
function withParents(path: string, style: PathStyle): readonly string[] {
  const { dirname, resolve } = pathRules(style)
  const all = [resolve(path)]
  for (let at = dirname(resolve(path)); at !== all.at(-1); at = dirname(at)) all.push(at)
  return all
}

function comparable(path: string, style: PathStyle): string {
  return style === 'windows' ? path.toLowerCase() : path
}

/** `**`, `*` and `?`; a pattern with anything else in it matches every path. */
function matcherOf(pattern: string, cwd: string, style: PathStyle): (path: string) => boolean {
  if (/[[\]{}]/.test(pattern) || (style === 'posix' && pattern.includes('\\'))) return () => true
  const { resolve, sep } = pathRules(style)
  const whole = resolve(cwd, pattern).replaceAll(sep, '/')
  const source = whole
    .split('/')
    .map((name) => (name === '**' ? '**' : name.replace(/[\\^$.()|+*?]/g, inName)))
    .join('/')
    .replaceAll('/**/', '/(?:.*/)?')
    .replace(/\/\*\*$/, '/.*')
  const expression = new RegExp(`^${source}$`, style === 'windows' ? 'isu' : 'su')
  return (path) => expression.test(path.replaceAll(sep, '/'))
}

function inName(character: string): string {
  return character === '*' ? '[^/]*' : character === '?' ? '[^/]' : `\\${character}`
}
