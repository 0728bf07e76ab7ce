import { posix } from 'node:path'
import { type FileSystemEntry, memberPlace, type SpecialPath } from '../../permissions/index.js'
import { unenforceable } from './unenforceable.js'

/** What one entry says of one path; absolute and normalised, not yet followed. */
export interface Grant {
  readonly path: string
  readonly access: 'read' | 'write' | 'deny'
  /** The entry that says so, for refusals. */
  readonly place: string
}

/** A pattern of what may not be read; a relative one starts at the cwd. */
export interface DeniedPattern {
  readonly pattern: string
  readonly place: string
}

export interface GrantContext {
  /** Absolute, normalised. */
  readonly cwd: string
  /** `TMPDIR` of the caller. */
  readonly tmpdir: string | undefined
  /** What programs need to start at all, for `minimal`. */
  readonly platformFolders: readonly string[]
}

/**
 * What the entries of a restricted file system say of absolute paths. What grants nothing here is left out; what would take
 * something away and can't be resolved is refused.
 *
 * @throws SandboxCommandError `sandbox_unenforceable`
 */
export function grantsOf(
  entries: readonly FileSystemEntry[],
  context: GrantContext,
  place: string,
): { readonly grants: readonly Grant[]; readonly denied: readonly DeniedPattern[] } {
  const grants: Grant[] = []
  const denied: DeniedPattern[] = []
  const writes = entries.some(({ access }) => access === 'write')
  for (const [index, { path, access }] of entries.entries()) {
    const at = memberPlace(place, `entries[${index}]`)
    if (path.type === 'glob_pattern') {
      if (access === 'deny') denied.push({ pattern: path.pattern, place: at })
      else refuseIfNarrowing(access, writes, `a pattern can only deny: \`${path.pattern}\``, at)
    } else if (path.type === 'path') {
      grants.push({ path: nativePath(path.path, at), access, place: at })
    } else {
      grants.push(...specialGrants(path.value, access, context, writes, at))
    }
  }
  return { grants, denied }
}

function specialGrants(
  special: SpecialPath,
  access: Grant['access'],
  context: GrantContext,
  writes: boolean,
  place: string,
): readonly Grant[] {
  const at = (path: string): readonly Grant[] => [{ path, access, place }]
  switch (special.kind) {
    case 'root':
      return at('/')
    case 'slash_tmp':
      return at('/tmp')
    case 'tmpdir':
      return tmpdirGrants(context.tmpdir, access, writes, place)
    case 'current_working_directory':
      return at(context.cwd)
    case 'project_roots':
      return at(inside(context.cwd, special.subpath ?? '', place))
    case 'minimal':
      if (access === 'deny') throw unenforceable('nothing starts without the folders of `minimal`', place)
      return context.platformFolders.map((path) => ({ path, access: 'read', place }))
    case 'unknown':
      refuseIfNarrowing(access, writes, `the special path \`${special.path}\` is not known here`, place)
      return []
  }
}

/** An entry that would only grant something may be left out, one that takes something away may not. */
function refuseIfNarrowing(access: Grant['access'], writes: boolean, reason: string, place: string): void {
  if (access === 'deny' || (access === 'read' && writes)) throw unenforceable(reason, place)
}

function tmpdirGrants(
  tmpdir: string | undefined,
  access: Grant['access'],
  writes: boolean,
  place: string,
): readonly Grant[] {
  if (tmpdir === undefined || tmpdir === '') return []
  const path = posix.isAbsolute(tmpdir) ? normal(tmpdir) : '/'
  if (path !== '/') return [{ path, access, place }]
  refuseIfNarrowing(access, writes, `TMPDIR is \`${tmpdir}\`, which is no folder of its own`, place)
  return []
}

function nativePath(path: string, place: string): string {
  if (!posix.isAbsolute(path)) throw unenforceable(`\`${path}\` is no path of this system`, place)
  return normal(path)
}

function inside(root: string, subpath: string, place: string): string {
  const path = normal(posix.resolve(root, subpath))
  if (path !== root && !path.startsWith(root === '/' ? '/' : `${root}/`)) {
    throw unenforceable(`the subpath \`${subpath}\` leads out of its root`, place)
  }
  return path
}

/** Without `.`, `..`, doubled and closing slashes. */
export function normal(path: string): string {
  const normalised = posix.normalize(path).replace(/^\/+/, '/')
  return normalised.length > 1 ? normalised.replace(/\/$/, '') : normalised
}
