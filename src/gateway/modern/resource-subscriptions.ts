import { keyText } from '../../identity/index.js'
import type { Thread } from '../../threads/index.js'
import type { OwnedUri } from '../uris.js'

/** Milliseconds that a server may take to accept a subscription; the stream that wants it is waiting. */
const SUBSCRIBE_TIMEOUT = 10_000

interface Entry {
  holders: number
  readonly subscribed: Promise<void>
}

/** The resources that a thread is subscribed to, each once, for as long as some stream wants it. */
export class ResourceSubscriptions {
  readonly #thread: Thread
  readonly #onFault: (error: unknown) => void
  readonly #entries = new Map<string, Entry>()
  /** The end of the last subscription of each: the next one must not overtake it. */
  readonly #ending = new Map<string, Promise<void>>()

  constructor(thread: Thread, onFault: (error: unknown) => void) {
    this.#thread = thread
    this.#onFault = onFault
  }

  /** Rejects when the server refuses; then nothing is held. */
  async hold(owned: OwnedUri): Promise<void> {
    const slot = slotOf(owned)
    const entry = this.#entries.get(slot) ?? { holders: 0, subscribed: this.#subscribe(slot, owned) }
    this.#entries.set(slot, entry)
    entry.holders += 1
    try {
      await entry.subscribed
    } catch (error) {
      if (this.#entries.get(slot) === entry) this.#entries.delete(slot)
      throw error
    }
  }

  release(owned: OwnedUri): void {
    const slot = slotOf(owned)
    const entry = this.#entries.get(slot)
    if (entry === undefined) return
    entry.holders -= 1
    if (entry.holders > 0) return
    this.#entries.delete(slot)
    const ended = this.#thread.resources
      .unsubscribe(selectorOf(owned), { signal: AbortSignal.timeout(SUBSCRIBE_TIMEOUT) })
      .catch(this.#onFault)
      .finally(() => {
        if (this.#ending.get(slot) === ended) this.#ending.delete(slot)
      })
    this.#ending.set(slot, ended)
  }

  async #subscribe(slot: string, owned: OwnedUri): Promise<void> {
    await this.#ending.get(slot)
    await this.#thread.resources.subscribe(selectorOf(owned), { signal: AbortSignal.timeout(SUBSCRIBE_TIMEOUT) })
  }
}

function slotOf({ key, uri }: OwnedUri): string {
  return JSON.stringify([keyText(key), uri])
}

function selectorOf({ key, uri }: OwnedUri) {
  return { server: key.name, environment: key.environment, uri }
}
