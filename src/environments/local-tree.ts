import { setTimeout as pause } from 'node:timers/promises'
import { groupExists, killGroup, killIdentified, killTreeWindows } from './processes/kill.js'
import { type ProcessRow, type ProcessTable, sameProcess } from './processes/table.js'
import { carriers, withDescendants } from './processes/tree.js'

export interface TreeTimes {
  /** Milliseconds between TERM and KILL (reference: connections, 9.4). */
  readonly termGraceMs: number
  /** Milliseconds to wait for processes to be gone after KILL. */
  readonly killWaitMs: number
}

/**
 * A process and everything it started, as far as the system lets us know: its group and session, and what descends from
 * them by living parent links. What left the session *and* lost its parent made itself a daemon on purpose and stays.
 *
 * The group's number is ours until `groupExists` once says that it is empty; from then on it is never signalled again.
 */
export class LocalTree {
  readonly leader: number
  readonly #table: ProcessTable
  readonly #platform: NodeJS.Platform
  #group: 'ours' | 'gone' = 'ours'
  #leader: 'running' | 'ended' = 'running'
  #outsiders: readonly ProcessRow[] = []

  constructor(leader: number, table: ProcessTable, platform: NodeJS.Platform) {
    this.leader = leader
    this.#table = table
    this.#platform = platform
  }

  /** To be called in the turn in which the leader was collected: only then is its number still certainly ours. */
  leaderEnded(): void {
    this.#leader = 'ended'
    this.#checkGroup()
  }

  /** Whether anything is left, without asking the process table; a group of zombies counts as something. */
  get maybeAlive(): boolean {
    if (this.#platform === 'win32') return this.#leader === 'running'
    this.#checkGroup()
    return this.#group === 'ours' || this.#outsiders.length > 0
  }

  /** TERM, then KILL when the grace is over. True when everything is gone. Never raises; bounded. */
  async end({ termGraceMs, killWaitMs }: TreeTimes, wake: Promise<unknown>): Promise<boolean> {
    if (!(await this.#look())) return this.#forget()
    this.#signal('SIGTERM')
    if (await this.#gone(termGraceMs, wake)) return this.#forget()
    this.killNow()
    return (await this.#gone(killWaitMs, wake)) && this.#forget()
  }

  /** KILL at once, synchronously. Fresh rows tell what stands outside of the group by now. */
  killNow(rows: readonly ProcessRow[] = []): void {
    if (!this.maybeAlive) return
    if (rows.length > 0) this.#note(rows)
    if (this.#platform === 'win32') killTreeWindows(this.leader)
    else this.#signal('SIGKILL')
  }

  /** Everything is gone: from here on the numbers may be given to others. */
  #forget(): true {
    this.#group = 'gone'
    this.#outsiders = []
    return true
  }

  #signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (this.#platform === 'win32') return
    for (const row of this.#outsiders) killIdentified(row, signal, this.#table)
    if (this.#group === 'ours' && killGroup(this.leader, signal) === 'gone') this.#checkGroup()
  }

  async #gone(withinMs: number, wake: Promise<unknown>): Promise<boolean> {
    const end = performance.now() + withinMs
    for (let step = FIRST_STEP_MS; performance.now() < end; step = Math.min(2 * step, LAST_STEP_MS)) {
      const left = Math.max(0, end - performance.now())
      const cancel = new AbortController()
      const waiting = pause(Math.min(step, left), undefined, { signal: cancel.signal }).catch(() => undefined)
      await (this.#leader === 'running' ? Promise.race([waiting, wake]) : waiting)
      cancel.abort()
      if (!(await this.#look())) return true
    }
    return !(await this.#look())
  }

  /** Asks whether anything runs, and notes what stands outside of the group. */
  async #look(): Promise<boolean> {
    if (!this.maybeAlive) return false
    if (this.#platform === 'win32') return true
    let rows: readonly ProcessRow[]
    try {
      rows = await this.#table.rows()
    } catch {
      // Without a table the group is all that can be known.
      return this.maybeAlive
    }
    return this.#note(rows)
  }

  #note(rows: readonly ProcessRow[]): boolean {
    const running = this.#members(rows).filter((row) => !row.zombie)
    this.#outsiders = running.filter((row) => row.group !== this.leader)
    return running.length > 0
  }

  #members(rows: readonly ProcessRow[]): readonly ProcessRow[] {
    const known = rows.filter((row) => this.#outsiders.some((outsider) => sameProcess(outsider, row)))
    return withDescendants(rows, this.#group === 'ours' ? [...carriers(rows, this.leader), ...known] : known)
  }

  #checkGroup(): void {
    if (this.#platform === 'win32' || this.#group === 'gone' || this.#leader === 'running') return
    if (!groupExists(this.leader)) this.#group = 'gone'
  }
}

const FIRST_STEP_MS = 5
const LAST_STEP_MS = 100
