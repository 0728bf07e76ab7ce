import { EnvironmentError, LimitExceededError, SessionExpiredError, TransportClosedError } from '../../errors.js'
import { BackOff } from './back-off.js'
import { newCursor, type StreamCursor } from './event-stream.js'
import { EVENTS_TYPE, mediaType } from './media-type.js'
import { type MessageSink, pumpMessages } from './message-stream.js'
import type { Performed } from './operations.js'
import { readable } from './post-answer.js'
import { discard } from './read-body.js'
import { isTransient, retryAfterMs } from './retries.js'
import { contentTypeError, statusError } from './status-error.js'
import { sleep, type Timers } from './timers.js'

export interface StandaloneStreamPorts {
  readonly open: (lastEventId: string | undefined, signal: AbortSignal) => Promise<Performed>
  readonly sink: MessageSink
  readonly warn: (warning: Error) => void
  readonly timers: Timers
}

const BACK_OFF = { firstMs: 1000, capMs: 60_000 } as const
/** A stream that lived this long ended for a reason of its own, e.g. a proxy's idle limit: start over with short pauses. */
const LONG_LIVED = 30_000
/** A server that wants more patience than this gets this much. */
const LONGEST_PAUSE = 5 * 60_000

/** What one attempt came to: the server has no such stream, or it is to be tried again. */
type Attempt = { readonly stop: true } | { readonly stop: false; readonly atLeastMs: number }
const STOP: Attempt = { stop: true }

/**
 * The stream on which a server speaks of its own accord. It is opened again for as long as the transport lives, always
 * after a pause, which grows with every attempt that did not hold, also when the server closes politely. A server that
 * has no such stream (405, or 404 from the start), or refuses it for good, is left alone. A 404 later on is told as
 * `SessionExpiredError`. A fault is told once, until the stream brought something again.
 */
export class StandaloneStream {
  readonly #ports: StandaloneStreamPorts
  readonly #stopped = new AbortController()
  #state: 'new' | 'opening' | 'listening' | 'over' = 'new'
  /** It was open at least once: so the server has such a stream. */
  #held = false
  /** Since when it is open, in this attempt. */
  #openedAt: number | undefined
  #told: string | undefined

  constructor(ports: StandaloneStreamPorts) {
    this.#ports = ports
  }

  get listening(): boolean {
    return this.#state === 'listening'
  }

  start(): void {
    if (this.#state !== 'new') return
    this.#state = 'opening'
    void this.#run()
  }

  stop(): void {
    this.#state = 'over'
    this.#stopped.abort()
  }

  async #run(): Promise<void> {
    const { timers } = this.#ports
    const { signal } = this.#stopped
    const backOff = new BackOff(BACK_OFF.firstMs, BACK_OFF.capMs, timers)
    const cursor = newCursor()
    while (!signal.aborted) {
      this.#openedAt = undefined
      const attempt = await this.#attempt(cursor, signal)
      if (signal.aborted) return
      if (attempt.stop) break
      this.#state = 'opening'
      if (this.#livedLong()) backOff.reset()
      const asked = Math.max(attempt.atLeastMs, cursor.retryMs ?? 0)
      await sleep(timers, backOff.next(Math.min(asked, LONGEST_PAUSE)), signal)
    }
    this.#state = 'over'
  }

  async #attempt(cursor: StreamCursor, signal: AbortSignal): Promise<Attempt> {
    try {
      const performed = await this.#ports.open(cursor.lastEventId, signal)
      return await this.#read(performed, cursor, signal)
    } catch (error) {
      if (signal.aborted) return STOP
      this.#tell(error)
      // Behind the last event stands one over the limit: asking for it again would never end.
      if (error instanceof LimitExceededError) cursor.lastEventId = undefined
      // The next stream may be better after these; anything else does not change by itself.
      const passing =
        error instanceof TransportClosedError ||
        error instanceof LimitExceededError ||
        (error instanceof EnvironmentError && error.code !== 'environment_unauthorized')
      return passing ? { stop: false, atLeastMs: 0 } : STOP
    }
  }

  async #read(performed: Performed, cursor: StreamCursor, signal: AbortSignal): Promise<Attempt> {
    const { response, place } = performed
    const { timers, sink } = this.#ports
    const { status } = response
    if (status >= 200 && status <= 299) {
      if (mediaType(response.header('content-type')) !== EVENTS_TYPE) {
        throw await contentTypeError(performed, timers, signal)
      }
      this.#state = 'listening'
      this.#held = true
      this.#openedAt = timers.now()
      const before = cursor.events
      try {
        await pumpMessages(readable(performed).body, cursor, place, sink)
      } finally {
        if (cursor.events > before) this.#told = undefined
      }
      return { stop: false, atLeastMs: 0 }
    }
    if (status === 405 || (status === 404 && !this.#held)) {
      void discard(response, timers)
      return STOP
    }
    if (status === 404) {
      response.cancel()
      throw new SessionExpiredError({ place })
    }
    const error = await statusError(performed, timers, signal)
    if (status !== 409 && !isTransient(status)) throw error
    this.#tell(error)
    return { stop: false, atLeastMs: retryAfterMs(error.data?.retryAfter) }
  }

  #livedLong(): boolean {
    return this.#openedAt !== undefined && this.#ports.timers.now() - this.#openedAt >= LONG_LIVED
  }

  #tell(error: unknown): void {
    const warning = error instanceof Error ? error : new Error(String(error))
    if (warning.message === this.#told) return
    this.#told = warning.message
    this.#ports.warn(warning)
  }
}
