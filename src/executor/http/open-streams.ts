import { invalidParams } from '../wire/fault.js'

/** The ids of the answers that are being streamed on one connection. */
export class OpenStreams {
  readonly #ids = new Set<string>()

  /** @throws RpcError -32602 when it is in use */
  take(id: string): void {
    if (this.#ids.has(id)) throw invalidParams('http/request: a stream of this requestId is active')
    this.#ids.add(id)
  }

  release(id: string): void {
    this.#ids.delete(id)
  }
}
