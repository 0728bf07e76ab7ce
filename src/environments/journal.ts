import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ProcessIdentity, type ProcessTable, sameProcess } from './processes/rows.js'

/** One file of the journal: a process tree that was started, and who answers for it. */
export interface JournalRecord {
  readonly version: 1
  readonly place: string
  readonly owner: ProcessIdentity
  readonly leader: ProcessIdentity
  readonly members: readonly ProcessIdentity[]
  readonly label: string
}

export function journalFolder(home: string): string {
  return join(home, 'run')
}

/**
 * What this process has started and not yet seen end, on disk, so that the next start can end what a killed one left
 * behind: `$REEVE_HOME/run/<owner pid>-<owner start>-<leader pid>.json`, a file per tree. A file of its own is written
 * and removed whole, so several Reeve processes share the folder and a crash in mid-write spoils one entry at most.
 */
export class Journal {
  readonly #folder: string
  readonly #table: ProcessTable
  readonly #owner: ProcessIdentity

  private constructor(folder: string, table: ProcessTable, owner: ProcessIdentity) {
    this.#folder = folder
    this.#table = table
    this.#owner = owner
  }

  /** Raises when the folder cannot be made or this process is not in the table. */
  static async open(home: string, table: ProcessTable): Promise<Journal> {
    const folder = journalFolder(home)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const start = await startOf(table, process.pid)
    if (start === undefined) throw new Error(`the process table does not show this process (${process.pid})`)
    return new Journal(folder, table, { pid: process.pid, start })
  }

  /**
   * To be called in the very turn that started the tree: where the system tells a start at once (Linux) the entry is on
   * disk before anything else runs, and only a kill between fork and this call is not covered; elsewhere the gap is the
   * time that the process table takes. Raises when it cannot be written.
   */
  add(leader: number, label: string): JournalEntry {
    const entry = new JournalEntry(join(this.#folder, `${this.#owner.pid}-${this.#owner.start}-${leader}.json`), {
      version: 1,
      place: this.#table.place,
      owner: this.#owner,
      label,
    })
    const start = this.#table.rowOf?.(leader)?.start
    if (start !== undefined) entry.begin({ pid: leader, start })
    return entry
  }
}

/** The journal's view of one tree. */
export class JournalEntry {
  readonly #file: string
  readonly #fixed: Pick<JournalRecord, 'version' | 'place' | 'owner' | 'label'>
  #leader: ProcessIdentity | undefined
  #members: readonly ProcessIdentity[] = []
  #state: 'open' | 'removed' = 'open'

  constructor(file: string, fixed: Pick<JournalRecord, 'version' | 'place' | 'owner' | 'label'>) {
    this.#file = file
    this.#fixed = fixed
  }

  get leader(): ProcessIdentity | undefined {
    return this.#leader
  }

  begin(leader: ProcessIdentity): void {
    if (this.#state === 'removed') return
    this.#leader = leader
    this.#write()
  }

  /** Notes who else stands in the tree; writes only when it changed. Raises when it cannot be written. */
  note(members: readonly ProcessIdentity[]): void {
    if (this.#state === 'removed' || this.#leader === undefined || sameMembers(members, this.#members)) return
    this.#members = members
    this.#write()
  }

  /** The whole tree is gone. */
  remove(): void {
    if (this.#state === 'removed') return
    this.#state = 'removed'
    if (this.#leader !== undefined) rmSync(this.#file, { force: true })
  }

  #write(): void {
    const record = { ...this.#fixed, leader: this.#leader, members: this.#members }
    const draft = `${this.#file}.tmp`
    writeFileSync(draft, `${JSON.stringify(record)}\n`, { mode: 0o600 })
    renameSync(draft, this.#file)
  }
}

/** Checks a file's text; undefined when it is no record. A number that names no ordinary process is refused. */
export function parseRecord(text: string): JournalRecord | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const { version, place, owner, leader, members, label } = value as Record<string, unknown>
  if (version !== 1 || typeof place !== 'string' || typeof label !== 'string') return undefined
  // In a container Reeve itself may be process 1.
  if (!isIdentity(owner, 1) || !isIdentity(leader)) return undefined
  if (!Array.isArray(members) || !members.every((member) => isIdentity(member))) return undefined
  return { version, place, owner, leader, members, label }
}

async function startOf(table: ProcessTable, pid: number): Promise<number | undefined> {
  if (table.rowOf !== undefined) return table.rowOf(pid)?.start
  return (await table.rows()).find((row) => row.pid === pid)?.start
}

/** 0 and negative numbers address groups in `kill`, and 1 is not ours to end. */
function isIdentity(value: unknown, least = 2): value is ProcessIdentity {
  if (typeof value !== 'object' || value === null) return false
  const { pid, start } = value as Record<string, unknown>
  return Number.isSafeInteger(pid) && (pid as number) >= least && Number.isSafeInteger(start)
}

function sameMembers(a: readonly ProcessIdentity[], b: readonly ProcessIdentity[]): boolean {
  return a.length === b.length && a.every((one, index) => sameProcess(one, b[index] ?? { pid: 0, start: 0 }))
}
