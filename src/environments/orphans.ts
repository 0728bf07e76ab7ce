import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type JournalRecord, journalFolder, parseRecord } from './journal.js'
import { killIdentified } from './processes/kill.js'
import { type ProcessRow, type ProcessTable, sameProcess } from './processes/rows.js'
import { processTable } from './processes/table.js'
import { carriers, provenTree } from './processes/tree.js'

export interface ReapOptions {
  readonly platform?: NodeJS.Platform
  readonly table?: ProcessTable
  /** Milliseconds between TERM and KILL. */
  readonly termGraceMs?: number
  /** Milliseconds to wait for processes to be gone after KILL. */
  readonly killWaitMs?: number
}

export interface OrphanTree {
  /** The label that the tree was started with. */
  readonly label: string
  readonly leader: number
  readonly pids: readonly number[]
}

export interface ReapReport {
  /** Trees that a dead Reeve had left, and that are gone now. */
  readonly reaped: readonly OrphanTree[]
  /** Still running: `unproven` may belong to somebody else by now, `unkillable` outlived KILL. */
  readonly left: readonly (OrphanTree & { readonly reason: 'unproven' | 'unkillable' })[]
  /** Journal files that could not be read or removed. */
  readonly problems: readonly Error[]
}

/**
 * Ends what earlier Reeve processes left behind when they were killed. To be called once at start.
 *
 * A journal file counts only if it was written in this boot and pid namespace and its owner is dead; which processes are
 * certainly ours is decided by `provenTree`, and each is compared with its start again right before a signal. Files
 * of living owners are left alone, so any number of Reeve processes may run and reap at once. Never raises.
 */
export async function reapOrphans(home: string, options: ReapOptions = {}): Promise<ReapReport> {
  const table = options.table ?? processTable(options.platform ?? process.platform)
  const report: MutableReport = { reaped: [], left: [], problems: [] }
  const entries = await readJournal(journalFolder(home), table.place, report.problems)
  if (entries.length === 0) return report
  try {
    const orphaned = await withoutOwner(entries, table)
    if (orphaned.length === 0) return report
    const rows = await table.rows()
    const trees = orphaned.map((entry) => new Orphan(entry, rows))
    await end(
      trees.filter((tree) => tree.mayEnd()),
      table,
      options,
    )
    for (const tree of trees) await settle(tree, rows, report)
  } catch (error) {
    report.problems.push(asError(error))
  }
  return report
}

interface JournalFile {
  readonly file: string
  readonly record: JournalRecord
}

type MutableReport = { reaped: OrphanTree[]; left: ReapReport['left'][number][]; problems: Error[] }

/** Entries whose owner is dead. One that waits to be collected by its parent is dead. */
async function withoutOwner(entries: readonly JournalFile[], table: ProcessTable): Promise<readonly JournalFile[]> {
  // The usual case by far is another living Reeve: one look at each owner, where the system allows that.
  const rows = table.rowOf === undefined ? await table.rows() : []
  const now = table.rowOf ?? ((pid: number) => rows.find((row) => row.pid === pid))
  return entries.filter(({ record: { owner } }) => {
    const row = now(owner.pid)
    return row === undefined || row.zombie || !sameProcess(row, owner)
  })
}

/** What is known of one recorded tree. What was proven once vouches for what it forks meanwhile. */
class Orphan {
  readonly file: string
  readonly record: JournalRecord
  readonly #proven = new Map<string, ProcessRow>()
  alive: readonly ProcessRow[] = []

  constructor({ file, record }: JournalFile, rows: readonly ProcessRow[]) {
    this.file = file
    this.record = record
    this.look(rows)
  }

  look(rows: readonly ProcessRow[]): void {
    const members = [...this.record.members, ...this.#proven.values()]
    this.alive = running(provenTree(rows, { leader: this.record.leader, members }))
    for (const row of this.alive) this.#proven.set(`${row.pid} ${row.start}`, row)
  }

  /** A Reeve that was itself started by an orphan does not end its own ancestors. */
  mayEnd(): boolean {
    return !this.alive.some((row) => row.pid === process.pid)
  }

  get proven(): readonly ProcessRow[] {
    return [...this.#proven.values()]
  }

  describe(rows: readonly ProcessRow[]): OrphanTree {
    return { label: this.record.label, leader: this.record.leader.pid, pids: rows.map(({ pid }) => pid) }
  }
}

/** TERM to all, then KILL, looking again before each step. */
async function end(
  trees: readonly Orphan[],
  table: ProcessTable,
  { termGraceMs = 2000, killWaitMs = 2000 }: ReapOptions,
): Promise<void> {
  const alive = () => trees.flatMap((tree) => tree.alive)
  const step = async () => {
    await pause(STEP_MS)
    const rows = await table.rows()
    for (const tree of trees) tree.look(rows)
  }
  for (const row of alive()) killIdentified(row, 'SIGTERM', table)
  for (const patience = until(termGraceMs); alive().length > 0 && patience.left(); ) await step()
  for (const patience = until(killWaitMs); alive().length > 0 && patience.left(); ) {
    for (const row of alive()) killIdentified(row, 'SIGKILL', table)
    await step()
  }
}

async function settle(tree: Orphan, rows: readonly ProcessRow[], report: MutableReport): Promise<void> {
  if (!tree.mayEnd()) return
  if (tree.alive.length > 0) {
    report.left.push({ ...tree.describe(tree.alive), reason: 'unkillable' })
    return
  }
  const unproven = tree.proven.length === 0 ? unprovenMembers(rows, tree.record) : []
  if (unproven.length > 0) {
    report.left.push({ ...tree.describe(unproven), reason: 'unproven' })
    return
  }
  if (tree.proven.length > 0) report.reaped.push(tree.describe(tree.proven))
  await remove(tree.file, report.problems)
}

/** Carriers of a dead leader's number without a witness. A leader whose number was reused disproves them. */
function unprovenMembers(rows: readonly ProcessRow[], { leader }: JournalRecord): readonly ProcessRow[] {
  return rows.some((row) => row.pid === leader.pid) ? [] : running(carriers(rows, leader.pid))
}

/** The records written in this place. Others are left alone, until they are so old that they mean nothing. */
async function readJournal(folder: string, place: string, problems: Error[]): Promise<JournalFile[]> {
  let names: string[]
  try {
    names = await readdir(folder)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') problems.push(asError(error))
    return []
  }
  const entries: JournalFile[] = []
  for (const name of names.filter((candidate) => FILE_NAME.test(candidate))) {
    const file = join(folder, name)
    try {
      const record = name.endsWith('.tmp') ? undefined : parseRecord(await readFile(file, 'utf8'))
      if (record?.place === place) entries.push({ file, record })
      else if (Date.now() - (await stat(file)).mtimeMs > FOREIGN_KEPT_MS) await remove(file, problems)
    } catch (error) {
      // Its owner removed it meanwhile.
      if (codeOf(error) !== 'ENOENT') problems.push(asError(error))
    }
  }
  return entries
}

const FILE_NAME = /^\d+-\d+-\d+\.json(\.tmp)?$/
const FOREIGN_KEPT_MS = 30 * 24 * 3600 * 1000
const STEP_MS = 25

function running(rows: readonly ProcessRow[]): readonly ProcessRow[] {
  return rows.filter((row) => !row.zombie)
}

function until(ms: number): { left(): boolean } {
  const end = performance.now() + ms
  return { left: () => performance.now() < end }
}

async function remove(file: string, problems: Error[]): Promise<void> {
  try {
    await rm(file, { force: true })
  } catch (error) {
    problems.push(asError(error))
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
