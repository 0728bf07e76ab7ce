import { ClosedError, OperationTimeoutError, type ReeveError, TransportClosedError } from '../errors.js'
import { displayKey, type ServerKey } from '../identity/index.js'
import { ActiveClock, type Deadline } from '../protocol/index.js'
import { abortError } from './abort.js'
import type { Standstill } from './standstill.js'

/** What a caller gives a request to go by. */
export interface CallLimits {
  readonly signal?: AbortSignal | undefined
  /** Milliseconds of active time. */
  readonly timeoutMs?: number | undefined
}

/** The requests of one holder, from when it asks until it is answered, waiting included. */
export class HeldCalls {
  readonly #key: ServerKey
  readonly #open = new Set<HeldCall>()
  /** Stands still while the holder answers a question. Other holders' questions cost its calls no patience, nor save any. */
  readonly #clock = new ActiveClock()
  readonly #standstill: Standstill | undefined
  #ended = false

  constructor(key: ServerKey, standstill?: Standstill) {
    this.#key = key
    this.#standstill = standstill
    standstill?.join(this.#clock)
  }

  begin(method: string, limits: CallLimits): HeldCall {
    const call = new HeldCall(limits.signal, () => this.#open.delete(call))
    this.#open.add(call)
    if (this.#ended) call.end(this.#closed())
    const { timeoutMs } = limits
    if (timeoutMs !== undefined) {
      const expired = () => call.end(new OperationTimeoutError(method, timeoutMs, this.#key))
      call.expiresAt(this.#clock.deadline(timeoutMs, expired))
    }
    return call
  }

  /** Runs the answering of a question, in which no call gets older. */
  async answering<T>(answer: () => Promise<T>): Promise<T> {
    this.#clock.pause()
    try {
      return await answer()
    } finally {
      this.#clock.resume()
    }
  }

  /** Ends what is open, and whatever else comes. What was sent may have been carried out. */
  end(): void {
    this.#ended = true
    this.#standstill?.leave(this.#clock)
    const cut = new TransportClosedError('Transport closed', { key: this.#key, sent: true })
    for (const call of [...this.#open]) call.end(call.isOut ? cut : this.#closed())
  }

  #closed(): ReeveError {
    return new ClosedError(`the connection to '${displayKey(this.#key)}'`)
  }
}

/** One request of a holder, and what ends it early: its caller, its time, or the end of the holder. */
export class HeldCall {
  readonly #abort = new AbortController()
  readonly #caller: AbortSignal | undefined
  readonly #onOver: () => void
  readonly #onCaller: () => void
  #deadline: Deadline | undefined
  /** It waits no longer for anything of ours. */
  isOut = false
  #ended: ReeveError | undefined

  constructor(caller: AbortSignal | undefined, onOver: () => void) {
    this.#caller = caller
    this.#onOver = onOver
    this.#onCaller = () => this.#abort.abort(caller && abortError(caller))
    if (caller?.aborted) this.#onCaller()
    else caller?.addEventListener('abort', this.#onCaller, { once: true })
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** What this side ended it with; a caller that left is no such thing. */
  get ended(): ReeveError | undefined {
    return this.#ended
  }

  expiresAt(deadline: Deadline): void {
    this.#deadline = deadline
  }

  end(reason: ReeveError): void {
    if (this.#abort.signal.aborted) return
    this.#ended = reason
    this.#abort.abort(reason)
  }

  /** It is over, however it ended. */
  over(): void {
    this.#deadline?.dispose()
    this.#caller?.removeEventListener('abort', this.#onCaller)
    this.#onOver()
  }
}
