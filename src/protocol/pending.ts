import { OperationTimeoutError, ProtocolViolationError, RpcError } from '../errors.js'
import type { ActiveClock, Deadline } from './deadline.js'
import type { JsonObject, JsonRpcResponse, RequestId } from './message.js'

interface PendingRequest {
  readonly method: string
  readonly resolve: (result: JsonObject) => void
  readonly reject: (error: Error) => void
  readonly onProgress: ((params: JsonObject) => void) | undefined
  deadline: Deadline | undefined
}

/** The own requests that are out, by id. Ids are numbers from 1 and are never used twice. */
export class PendingRequests {
  readonly #open = new Map<number, PendingRequest>()
  readonly #clock: ActiveClock
  /** Ids given up lately: their late answers are expected, anybody else's are not. */
  readonly #abandoned = new Set<number>()
  #lastId = 0

  constructor(clock: ActiveClock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#open.size
  }

  add(
    method: string,
    onProgress: ((params: JsonObject) => void) | undefined,
  ): { id: number; answer: Promise<JsonObject> } {
    this.#lastId += 1
    const id = this.#lastId
    const answer = new Promise<JsonObject>((resolve, reject) => {
      this.#open.set(id, { method, resolve, reject, onProgress, deadline: undefined })
    })
    return { id, answer }
  }

  /** `expired` runs after the request was failed. */
  expireAfter(id: number, ms: number, expired: () => void): void {
    const pending = this.#open.get(id)
    if (pending === undefined) return
    pending.deadline = this.#clock.deadline(ms, () => {
      if (this.fail(id, new OperationTimeoutError(pending.method, ms))) expired()
    })
  }

  /** Returns what is wrong with the answer, if anything. */
  settle(response: JsonRpcResponse): Error | undefined {
    const pending = typeof response.id === 'number' ? this.#take(response.id) : undefined
    if (pending === undefined) return this.#unasked(response.id)
    if ('error' in response) pending.reject(rpcError(response.error))
    else pending.resolve(response.result)
    return undefined
  }

  progress(params: JsonObject | undefined): boolean {
    const token = params?.progressToken
    const pending = typeof token === 'number' ? this.#open.get(token) : undefined
    if (pending === undefined || params === undefined) return typeof token === 'number' && this.#abandoned.has(token)
    pending.onProgress?.(params)
    return true
  }

  /** False when the request was settled already. */
  fail(id: number, error: Error): boolean {
    const pending = this.#take(id)
    if (pending === undefined) return false
    this.#abandon(id)
    pending.reject(error)
    return true
  }

  failAll(error: Error): void {
    for (const id of [...this.#open.keys()]) this.fail(id, error)
  }

  #take(id: number): PendingRequest | undefined {
    const pending = this.#open.get(id)
    if (pending === undefined) return undefined
    this.#open.delete(id)
    pending.deadline?.dispose()
    return pending
  }

  #abandon(id: number): void {
    this.#abandoned.add(id)
    if (this.#abandoned.size <= ABANDONED_KEPT) return
    const [oldest] = this.#abandoned
    if (oldest !== undefined) this.#abandoned.delete(oldest)
  }

  #unasked(id: RequestId | null): Error | undefined {
    if (typeof id === 'number' && this.#abandoned.delete(id)) return undefined
    return new ProtocolViolationError(`an answer to ${JSON.stringify(id)}, which nobody asked`, {
      place: `id ${JSON.stringify(id)}`,
    })
  }
}

const ABANDONED_KEPT = 1000

function rpcError(body: unknown): RpcError {
  const { code, message, data } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
  return new RpcError(
    typeof code === 'number' ? code : -32603,
    typeof message === 'string' ? message : 'the server answered with an error without a message',
    data,
  )
}
