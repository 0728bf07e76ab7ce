import type { SessionHello } from '../wire/hello.js'
import type { GoodbyeReason } from '../wire/session-frames.js'
import type { BrokerSession } from './open-session.js'

/** One client of the broker, as people see it. */
export interface SessionTableRow {
  /** Counts from 1 in this broker. */
  readonly number: number
  readonly mode: SessionHello['mode'] | 'host'
  readonly pid: number
  readonly cwd: string
  /** Of the client's Reeve. */
  readonly version: string
  /** Milliseconds since the epoch. */
  readonly since: number
  readonly resumed: number
  /** What an MCP client said of itself. */
  readonly client: unknown
}

/** A client's place in the table, from its hello to its end. */
export interface SessionEntry {
  /** Resolves when it has left. */
  readonly gone: Promise<void>
  opened(session: BrokerSession): void
  left(): void
}

/** Who comes. `host`: the process that the broker runs in, as a client of it. */
type Arrival = Pick<SessionTableRow, 'mode' | 'pid' | 'cwd' | 'resumed'>

interface Seat {
  readonly row: Omit<SessionTableRow, 'client'>
  session: BrokerSession | undefined
}

/** The clients of one broker, also those whose session is still being opened. */
export class SessionTable {
  readonly #seats = new Set<Seat>()
  #last = 0
  #onEmpty: () => void = () => undefined

  get size(): number {
    return this.#seats.size
  }

  enter({ mode, pid, cwd, resumed }: Arrival, version: string): SessionEntry {
    this.#last += 1
    const row = { number: this.#last, mode, pid, cwd, version, resumed, since: Date.now() }
    const seat: Seat = { row, session: undefined }
    this.#seats.add(seat)
    let left: () => void = () => undefined
    const gone = new Promise<void>((resolve) => {
      left = resolve
    })
    return {
      gone,
      opened: (session) => {
        seat.session = session
      },
      left: () => {
        this.#seats.delete(seat)
        left()
        if (this.#seats.size === 0) this.#onEmpty()
      },
    }
  }

  rows(): readonly SessionTableRow[] {
    return [...this.#seats].map(({ row, session }) => ({ ...row, client: session?.client() ?? null }))
  }

  /** Asks all to go, waits until they have, and ends those that stay longer than `patienceMs`. */
  async dismiss(reason: GoodbyeReason, patienceMs: number): Promise<void> {
    for (const { session } of this.#seats) session?.goodbye(reason)
    await this.#emptyWithin(patienceMs)
    await Promise.all([...this.#seats].map(({ session }) => session?.close()))
  }

  async #emptyWithin(ms: number): Promise<void> {
    if (this.#seats.size === 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#onEmpty = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
