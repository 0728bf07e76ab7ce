import { BackendClient } from '../auth/index.js'
import { ReeveError } from '../errors.js'
import type { JsonObject } from '../protocol/index.js'
import type { AnalyticsQueue } from '../store/index.js'
import type { AnalyticsSink, OwningAuth, ToolCallFacts } from '../threads/index.js'
import { backOff } from './back-off.js'
import { type AnalyticsBinding, bindingOf } from './binding.js'
import { deliver } from './deliver.js'
import type { AnalyticsPlace } from './settings.js'
import { type EventClient, toolCallEvent } from './tool-call-event.js'

export interface ActorAnalyticsOptions {
  /** The thread's id. */
  readonly actor: string
  /** The thread's own, never that of whoever started or resumed it. */
  readonly auth: OwningAuth
  readonly client: JsonObject
  readonly queue: AnalyticsQueue
  /** Where events go now; undefined: nowhere, and none is kept. */
  readonly place: () => AnalyticsPlace | undefined
  readonly onwarning: (warning: ReeveError) => void
  readonly timing?: Partial<AnalyticsTiming>
}

/** Milliseconds, and how often a delivery may fail. */
export interface AnalyticsTiming {
  /** From the first event of a batch until it is sent. */
  readonly gatherMs: number
  /** The first wait after a failure, and the longest. */
  readonly backOffMs: number
  readonly longestMs: number
  readonly closeMs: number
  readonly attempts: number
}

export const ANALYTICS_TIMING: AnalyticsTiming = {
  gatherMs: 5_000,
  backOffMs: 1_000,
  longestMs: 300_000,
  closeMs: 2_000,
  attempts: 8,
}

/** Longer than the longest wait: what its actor has not touched for so long is an actor's that is gone. */
const HELD = 2 * ANALYTICS_TIMING.longestMs
const BATCH = { count: 100, bytes: 256 * 1024 }
const MAX_EVENT = 32 * 1024

/**
 * Analytics of one thread: a queue on disk of its own and deliveries with its own auth and mode. Each event goes with the
 * account that it was queued under, or not at all (reference: auth, "Analytics binding").
 */
export class ActorAnalytics implements AnalyticsSink {
  readonly #options: ActorAnalyticsOptions
  readonly #timing: AnalyticsTiming
  readonly #client: BackendClient
  readonly #from: EventClient
  readonly #ending = new AbortController()
  readonly #warned = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> | undefined
  #failures = 0
  #isClosed = false

  constructor(options: ActorAnalyticsOptions) {
    this.#options = options
    this.#timing = { ...ANALYTICS_TIMING, ...options.timing }
    const { auth, client } = options
    this.#client = new BackendClient(auth.context, auth.http)
    this.#from = { name: textOf(client.name), version: textOf(client.version) }
    // An earlier run may have left something.
    if (this.isOn) this.#schedule(this.#timing.gatherMs)
  }

  get isOn(): boolean {
    return !this.#isClosed && this.#options.place() !== undefined
  }

  toolCall(facts: ToolCallFacts): void {
    const { actor, queue } = this.#options
    const binding = this.#binding()
    if (this.#isClosed || binding === undefined) return
    const event = JSON.stringify(toolCallEvent(facts, this.#from))
    if (Buffer.byteLength(event) > MAX_EVENT) {
      this.#warn('analytics_event_too_large', `one has more than ${MAX_EVENT} bytes`)
      return
    }
    this.#guarded(() => queue.put({ actor, binding: binding.digest }, event, times()), undefined)
    this.#schedule(this.#timing.gatherMs)
  }

  /** Delivers what is due. Never rejects. */
  flush(): Promise<void> {
    this.#flushing ??= this.#deliverAll().finally(() => {
      this.#flushing = undefined
    })
    return this.#flushing
  }

  /** One more attempt, within a short time; what is left stays for the next client of this thread and account. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#timer)
    const end = setTimeout(() => this.#ending.abort(), this.#timing.closeMs)
    try {
      await this.flush()
    } finally {
      clearTimeout(end)
      this.#ending.abort()
    }
  }

  #binding(): AnalyticsBinding | undefined {
    const place = this.#options.place()
    return place && bindingOf(this.#options.auth.context, place)
  }

  async #deliverAll(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    let isMore = true
    while (isMore) isMore = await this.#deliverBatch()
  }

  /** Whether there may be another one to send now. */
  async #deliverBatch(): Promise<boolean> {
    const { actor, queue, auth, place: placeNow } = this.#options
    const place = placeNow()
    const binding = this.#binding()
    if (place === undefined || binding === undefined || this.#ending.signal.aborted) return false
    const owner = { actor, binding: binding.digest }
    const batch = this.#guarded(() => queue.take(owner, BATCH, times()), [])
    if (batch.length === 0) return false
    const ids = batch.map(({ id }) => id)
    const route = { place, client: this.#client, http: auth.http, as: binding.identity }
    const delivery = await deliver(
      batch.map(({ event }) => event),
      route,
      this.#ending.signal,
    )
    if (delivery.is !== 'later') {
      this.#failures = 0
      if (delivery.is === 'never') this.#warn('analytics_refused', delivery.reason)
      return this.#guarded(() => {
        queue.remove(ids)
        return true
      }, false)
    }
    // Cut short by the end of the thread: no failure of theirs.
    if (this.#ending.signal.aborted) return false
    const dropped = this.#guarded(() => queue.failed(ids, this.#timing.attempts), 0)
    if (dropped > 0) this.#warn('analytics_undelivered', delivery.reason)
    this.#failures += 1
    this.#schedule(Math.max(backOff(this.#failures, this.#timing), delivery.retryAfterMs ?? 0))
    return false
  }

  #schedule(ms: number): void {
    if (this.#isClosed || this.#timer !== undefined) return
    const wait = Math.min(Math.max(ms, this.#failures === 0 ? 0 : this.#timing.backOffMs), this.#timing.longestMs)
    this.#timer = setTimeout(() => void this.flush(), wait)
    this.#timer.unref()
  }

  /** What can't be kept is lost, and said once: no call fails for it. */
  #guarded<T>(work: () => T, otherwise: T): T {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof ReeveError)) throw error
      this.#warn(error.code, error.message)
      return otherwise
    }
  }

  #warn(code: string, reason: string): void {
    if (this.#warned.has(code)) return
    this.#warned.add(code)
    this.#options.onwarning(new ReeveError(code, `analytics events of a thread are lost: ${reason}`))
  }
}

function times(): { readonly now: number; readonly heldUntil: number } {
  const now = Date.now()
  return { now, heldUntil: now + HELD }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 200) : ''
}
