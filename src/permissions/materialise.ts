import { PermissionProfileError } from '../errors.js'
import { isRecord, type Members } from './members.js'
import { isAbsolutePath, type PathStyle, pathRules } from './path-style.js'

/** Where the special paths of a profile lie in the environment that it governs. */
export interface WorkspaceRoots {
  /** Absolute, in the environment's style. */
  readonly cwd: string
  /** What `project_roots` stands for; absolute. Default: the cwd alone. */
  readonly roots?: readonly string[]
  /** Default: posix. */
  readonly style?: PathStyle
}

/**
 * A profile whose workspace roots are absolute paths, as servers get it (reference: authority, 9): `project_roots` and
 * `current_working_directory` become entries of type `path`, one a root. Everything else, unknown members included, stays
 * as it is; `root`, `minimal`, `tmpdir` and `slash_tmp` mean the same everywhere. Takes the object that the profile came as.
 *
 * @throws PermissionProfileError when a subpath leads out of its root, or a root is not absolute
 */
export function materialiseRoots<Profile extends object>(profile: Profile, at: WorkspaceRoots): Profile {
  if (!isRecord(profile)) return profile
  const policy = profile.file_system
  if (!isRecord(policy) || !Array.isArray(policy.entries)) return profile
  const given: readonly unknown[] = policy.entries
  const entries = given.flatMap((entry, index) => {
    if (!isRecord(entry)) return [entry]
    const paths = rootsOf(entry.path, at, `file_system.entries[${index}].path`)
    return paths === undefined ? [entry] : paths.map((path) => Object.freeze({ ...entry, path }))
  })
  return Object.freeze({
    ...profile,
    file_system: Object.freeze({ ...policy, entries: Object.freeze(entries) }),
  })
}

function rootsOf(path: unknown, at: WorkspaceRoots, place: string): readonly Members[] | undefined {
  if (!isRecord(path) || path.type !== 'special' || !isRecord(path.value)) return undefined
  const { kind, subpath } = path.value
  if (kind !== 'project_roots' && kind !== 'current_working_directory') return undefined
  const roots = kind === 'project_roots' ? (at.roots ?? [at.cwd]) : [at.cwd]
  const under = kind === 'project_roots' && typeof subpath === 'string' ? subpath : ''
  return roots.map((root) => Object.freeze({ type: 'path', path: inside(root, under, at.style, place) }))
}

/** A folder in a root; one that leads out of it would be another root than the one that was named. */
function inside(root: string, subpath: string, style: PathStyle = 'posix', place: string): string {
  if (!isAbsolutePath(root, style)) {
    throw new PermissionProfileError(`${place}: the root \`${root}\` is not an absolute path`, { place })
  }
  if (subpath === '') return root
  const rules = pathRules(style)
  const path = rules.resolve(root, subpath)
  const way = rules.relative(root, path)
  if (way === '..' || way.startsWith(`..${rules.sep}`) || rules.isAbsolute(way)) {
    throw new PermissionProfileError(`${place}: the subpath \`${subpath}\` leads out of its root`, { place })
  }
  return path
}
