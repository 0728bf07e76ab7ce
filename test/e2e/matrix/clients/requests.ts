import type { JsonObject, RequestId } from '../../../../src/protocol/index.js'
import { within } from '../bounded.js'
import type { Wire } from '../wires/wire.js'
import { RefusedError } from './client.js'

export interface SentRequest {
  readonly id: RequestId
  /** The result within the usual time; an error rejects as `RefusedError`. */
  readonly result: Promise<JsonObject>
  /** The same, however long it takes. */
  readonly unbounded: Promise<JsonObject>
}

/** Numbers the requests of one client and takes their answers apart. */
export class Requests {
  readonly #wire: Wire
  #last = 0

  constructor(wire: Wire) {
    this.#wire = wire
  }

  send(method: string, params: JsonObject): SentRequest {
    this.#last += 1
    const id = this.#last
    const unbounded = this.#wire.request({ jsonrpc: '2.0', id, method, params }).then((answer) => {
      if (answer.error !== undefined) throw new RefusedError(method, answer.error as JsonObject)
      return answer.result as JsonObject
    })
    const result = within(`the answer to ${method}`, unbounded)
    for (const promise of [unbounded, result]) promise.catch(() => undefined)
    return { id, result, unbounded }
  }
}
