import type { ConnectionEvent } from '../connections/index.js'
import { ReeveError } from '../errors.js'
import type { ServerKey } from '../identity/index.js'
import { causeOf } from './issued-call.js'
import type { ThreadEvent, ThreadOptions } from './types.js'

/** Whoever listens to one thread. */
export class ThreadListener {
  readonly #options: Pick<ThreadOptions, 'onEvent'>

  constructor(options: Pick<ThreadOptions, 'onEvent'>) {
    this.#options = options
  }

  /** What a connection tells, with the request that a notification was caused by as the caller knows it. */
  relay(heard: ConnectionEvent): void {
    const event =
      heard.type === 'notification' ? { ...heard, notification: causeOf(heard.notification).message } : heard
    this.#options.onEvent?.(event)
  }

  /** A listener that throws is told so where nothing of ours is in the middle of something. */
  tell(event: ThreadEvent): void {
    try {
      this.#options.onEvent?.(event)
    } catch (error) {
      queueMicrotask(() => {
        throw error
      })
    }
  }

  warn(key: ServerKey, error: unknown): void {
    const code = error instanceof ReeveError ? error.code : 'internal'
    this.tell({ type: 'warning', key, code, message: error instanceof Error ? error.message : String(error) })
  }
}
