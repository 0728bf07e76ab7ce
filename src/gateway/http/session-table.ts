import { randomBytes } from 'node:crypto'
import { shareOf } from '../share.js'
import { REFUSALS, type Refusal } from './answers.js'
import type { Principal } from './authentication.js'
import type { HttpLimits } from './limits.js'
import { HttpSessionTransport } from './session-transport.js'

export interface TableEntry {
  readonly transport: HttpSessionTransport
  readonly principal: Principal
}

/**
 * The open sessions of one gateway. Active ones are never given up for newcomers; one that was idle for its whole time
 * to live is closed, and at the limit one that has no open stream and was idle for a while makes room.
 */
export class SessionTable {
  readonly #limits: HttpLimits
  readonly #sessions = new Map<string, TableEntry>()
  readonly #sweeper: NodeJS.Timeout
  #closed = false

  constructor(limits: HttpLimits) {
    this.#limits = limits
    this.#sweeper = setInterval(() => this.#sweep(), Math.max(50, Math.min(limits.idleMs / 4, 60_000)))
    this.#sweeper.unref()
  }

  get(id: string): TableEntry | undefined {
    return this.#sessions.get(id)
  }

  get size(): number {
    return this.#sessions.size
  }

  /** Refuses when the table, or the share of its principal, is full of sessions in use, or closed. */
  open(principal: Principal): HttpSessionTransport | Refusal {
    if (this.#closed) return REFUSALS.closing
    const own = () => [...this.#sessions.values()].filter((entry) => entry.principal.id === principal.id)
    const share = shareOf(this.#limits.sessions, principal.id)
    if (own().length >= share) this.#makeRoom(own())
    if (own().length >= share) return REFUSALS.tooManySessions
    if (this.#sessions.size >= this.#limits.sessions) this.#makeRoom([...this.#sessions.values()])
    if (this.#sessions.size >= this.#limits.sessions) return REFUSALS.tooManySessions
    const id = randomBytes(32).toString('base64url')
    const transport = new HttpSessionTransport(id, this.#limits, () => this.#sessions.delete(id))
    this.#sessions.set(id, { transport, principal })
    return transport
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#sweeper)
    await Promise.all([...this.#sessions.values()].map(({ transport }) => transport.close()))
  }

  #sweep(): void {
    for (const { transport } of [...this.#sessions.values()]) {
      if ((transport.idleMs ?? 0) >= this.#limits.idleMs) void transport.close()
    }
  }

  #makeRoom(among: readonly TableEntry[]): void {
    const idle = among
      .map(({ transport }) => ({ transport, ms: transport.idleMs ?? -1 }))
      .sort((a, b) => b.ms - a.ms)[0]
    if (idle !== undefined && idle.ms >= Math.min(this.#limits.evictAfterMs, this.#limits.idleMs)) {
      void idle.transport.close()
    }
  }
}
