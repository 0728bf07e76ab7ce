import type { RequestId } from '../../protocol/index.js'

interface Batch {
  readonly waiting: Set<RequestId>
  readonly answers: string[]
}

/** Gathers the answers to the requests of a JSON-RPC batch, which are owed as one array. */
export class BatchAnswers {
  readonly #byId = new Map<RequestId, Batch>()

  expect(ids: readonly RequestId[]): void {
    if (ids.length === 0) return
    const batch: Batch = { waiting: new Set(ids), answers: [] }
    for (const id of ids) this.#byId.set(id, batch)
  }

  /** Takes an answer; returns what is to be written now: the answer itself, the whole array, or nothing yet. */
  add(id: RequestId, answer: string): string | undefined {
    const batch = this.#byId.get(id)
    if (batch === undefined) return answer
    batch.answers.push(answer)
    return this.drop(id)
  }

  /** No (further) answer to this request will come. */
  drop(id: RequestId): string | undefined {
    const batch = this.#byId.get(id)
    if (batch === undefined) return undefined
    this.#byId.delete(id)
    batch.waiting.delete(id)
    return batch.waiting.size === 0 && batch.answers.length > 0 ? `[${batch.answers.join(',')}]` : undefined
  }
}
