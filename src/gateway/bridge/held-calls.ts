import type { Conversation } from './conversation.js'

export interface HeldLimits {
  /** Calls of one principal; of more, the oldest are cancelled. */
  readonly perPrincipal: number
  readonly total: number
}

interface Held {
  readonly principal: string
  readonly conversation: Conversation
  readonly timer: NodeJS.Timeout
}

/** Calls whose client is away, by the state that brings it back. One that is not fetched in its time is cancelled. */
export class HeldCalls {
  readonly #limits: HeldLimits
  readonly #held = new Map<string, Held>()

  constructor(limits: HeldLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#held.size
  }

  hold(id: string, principal: string, conversation: Conversation, ms: number): void {
    this.#makeRoom(principal)
    const timer = setTimeout(() => this.#drop(id), ms)
    timer.unref()
    this.#held.set(id, { principal, conversation, timer })
  }

  take(id: string): Conversation | undefined {
    const held = this.#held.get(id)
    if (held === undefined) return undefined
    clearTimeout(held.timer)
    this.#held.delete(id)
    return held.conversation
  }

  close(): void {
    for (const id of [...this.#held.keys()]) this.#drop(id)
  }

  #makeRoom(principal: string): void {
    const own = [...this.#held].filter(([, held]) => held.principal === principal).map(([id]) => id)
    const [oldest] = own.length >= this.#limits.perPrincipal ? own : this.#full()
    if (oldest !== undefined) this.#drop(oldest)
  }

  #full(): readonly string[] {
    return this.#held.size >= this.#limits.total ? [...this.#held.keys()] : []
  }

  #drop(id: string): void {
    this.take(id)?.call.cancel()
  }
}
