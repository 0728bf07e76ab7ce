import type { ReceivedOn, RequestId } from '../protocol/index.js'
import type { ConnectionRoute } from './route.js'

/** Who waits for a request: what a server's message is attributed to. */
export interface Caller {
  /** Opaque; comes back in `FromServer.origin`. */
  readonly origin: unknown
  readonly route: ConnectionRoute | undefined
}

/** How a transport tells which request a message of the server belongs to. */
export type Attribution =
  /** HTTP: by the response stream that carried it. */
  | 'stream'
  /** stdio: it can't tell, so only when a single request is out. */
  | 'sole'

/** Requests that are over and still known, for what comes in on their streams behind the answer. */
const KEPT = 256

/** The callers' requests that are out on one session. */
export class InFlight {
  readonly #open = new Map<RequestId, Caller>()
  /** Subscriptions: what comes of them names them. */
  readonly #listening = new Map<RequestId, Caller>()
  readonly #over = new Map<RequestId, Caller>()
  readonly #attribution: Attribution

  constructor(attribution: Attribution) {
    this.#attribution = attribution
  }

  add(id: RequestId, caller: Caller, isListening = false): void {
    if (isListening) this.#listening.set(id, caller)
    else this.#open.set(id, caller)
  }

  delete(id: RequestId): void {
    const caller = this.#open.get(id)
    this.#open.delete(id)
    this.#listening.delete(id)
    if (caller === undefined || this.#attribution !== 'stream') return
    this.#over.set(id, caller)
    if (this.#over.size <= KEPT) return
    const [oldest] = this.#over.keys()
    if (oldest !== undefined) this.#over.delete(oldest)
  }

  /** By the id of a subscription as the server gives it back: there are some that make a text of a number. */
  listenerOf(id: RequestId): Caller | undefined {
    return (
      this.#listening.get(id) ?? (typeof id === 'string' && id !== '' ? this.#listening.get(Number(id)) : undefined)
    )
  }

  callerOf({ relatedTo }: ReceivedOn): Caller | undefined {
    if (relatedTo !== undefined) {
      return this.#open.get(relatedTo) ?? this.#listening.get(relatedTo) ?? this.#over.get(relatedTo)
    }
    if (this.#attribution === 'stream' || this.#open.size !== 1) return undefined
    const [sole] = this.#open.values()
    return sole
  }
}
