import { CancelledError } from '../../errors.js'
import { type ServerKey, sameKey } from '../../identity/index.js'
import type { LiveCall } from '../bridge/index.js'
import type { Conducts } from './conduct.js'

/** Milliseconds that a call waits for those before it, while it is not known whether its server asks. */
const PATIENCE = 250
/** Calls after which a server that asked nothing is not waited for any more. */
const PROOF = 8

/** What is known of a call that is under way. */
interface Pending {
  readonly key: ServerKey
  /** It waits for the end of this task; what the server asks for a task names it. */
  readonly taskId: string | undefined
  /** What the server says meanwhile can be of no other call. */
  readonly alone: boolean
  /** It went to its server, or does so now. */
  entered: boolean
}

/** How a call goes to its server. */
export interface Entering {
  /** Whether the wire tells whose a question is. */
  told(): boolean
  /** It hears a log that the wire tells of no call, and so takes its turn with all others. */
  readonly alone?: boolean
}

/**
 * The calls of one thread that are under way. Several clients can stand behind a thread, and some servers do not say which
 * call their question belongs to. Calls to such a server take turns as soon as it was seen to ask: a call goes when those
 * before it are over, or wait for an answer themselves and so can't ask any further.
 */
export class PendingCalls {
  readonly #open = new Map<LiveCall, Pending | undefined>()
  readonly #conducts: Conducts
  readonly #waiting = new Set<() => void>()

  constructor(conducts: Conducts) {
    this.#conducts = conducts
  }

  /** Returns what takes the call out again. */
  add(call: LiveCall): () => void {
    this.#open.set(call, undefined)
    call.onAway = () => this.#wake()
    return () => {
      const pending = this.#open.get(call)
      if (pending?.entered) this.#conducts.of(pending.key).calls += 1
      this.#open.delete(call)
      this.#wake()
    }
  }

  /** The call waits for the end of a task. */
  follow(call: LiveCall, key: ServerKey, taskId: string): void {
    if (this.#open.has(call)) this.#open.set(call, { key, taskId, alone: false, entered: true })
  }

  /**
   * The call is about to go to this server. Resolves when it may.
   *
   * @throws CancelledError its client left
   */
  async enter(call: LiveCall, key: ServerKey, { told, alone = false }: Entering): Promise<void> {
    const pending: Pending = { key, taskId: undefined, alone, entered: false }
    if (!this.#open.has(call)) return
    this.#open.set(call, pending)
    const isMixed = this.#conducts.of(key).isVague || this.#isAlone(key) || !told()
    if (this.to(key).length > 0 && isMixed) await this.#turnOf(call, pending)
    pending.entered = true
  }

  /** Calls to this server that a question can be of which names no task. */
  to(key: ServerKey): readonly LiveCall[] {
    return this.#with(key, ({ taskId, entered }) => taskId === undefined && entered).filter(({ isStuck }) => !isStuck)
  }

  ofTask(key: ServerKey, id: string): LiveCall | undefined {
    return this.#with(key, ({ taskId }) => taskId === id)[0]
  }

  /** `told`: the question said which call it was for. */
  noteAsking(key: ServerKey, told: boolean): void {
    const conduct = this.#conducts.of(key)
    conduct.asks = true
    conduct.isVague ||= !told
  }

  /**
   * Waits until only one of these calls is left, which then must be the one that asks: it can't end before it is
   * answered. Undefined when none is left, or several still are after `ms`.
   */
  async lastOf(calls: readonly LiveCall[], signal: AbortSignal, ms: number): Promise<LiveCall | undefined> {
    const left = () => calls.filter((call) => this.#open.has(call) && !call.isStuck)
    await this.#until(() => left().length <= 1, signal, ms)
    const [last, ...others] = left()
    return others.length === 0 ? last : undefined
  }

  /** Waits for those before it; in vain for a while only, where the server was not seen to ask. */
  async #turnOf(call: LiveCall, { key }: Pending): Promise<void> {
    const conduct = this.#conducts.of(key)
    const isNext = () => this.to(key).length === 0 && this.#firstInLine(key) === call
    const isBounded = () => !conduct.asks && !this.#isAlone(key)
    if (isBounded()) await this.#until(isNext, call.signal, conduct.calls >= PROOF ? 0 : PATIENCE)
    if (!isBounded()) await this.#until(isNext, call.signal, undefined)
    if (call.signal.aborted) throw new CancelledError()
  }

  /** Some call to this server, out or in line, is to be the only one. */
  #isAlone(key: ServerKey): boolean {
    return this.#with(key, ({ taskId, alone }) => taskId === undefined && alone).some(({ isStuck }) => !isStuck)
  }

  #firstInLine(key: ServerKey): LiveCall | undefined {
    return this.#with(key, ({ taskId, entered }) => taskId === undefined && !entered)[0]
  }

  #with(key: ServerKey, fits: (pending: Pending) => boolean): readonly LiveCall[] {
    return [...this.#open].flatMap(([call, pending]) =>
      pending !== undefined && sameKey(pending.key, key) && fits(pending) ? [call] : [],
    )
  }

  #wake(): void {
    for (const look of [...this.#waiting]) look()
  }

  /** Until `done`, the signal, or `ms` are over; undefined is no bound. */
  #until(done: () => boolean, signal: AbortSignal, ms: number | undefined): Promise<void> {
    if (done() || signal.aborted || ms === 0) return Promise.resolve()
    return new Promise((resolve) => {
      const settle = () => {
        clearTimeout(timer)
        this.#waiting.delete(look)
        signal.removeEventListener('abort', settle)
        resolve()
      }
      const look = () => {
        if (done()) settle()
      }
      const timer = ms === undefined ? undefined : setTimeout(settle, ms)
      this.#waiting.add(look)
      signal.addEventListener('abort', settle)
    })
  }
}
