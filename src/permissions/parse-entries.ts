import { PermissionProfileError } from '../errors.js'
import { type Members, member, memberPlace, oneOf, record, text, wrong } from './members.js'
import { isAbsolutePath } from './path-style.js'
import type { FileSystemEntry, FileSystemPath, SpecialPath } from './types.js'

/** The entries of a restricted file system. Throws `PermissionProfileError`. */
export function parseEntries(values: readonly unknown[], place: string): readonly FileSystemEntry[] {
  return Object.freeze(values.map((value, index) => parseEntry(value, `${place}[${index}]`)))
}

function parseEntry(value: unknown, place: string): FileSystemEntry {
  const entry = record(value, place)
  const behaviour = member(entry, 'missing_path_behavior')
  const access = oneOf(
    member(entry, 'access'),
    ['read', 'write', 'deny', 'none'] as const,
    memberPlace(place, 'access'),
  )
  return Object.freeze({
    path: parsePath(member(entry, 'path'), memberPlace(place, 'path')),
    access: access === 'none' ? 'deny' : access,
    ...(behaviour !== undefined &&
      behaviour !== null && {
        missing_path_behavior: oneOf(behaviour, ['skip'] as const, memberPlace(place, 'missing_path_behavior')),
      }),
  })
}

function parsePath(value: unknown, place: string): FileSystemPath {
  const path = record(value, place)
  const type = oneOf(member(path, 'type'), ['path', 'glob_pattern', 'special'] as const, memberPlace(place, 'type'))
  switch (type) {
    case 'path':
      return Object.freeze({ type, path: absolutePath(member(path, 'path'), memberPlace(place, 'path')) })
    case 'glob_pattern':
      return Object.freeze({ type, pattern: text(member(path, 'pattern'), memberPlace(place, 'pattern')) })
    case 'special':
      return Object.freeze({ type, value: parseSpecial(member(path, 'value'), memberPlace(place, 'value')) })
  }
}

/** Of this system or another: a profile may govern an executor of the other style. */
export function absolutePath(value: unknown, place: string): string {
  const path = text(value, place)
  if (isAbsolutePath(path, 'posix') || isAbsolutePath(path, 'windows')) return path
  throw new PermissionProfileError(`${place} is \`${path}\`: expected an absolute path`, { place })
}

const KINDS = [
  'root',
  'minimal',
  'current_working_directory',
  'tmpdir',
  'slash_tmp',
  'project_roots',
  'unknown',
] as const

function parseSpecial(value: unknown, place: string): SpecialPath {
  const special = record(value, place)
  const kind = oneOf(member(special, 'kind'), KINDS, memberPlace(place, 'kind'))
  switch (kind) {
    case 'project_roots':
      return Object.freeze({ kind, ...subpathOf(special, place) })
    case 'unknown':
      return Object.freeze({
        kind,
        path: text(member(special, 'path'), memberPlace(place, 'path')),
        ...subpathOf(special, place),
      })
    default:
      return Object.freeze({ kind })
  }
}

function subpathOf(special: Members, place: string): { readonly subpath?: string } {
  const subpath = member(special, 'subpath')
  if (subpath === undefined || subpath === null) return {}
  return { subpath: text(subpath, memberPlace(place, 'subpath')) }
}

/** How deep patterns look: a whole number from 1 up; null and nothing are the same. */
export function scanDepth(policy: Members, place: string): { readonly glob_scan_max_depth?: number } {
  const depth = member(policy, 'glob_scan_max_depth')
  if (depth === undefined || depth === null) return {}
  if (typeof depth !== 'number' || !Number.isSafeInteger(depth) || depth < 1) {
    return wrong(depth, 'a whole number from 1 up', memberPlace(place, 'glob_scan_max_depth'))
  }
  return { glob_scan_max_depth: depth }
}
