import { type ServerKey, ServerKeyMap, sameKey } from '../../identity/index.js'
import type { LiveCall } from '../bridge/index.js'

/** What is known of a call that is under way. */
interface Bound {
  readonly key: ServerKey
  /** It waits for the end of this task; what the server asks for a task names it. */
  readonly taskId?: string
}

/** The calls of one thread that are under way, with the server that each went to. */
export class PendingCalls {
  readonly #open = new Map<LiveCall, Bound | undefined>()
  /** Servers that have asked something once: what they ask is to be told from call to call. */
  readonly #asking = new ServerKeyMap<true>()
  readonly #waiting = new Set<() => void>()

  /** Returns what takes the call out again. */
  add(call: LiveCall): () => void {
    this.#open.set(call, undefined)
    return () => {
      this.#open.delete(call)
      for (const wake of this.#waiting) wake()
    }
  }

  /** The call goes to this server. */
  bind(call: LiveCall, key: ServerKey, taskId?: string): void {
    if (this.#open.has(call)) this.#open.set(call, { key, ...(taskId !== undefined && { taskId }) })
  }

  /** Calls to this server that a question can be of which names no task. */
  to(key: ServerKey): readonly LiveCall[] {
    return this.#with(key, ({ taskId }) => taskId === undefined)
  }

  ofTask(key: ServerKey, id: string): LiveCall | undefined {
    return this.#with(key, ({ taskId }) => taskId === id)[0]
  }

  noteAsking(key: ServerKey): void {
    this.#asking.set(key, true)
  }

  /**
   * Whether a call to this server is to be the only one that is out. Beside one that waits for a task it need not be, and
   * could not: it would wait for the task's end.
   */
  mustBeApart(key: ServerKey): boolean {
    return this.#asking.has(key) && this.#with(key, ({ taskId }) => taskId !== undefined).length === 0
  }

  /**
   * Waits until only one of these calls is left, which then must be the one that asks: it can't end before it is
   * answered. Undefined when none is left, or several still are after `ms`.
   */
  async lastOf(calls: readonly LiveCall[], signal: AbortSignal, ms: number): Promise<LiveCall | undefined> {
    const left = () => calls.filter((call) => this.#open.has(call))
    if (left().length > 1) await this.#until(() => left().length <= 1, signal, ms)
    const [last, ...others] = left()
    return others.length === 0 ? last : undefined
  }

  #with(key: ServerKey, fits: (bound: Bound) => boolean): readonly LiveCall[] {
    const calls = [...this.#open].filter(([, bound]) => bound !== undefined && sameKey(bound.key, key) && fits(bound))
    return calls.map(([call]) => call)
  }

  #until(done: () => boolean, signal: AbortSignal, ms: number): Promise<void> {
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
      const timer = setTimeout(settle, ms)
      this.#waiting.add(look)
      signal.addEventListener('abort', settle)
      if (signal.aborted) settle()
    })
  }
}
