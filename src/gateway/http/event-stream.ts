import type { ReplayLog } from './replay-log.js'
import type { SseConnection } from './sse-connection.js'

/**
 * One logical stream of a session: the standalone one, or the answer to one POST. It outlives its connection: what is
 * pushed meanwhile is logged, and a client that names the last event it saw gets the rest.
 *
 * Ids are `<stream>-<sequence>`, unique in the session, and tell the stream that they belong to.
 */
export class EventStream {
  readonly id: number
  readonly #log: ReplayLog
  #connection: SseConnection | undefined
  /** Of the last event made, and of the last one that was written to a connection. */
  #sequence = 0
  #written = 0
  #finished = false

  constructor(id: number, log: ReplayLog) {
    this.id = id
    this.#log = log
  }

  get attached(): boolean {
    return this.#connection !== undefined
  }

  get finished(): boolean {
    return this.#finished
  }

  /** True when nothing would come after this event: a resumed connection has nothing to wait for. */
  exhausted(after: number): boolean {
    return this.#finished && after >= this.#sequence
  }

  /** Knows no event with this sequence: the id was never given out. */
  precedes(sequence: number): boolean {
    return sequence > this.#sequence
  }

  /**
   * Writes to `connection` from now on, beginning with what comes after event `after`; without it, with what no
   * connection has taken yet. A former connection is ended: the newest is the one that the client reads.
   * `retryMs` opens with an empty event that makes the stream resumable before anything happens on it.
   */
  attach(connection: SseConnection, after: number | undefined, retryMs: number | undefined): void {
    const former = this.#connection
    this.#connection = connection
    former?.end()
    const from = after ?? this.#written
    if (retryMs !== undefined) connection.write(`id: ${this.id}-${from}\nretry: ${retryMs}\ndata: \n\n`)
    for (const event of this.#log.after(this.id, from)) {
      if (!connection.write(event.frame)) return
      this.#written = Math.max(this.#written, event.sequence)
    }
    if (this.#finished) connection.end()
  }

  detach(connection: SseConnection): void {
    if (this.#connection === connection) this.#connection = undefined
  }

  /** @param json One message, without line breaks. */
  push(json: string): void {
    this.#sequence += 1
    const sequence = this.#sequence
    const frame = `event: message\nid: ${this.id}-${sequence}\ndata: ${json}\n\n`
    this.#log.add({ stream: this.id, sequence, frame })
    if (this.#connection?.write(frame)) this.#written = sequence
  }

  /** Nothing more will come. */
  finish(): void {
    this.#finished = true
    this.#connection?.end()
    this.#connection = undefined
  }
}

/** Reads an event id back; undefined for anything this side never wrote. */
export function parseEventId(text: string): { stream: number; sequence: number } | undefined {
  const match = /^(\d{1,15})-(\d{1,15})$/.exec(text)
  return match === null ? undefined : { stream: Number(match[1]), sequence: Number(match[2]) }
}
