import { setTimeout as pause } from 'node:timers/promises'
import { groupExists, killGroup, killIdentified, killTreeWindows } from './processes/kill.js'
import { type ProcessRow, type ProcessTable, sameProcess } from './processes/rows.js'
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
 * The leader's pid, as number of group and session, is ours while the leader was not collected or anyone carries it. Once
 * a look finds nobody the number is let go and never signalled again.
 */
export class LocalTree {
  readonly leader: number
  readonly #table: ProcessTable
  readonly #platform: NodeJS.Platform
  #number: 'ours' | 'released' = 'ours'
  #leaderIs: 'running' | 'ended' = 'running'
  /** Members that a signal to the group does not reach. */
  #outsiders: readonly ProcessRow[] = []

  constructor(leader: number, table: ProcessTable, platform: NodeJS.Platform) {
    this.leader = leader
    this.#table = table
    this.#platform = platform
  }

  /** The leader was collected. */
  leaderEnded(): void {
    this.#leaderIs = 'ended'
    // Windows forgets what belongs together when the first process ends.
    if (this.#platform === 'win32') this.#number = 'released'
  }

  /**
   * TERM, then KILL when the grace is over. True when everything is gone. Never raises; bounded.
   *
   * @param leaderExit wakes the wait
   */
  async end({ termGraceMs, killWaitMs }: TreeTimes, leaderExit: Promise<unknown>): Promise<boolean> {
    if (!(await this.#look())) return true
    this.#signal('SIGTERM')
    if (await this.#gone(termGraceMs, leaderExit)) return true
    await this.#look()
    this.killNow()
    return this.#gone(killWaitMs, leaderExit)
  }

  /** KILL at once, synchronously. Fresh rows tell what stands outside of the group by now. */
  killNow(rows: readonly ProcessRow[] = []): void {
    if (rows.length > 0) this.#note(rows)
    if (this.#number === 'released') return
    if (this.#platform === 'win32') killTreeWindows(this.leader)
    else this.#signal('SIGKILL')
  }

  /** The outsiders first: a parent that ends before its child would hide it. */
  #signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (this.#platform === 'win32') return
    for (const row of this.#outsiders) killIdentified(row, signal, this.#table)
    if (this.#number === 'ours') killGroup(this.leader, signal)
  }

  async #gone(withinMs: number, leaderExit: Promise<unknown>): Promise<boolean> {
    const end = performance.now() + withinMs
    for (let step = FIRST_STEP_MS; performance.now() < end; step = Math.min(2 * step, LAST_STEP_MS)) {
      const left = Math.max(0, end - performance.now())
      if (this.#leaderIs === 'running') await within(left, leaderExit)
      else await pause(Math.min(step, left))
      if (this.#leaderIs === 'ended' && !(await this.#look())) return true
    }
    return false
  }

  /** Asks whether anything runs, and notes what stands outside of the group. */
  async #look(): Promise<boolean> {
    if (this.#number === 'released') return false
    if (this.#platform === 'win32') return true
    let rows: readonly ProcessRow[]
    try {
      rows = await this.#table.rows()
    } catch {
      // Without a table the group is all that can be known.
      if (!groupExists(this.leader)) this.#number = 'released'
      return this.#number === 'ours'
    }
    return this.#note(rows)
  }

  #note(rows: readonly ProcessRow[]): boolean {
    if (this.#number === 'released') return false
    const known = rows.filter((row) => this.#outsiders.some((outsider) => sameProcess(outsider, row)))
    const tree = withDescendants(rows, [...carriers(rows, this.leader), ...known])
    const running = tree.filter((row) => !row.zombie)
    this.#outsiders = running.filter((row) => row.group !== this.leader)
    // A leader that ended just now may not have been collected: until then the number stays ours.
    if (running.length === 0 && this.#leaderIs === 'ended') this.#number = 'released'
    return running.length > 0
  }
}

const FIRST_STEP_MS = 5
const LAST_STEP_MS = 100

async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  const timer = new AbortController()
  await Promise.race([promise, pause(ms, undefined, { signal: timer.signal }).catch(() => undefined)])
  timer.abort()
}
