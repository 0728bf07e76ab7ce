import type { JournalEntry } from './journal.js'
import { type ProcessRow, type ProcessTable, sameProcess } from './processes/rows.js'
import { carriers, withDescendants } from './processes/tree.js'

/**
 * Writes into the journal, at growing intervals, who stands in each running tree. Should leader and owner both die, these
 * processes are what proves the rest of the tree ours. Costs one look at the process table a time, however many trees.
 */
export class MemberNotes {
  readonly #table: ProcessTable
  readonly #onfault: (error: unknown) => void
  readonly #entries = new Map<JournalEntry, number>()
  #timer: NodeJS.Timeout | undefined
  #step = 0

  constructor(table: ProcessTable, onfault: (error: unknown) => void) {
    this.#table = table
    this.#onfault = onfault
  }

  /** Starts over with short intervals: most trees grow right after their start. */
  add(entry: JournalEntry, leader: number): void {
    this.#entries.set(entry, leader)
    this.#step = 0
    this.#schedule(entry.leader === undefined ? 0 : FIRST_DELAY_MS)
  }

  delete(entry: JournalEntry): void {
    this.#entries.delete(entry)
    if (this.#entries.size === 0) this.stop()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** Looks now. Reports faults, never rejects. */
  async note(): Promise<void> {
    try {
      const rows = await this.#table.rows()
      for (const [entry, leader] of this.#entries) noteOne(entry, leader, rows)
    } catch (error) {
      this.#onfault(error)
    }
  }

  #schedule(delay: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(async () => {
      await this.note()
      const next = DELAYS_MS[this.#step] ?? LONGEST_DELAY_MS
      this.#step += 1
      if (this.#timer !== undefined && this.#entries.size > 0) this.#schedule(next)
    }, delay)
    this.#timer.unref()
  }
}

const FIRST_DELAY_MS = 250
const DELAYS_MS = [1000, 5000, 30_000]
const LONGEST_DELAY_MS = 60_000

function noteOne(entry: JournalEntry, pid: number, rows: readonly ProcessRow[]): void {
  const leader = rows.find((row) => row.pid === pid)
  if (leader === undefined) return
  if (entry.leader === undefined) entry.begin({ pid, start: leader.start })
  else if (!sameProcess(entry.leader, leader)) return
  // Where there are no sessions, what was started by the leader is noted one by one.
  const tree = leader.group === null ? withDescendants(rows, [leader]) : carriers(rows, pid)
  const others = tree.filter((row) => row.pid !== pid && !row.zombie)
  entry.note(others.map((row) => ({ pid: row.pid, start: row.start })).sort((a, b) => a.pid - b.pid))
}
