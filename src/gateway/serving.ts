import type { ServerStatus } from '../connections/index.js'
import type { JsonObject } from '../protocol/index.js'
import type { Thread } from '../threads/index.js'

/** A gateway that runs. */
export interface Serving extends AsyncDisposable {
  /** Resolves when it has ended, by whichever side. Never rejects. */
  readonly closed: Promise<void>
  /** Ends every session in an orderly way; resolves when their threads are gone. Idempotent. */
  close(): Promise<void>
  sessions(): readonly SessionRow[]
}

/** One client, as an operator sees it; a modern one has no session, and its row stands for all that say the same of themselves. Holds nothing that would let somebody speak for the client. */
export interface SessionRow {
  /** Counts from 1 in this gateway. */
  readonly number: number
  readonly principal: string
  /** Milliseconds since the epoch. */
  readonly openedAt: number
  /** Absent until the client has initialized. */
  readonly client?: { readonly info: JsonObject; readonly revision: string }
  readonly servers: readonly ServerStatus[]
}

/** One client or kind of clients that is being served: a session, or the thread of modern requests. */
export interface Served {
  readonly openedAt: number
  readonly client: { readonly info: JsonObject; readonly revision: string } | undefined
  readonly thread: Thread | undefined
  /** Resolves when it is gone. Never rejects. */
  readonly closed: Promise<void>
  close(): Promise<void>
}

/** The open sessions of one gateway, in the order in which they came. */
export class OpenSessions {
  readonly #open = new Map<number, { readonly session: Served; readonly principal: string }>()
  #last = 0

  add(session: Served, principal: string): void {
    this.#last += 1
    const number = this.#last
    this.#open.set(number, { session, principal })
    void session.closed.then(() => this.#open.delete(number))
  }

  rows(): readonly SessionRow[] {
    return [...this.#open].map(([number, { session, principal }]) => ({
      number,
      principal,
      openedAt: session.openedAt,
      servers: session.thread?.servers() ?? [],
      ...(session.client && { client: session.client }),
    }))
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map(({ session }) => session.close()))
  }
}

/** Closes a gateway when this process is told to end. Returns what stops listening for that. */
export function closeOnSignals(signals: readonly NodeJS.Signals[], close: () => Promise<void>): () => void {
  const onSignal = () => void close()
  for (const signal of signals) process.on(signal, onSignal)
  return () => {
    for (const signal of signals) process.off(signal, onSignal)
  }
}

export const ENDING_SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM']
