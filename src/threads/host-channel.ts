import { type ElicitationAnswer, ElicitationRouter, type SurfacedElicitation } from '../authority/index.js'
import type { FromServer, ServerRequestHandler } from '../connections/index.js'
import { RpcError } from '../errors.js'
import type { ServerKey } from '../identity/index.js'
import { RPC } from '../protocol/index.js'
import type { ThreadElicitations, ThreadOptions } from './types.js'

export const ELICIT = 'elicitation/create'

/** How what somebody has to be asked reaches the host of one thread: as a request to answer, or as a question with an id. */
export class HostChannel {
  readonly #onRequest: ServerRequestHandler | undefined
  readonly #router: ElicitationRouter | undefined

  constructor({ onRequest, elicitations }: Pick<ThreadOptions, 'onRequest' | 'elicitations'>) {
    this.#onRequest = onRequest
    const { onQuestion } = elicitations ?? {}
    this.#router = onQuestion && new ElicitationRouter(onQuestion)
  }

  /** Whether anything is answered at all. */
  get isOpen(): boolean {
    return this.#onRequest !== undefined || this.#router !== undefined
  }

  get waiting(): number {
    return this.#router?.waiting ?? 0
  }

  /** @throws RpcError nobody here answers such requests; whatever the host throws */
  async ask(request: FromServer, turnId: string | null, signal: AbortSignal): Promise<ElicitationAnswer> {
    const { key, method, params = {} } = request
    if (this.#router !== undefined && method === ELICIT) return this.#router.put({ key, turnId, params }, signal)
    if (this.#onRequest === undefined) throw new RpcError(RPC.methodNotFound, `Method not found: ${method}`)
    return this.#onRequest(request, signal)
  }

  /** @throws ReeveError `unknown_elicitation` */
  resolve(key: ServerKey, id: SurfacedElicitation['id'], answer: ElicitationAnswer): void {
    const router = this.#router ?? new ElicitationRouter()
    router.resolve(key, id, answer)
  }

  /** What waits fails now. */
  close(): void {
    this.#router?.close()
  }
}

export function threadElicitations(channel: HostChannel): ThreadElicitations {
  return Object.freeze({
    get waiting() {
      return channel.waiting
    },
    resolve: (key: ServerKey, id: string, answer: ElicitationAnswer) => channel.resolve(key, id, answer),
  })
}
