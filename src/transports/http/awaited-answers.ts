import type { JsonRpcMessage, RequestId } from '../../protocol/index.js'
import { isResponse } from '../../protocol/index.js'

/** A request that is out, until its answer was handed over, whichever stream brought it. */
export interface AwaitedAnswer {
  readonly id: RequestId
  readonly came: boolean
  /** Resolves when the answer was handed over. */
  readonly arrival: Promise<void>
}

export class AwaitedAnswers {
  readonly #awaited = new Map<RequestId, AwaitedAnswer & { arrive(): void }>()

  await(id: RequestId): AwaitedAnswer {
    let came = false
    let resolve = () => {}
    const arrival = new Promise<void>((onArrival) => {
      resolve = onArrival
    })
    const awaited = {
      id,
      arrival,
      get came() {
        return came
      },
      arrive: () => {
        came = true
        resolve()
      },
    }
    this.#awaited.set(id, awaited)
    return awaited
  }

  /** Called once the message was handed over. */
  note(message: JsonRpcMessage): void {
    if (isResponse(message) && message.id !== null) this.#awaited.get(message.id)?.arrive()
  }

  forget(awaited: AwaitedAnswer): void {
    if (this.#awaited.get(awaited.id) === awaited) this.#awaited.delete(awaited.id)
  }
}
