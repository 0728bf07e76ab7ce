import { type ProcessIdentity, type ProcessRow, sameProcess } from './rows.js'

/** What a journal says about one tree that was started. */
export interface RecordedTree {
  readonly leader: ProcessIdentity
  /** Further processes that were seen in the leader's session while the leader was alive. */
  readonly members: readonly ProcessIdentity[]
}

/**
 * The processes that are certainly the recorded tree's; zombies included, since they hold numbers.
 *
 * The proof. Every tree is started as leader of a session and a group of its own, whose number is the leader's pid.
 * 1. A process with a recorded pid *and* start is the recorded one: a number cannot be given out twice within one tick.
 * 2. The system gives no pid out while it is the number of a living group or session. So as long as one process of (1)
 *    stands in session or group N, that N is still the one we founded, and everything in it descends from our leader:
 *    sessions are only entered by being forked into them, groups only from within their session.
 * 3. What descends by living parent links from a process of (1) or (2) was started by it.
 * Without a process of (1) nothing is ours: the number may have been given to somebody else meanwhile, so members that
 * merely carry it, and merely started later than our leader, prove nothing.
 */
export function provenTree(rows: readonly ProcessRow[], recorded: RecordedTree): readonly ProcessRow[] {
  const known = [recorded.leader, ...recorded.members]
  const witnesses = rows.filter((row) => known.some((identity) => sameProcess(row, identity)))
  const held = witnesses.some((row) => carries(row, recorded.leader.pid))
  return withDescendants(rows, held ? [...witnesses, ...carriers(rows, recorded.leader.pid)] : witnesses)
}

/** Processes that carry the number of a group or session. */
export function carriers(rows: readonly ProcessRow[], number: number): readonly ProcessRow[] {
  return rows.filter((row) => carries(row, number))
}

/** The roots and everything that descends from them by parent links. */
export function withDescendants(rows: readonly ProcessRow[], roots: readonly ProcessRow[]): readonly ProcessRow[] {
  const children = byParent(rows)
  const found = new Map<number, ProcessRow>()
  const open = [...roots]
  for (let row = open.pop(); row !== undefined; row = open.pop()) {
    if (found.has(row.pid)) continue
    found.set(row.pid, row)
    const { start } = row
    // Windows keeps the number of a parent that is gone: an older "child" belongs to an earlier holder of it.
    for (const child of children.get(row.pid) ?? []) if (child.start >= start) open.push(child)
  }
  return [...found.values()]
}

function byParent(rows: readonly ProcessRow[]): ReadonlyMap<number, readonly ProcessRow[]> {
  const children = new Map<number, ProcessRow[]>()
  for (const row of rows) {
    const siblings = children.get(row.parent)
    if (siblings === undefined) children.set(row.parent, [row])
    else siblings.push(row)
  }
  return children
}

function carries(row: ProcessRow, number: number): boolean {
  return row.group === number || row.session === number
}
