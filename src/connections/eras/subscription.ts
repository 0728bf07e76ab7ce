import type { JsonObject, RequestId } from '../../protocol/index.js'
import { readFilter, type SubscriptionFilter, writeFilter } from './subscription-filter.js'

export type OpenSubscription = (
  params: JsonObject,
  how: { readonly signal: AbortSignal; readonly onId: (id: RequestId) => void },
) => Promise<JsonObject>

/** How a subscription came out: acknowledged, or ended before. */
export type Opened =
  | { readonly is: 'acknowledged'; readonly honoured: SubscriptionFilter }
  | { readonly is: 'failed'; readonly error: unknown }

/** One `subscriptions/listen` request: a stream of notifications, from its acknowledgement to its end. */
export class Subscription {
  readonly asked: SubscriptionFilter
  /** Never rejects. */
  readonly opened: Promise<Opened>
  /** Resolves when it is over, for whatever reason. */
  readonly over: Promise<void>
  readonly #abort = new AbortController()
  #id: RequestId | undefined
  #acknowledge: (opened: Opened) => void = () => {}
  #isAcknowledged = false
  #isOver = false

  constructor(asked: SubscriptionFilter, open: OpenSubscription) {
    this.asked = asked
    this.opened = new Promise((resolve) => {
      this.#acknowledge = resolve
    })
    const stream = open(
      { notifications: writeFilter(asked) },
      {
        signal: this.#abort.signal,
        onId: (id) => {
          this.#id = id
        },
      },
    )
    this.over = stream.then(
      () => this.#end(new Error('the server ended the subscription before it acknowledged it')),
      (error: unknown) => this.#end(error),
    )
  }

  get isAcknowledged(): boolean {
    return this.#isAcknowledged
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** The id as a server may give it back. */
  isCalled(id: RequestId | undefined): boolean {
    return id !== undefined && this.#id !== undefined && String(id) === String(this.#id)
  }

  acknowledged(params: JsonObject | undefined): void {
    this.#isAcknowledged = true
    this.#acknowledge({ is: 'acknowledged', honoured: readFilter(params?.notifications) })
  }

  close(): void {
    this.#abort.abort()
  }

  #end(error: unknown): void {
    this.#isOver = true
    this.#acknowledge({ is: 'failed', error })
  }
}
