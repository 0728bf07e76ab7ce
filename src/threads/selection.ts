import { posix, win32 } from 'node:path'
import type { CapabilityRoot } from '../environments/index.js'
import { SelectionError } from '../errors.js'
import type { SelectedEnvironment } from './types.js'

/** A selected environment with everything filled in. Frozen. */
export interface SelectedPlace extends SelectedEnvironment {
  readonly cwd: string
  readonly workspaceRoots: readonly string[]
}

/** What a selection is made against. */
export interface SelectionContext {
  /** What the configuration selects by default. */
  readonly defaultSelection: readonly string[]
  /** Working directory of those that have one of their own. */
  readonly cwdOf: (id: string) => string | undefined
  /** Ids that there are; absent: whatever is asked for is taken, as for a thread that is taken up again. */
  readonly known?: readonly string[]
  /** The thread's working directory. */
  readonly cwd: string
}

/**
 * The environments of a thread, in order, the first one primary (reference: catalog, 8.2). `undefined` asks for those that
 * the configuration selects; an empty list for none.
 *
 * @throws SelectionError an id is unknown or there twice, or a path is absolute in no style
 */
export function selectPlaces(
  asked: readonly SelectedEnvironment[] | undefined,
  context: SelectionContext,
): readonly SelectedPlace[] {
  const wanted = asked ?? context.defaultSelection.map((id) => ({ id }))
  const seen = new Set<string>()
  for (const { id } of wanted) {
    if (asked !== undefined && context.known?.includes(id) === false) throw unknown(id)
    if (seen.has(id)) throw duplicate(id)
    seen.add(id)
  }
  return Object.freeze(wanted.map((one) => placeOf(one, context)))
}

/**
 * Roots as they may be asked for. An empty id and an environment that is not there are let through: such a root yields
 * nothing (reference: catalog, 9.2).
 *
 * @throws SelectionError a path is absolute in no style
 */
export function checkRoots(roots: readonly CapabilityRoot[]): readonly CapabilityRoot[] {
  for (const { id, path } of roots)
    if (!isAbsoluteSomewhere(path))
      throw new SelectionError('relative_path', `Invalid request: path \`${path}\` is not absolute`, {
        data: { root: id, path },
      })
  return Object.freeze(roots.map(({ id, environment, path }) => Object.freeze({ id, environment, path })))
}

function placeOf({ id, cwd, workspaceRoots, permissions }: SelectedEnvironment, context: SelectionContext) {
  const place = cwd ?? context.cwdOf(id) ?? context.cwd
  for (const path of [place, ...(workspaceRoots ?? [])]) if (!isAbsoluteSomewhere(path)) throw relative(id, path)
  return Object.freeze({
    id,
    cwd: place,
    workspaceRoots: Object.freeze([...(workspaceRoots ?? [place])]),
    ...(permissions && { permissions: frozenCopy(permissions) }),
  })
}

/** Authority is what was handed over, whatever becomes of the object afterwards. */
function frozenCopy<Value extends object>(value: Value): Value {
  const copy = structuredClone(value)
  const open: object[] = [copy]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (Object.isFrozen(next)) continue
    Object.freeze(next)
    for (const inner of Object.values(next)) if (typeof inner === 'object' && inner !== null) open.push(inner)
  }
  return copy
}

/** Which style holds there is known only to the environment, which may not be reachable yet. */
function isAbsoluteSomewhere(path: string): boolean {
  // `\dir` names no drive.
  return posix.isAbsolute(path) || (win32.isAbsolute(path) && win32.parse(path).root.length > 1)
}

function unknown(id: string): SelectionError {
  return new SelectionError('unknown_environment', `unknown turn environment id \`${id}\``, {
    data: { environment: id },
  })
}

function duplicate(id: string): SelectionError {
  return new SelectionError('duplicate_environment', `duplicate turn environment id \`${id}\``, {
    data: { environment: id },
  })
}

function relative(id: string, path: string): SelectionError {
  return new SelectionError(
    'relative_cwd',
    `invalid cwd for environment \`${id}\`: path \`${path}\` does not use absolute POSIX or Windows path syntax`,
    { data: { environment: id, path } },
  )
}
