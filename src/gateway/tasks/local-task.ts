import { randomUUID } from 'node:crypto'
import type { FromServer, ServerRequestHandler } from '../../connections/index.js'
import { CancelledError, RpcError } from '../../errors.js'
import { type JsonObject, RPC } from '../../protocol/index.js'
import { invalidParams } from '../relay/params.js'
import { withRelatedTask } from './wire.js'

const POLL_INTERVAL_MS = 500

type Status = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'

interface Waiter {
  readonly origin: unknown
}

/**
 * A core task that is run here, for a legacy client that wants one of a modern server: there the server alone decides
 * what becomes a task. It is the `origin` of its call, and what the server asks goes to the client on the stream of the
 * `tasks/result` that waits for it (2025-11-25, tasks, input required status).
 */
export class LocalTask {
  readonly id = `reeve-task:local/${randomUUID()}`
  readonly #ttl: number
  readonly #ask: ServerRequestHandler
  readonly #abort = new AbortController()
  readonly #createdAt = new Date().toISOString()
  readonly #waiters = new Set<Waiter>()
  readonly #arrivals = new Set<() => void>()
  #lastUpdatedAt = this.#createdAt
  #status: Status = 'working'
  #outcome: Promise<JsonObject> = Promise.resolve({})
  #open = 0

  constructor(ttl: number, ask: ServerRequestHandler) {
    this.#ttl = ttl
    this.#ask = ask
  }

  /** Of the work. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  get ended(): boolean {
    return ['completed', 'failed', 'cancelled'].includes(this.#status)
  }

  /** The task as the client is shown it. */
  get shown(): JsonObject {
    return {
      taskId: this.id,
      status: this.#status,
      createdAt: this.#createdAt,
      lastUpdatedAt: this.#lastUpdatedAt,
      ttl: this.#ttl,
      pollInterval: POLL_INTERVAL_MS,
    }
  }

  run(work: () => Promise<JsonObject>): void {
    this.#outcome = work()
    this.#outcome.then(
      // An error of the tool counts as a failed task here (2025-11-25, task status).
      ({ isError }) => this.#become(isError === true ? 'failed' : 'completed'),
      () => this.#become('failed'),
    )
  }

  /** Waits for the end; meanwhile the client can be asked. @throws what the request would have failed with */
  async result(origin: unknown, signal: AbortSignal | undefined): Promise<JsonObject> {
    const waiter: Waiter = { origin }
    this.#waiters.add(waiter)
    for (const arrive of [...this.#arrivals]) arrive()
    try {
      return withRelatedTask(await this.#ended(signal), this.id)
    } finally {
      this.#waiters.delete(waiter)
    }
  }

  /** @throws RpcError -32602 when it has ended */
  cancel(): void {
    if (this.ended) throw invalidParams(`Cannot cancel a task that is ${this.#status}`)
    this.#become('cancelled')
    this.#abort.abort(new CancelledError())
  }

  /** A question of the server. */
  async ask(request: FromServer, signal: AbortSignal): Promise<JsonObject> {
    this.#open += 1
    this.#become('input_required')
    try {
      const { origin } = await this.#waiter(signal)
      const params = withRelatedTask(request.params ?? {}, this.id)
      return await this.#ask({ ...request, params, origin }, signal)
    } finally {
      this.#open -= 1
      if (this.#open === 0) this.#become('working')
    }
  }

  #become(status: Status): void {
    if (this.ended || this.#status === status) return
    this.#status = status
    this.#lastUpdatedAt = new Date().toISOString()
  }

  async #ended(signal: AbortSignal | undefined): Promise<JsonObject> {
    const given = new Promise<never>((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(new CancelledError()), { once: true })
    })
    try {
      return await Promise.race([this.#outcome, given])
    } catch (error) {
      if (this.#status === 'cancelled') throw new RpcError(RPC.internalError, 'The task was cancelled')
      throw error
    }
  }

  #waiter(signal: AbortSignal): Promise<Waiter> {
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        this.#arrivals.delete(arrive)
        signal.removeEventListener('abort', onAbort)
        act()
      }
      const arrive = () => {
        const [waiter] = this.#waiters
        if (waiter !== undefined) settle(() => resolve(waiter))
      }
      const onAbort = () => settle(() => reject(new CancelledError('the question was taken back')))
      this.#arrivals.add(arrive)
      signal.addEventListener('abort', onAbort)
      if (signal.aborted) onAbort()
      else arrive()
    })
  }
}
