import { randomUUID } from 'node:crypto'
import { CancelledError, ClosedError, ReeveError } from '../../errors.js'
import { displayKey, type ServerKey, sameKey } from '../../identity/index.js'
import type { ElicitationAnswer, ElicitationParams } from './request.js'

/** A question as a host is told of it (reference: authority, 6.6). */
export interface SurfacedElicitation {
  /** Ours, whatever id the server gave it. */
  readonly id: string
  readonly key: ServerKey
  readonly turnId: string | null
  readonly params: ElicitationParams
}

/** Where questions are put to a person. */
export interface ElicitationChannel {
  readonly isOpen: boolean
  /** @throws CancelledError when `signal` fires; ClosedError when nobody listens any more */
  put(question: Omit<SurfacedElicitation, 'id'>, signal: AbortSignal): Promise<ElicitationAnswer>
}

/** A question that waits for its answer. Dropping it leaves the others alone. */
export interface WaitingElicitation {
  readonly id: string
  readonly answer: Promise<ElicitationAnswer>
  drop(): void
}

/** `withdrawn` fires when no answer is wanted any more. */
export type ElicitationListener = (elicitation: SurfacedElicitation, withdrawn: AbortSignal) => void

interface Waiter {
  readonly key: ServerKey
  /** Fires when no answer is wanted any more. */
  readonly withdrawn: AbortController
  resolve(answer: ElicitationAnswer): void
  reject(error: ReeveError): void
}

/** Questions that wait for a person. Each has an id of its own, so that servers with equal ids don't meet. */
export class ElicitationRouter implements ElicitationChannel {
  readonly #waiting = new Map<string, Waiter>()
  /** Undefined: nobody listens. */
  #channel: ElicitationListener | undefined

  constructor(channel?: ElicitationListener) {
    this.#channel = channel
  }

  get isOpen(): boolean {
    return this.#channel !== undefined
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** @throws ClosedError when nobody listens; whatever the listener throws, with nothing left behind */
  ask(question: Omit<SurfacedElicitation, 'id'>): WaitingElicitation {
    const channel = this.#channel
    if (channel === undefined) throw new ClosedError('the channel for questions')
    const id = `elicitation_${randomUUID()}`
    const withdrawn = new AbortController()
    const answer = new Promise<ElicitationAnswer>((resolve, reject) => {
      this.#waiting.set(id, { key: question.key, withdrawn, resolve, reject })
    })
    // Whoever drops the question may have stopped listening to it.
    answer.catch(() => {})
    try {
      channel(Object.freeze({ id, ...question }), withdrawn.signal)
    } catch (error) {
      this.#waiting.delete(id)
      throw error
    }
    return { id, answer, drop: () => this.#end(id, new CancelledError('the question was dropped')) }
  }

  async put(question: Omit<SurfacedElicitation, 'id'>, signal: AbortSignal): Promise<ElicitationAnswer> {
    const waiting = this.ask(question)
    const drop = () => waiting.drop()
    if (signal.aborted) drop()
    else signal.addEventListener('abort', drop, { once: true })
    try {
      return await waiting.answer
    } finally {
      signal.removeEventListener('abort', drop)
    }
  }

  /** @throws ReeveError `unknown_elicitation` when no such question of that server waits */
  resolve(key: ServerKey, id: string, answer: ElicitationAnswer): void {
    const waiter = this.#waiting.get(id)
    if (waiter === undefined || !sameKey(waiter.key, key)) {
      throw new ReeveError('unknown_elicitation', `elicitation request '${id}' of '${displayKey(key)}' not found`, {
        key,
      })
    }
    this.#waiting.delete(id)
    waiter.resolve(answer)
  }

  /** Nobody listens any more: what waits fails now. */
  close(): void {
    this.#channel = undefined
    for (const id of [...this.#waiting.keys()]) this.#end(id, new ClosedError('the channel for questions'))
  }

  #end(id: string, error: ReeveError): void {
    const waiter = this.#waiting.get(id)
    this.#waiting.delete(id)
    waiter?.reject(error)
    waiter?.withdrawn.abort(error)
  }
}
