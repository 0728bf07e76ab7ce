import type { ServerResponse } from 'node:http'

export interface SseOptions {
  readonly headers: Readonly<Record<string, string>>
  readonly keepAliveMs: number
  readonly backlogBytes: number
}

/**
 * One HTTP response that carries server-sent events. What its client does not read is held up to `backlogBytes`; past
 * that the connection is cut, and whatever was logged waits for the client to come back.
 */
export class SseConnection {
  readonly #response: ServerResponse
  readonly #backlogBytes: number
  readonly #keepAlive: NodeJS.Timeout
  #open = true

  /** `onClose` runs once, when the client, the network or this side ended the response. */
  constructor(response: ServerResponse, options: SseOptions, onClose: () => void) {
    this.#response = response
    this.#backlogBytes = options.backlogBytes
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      ...options.headers,
    })
    response.flushHeaders()
    this.#keepAlive = setInterval(() => this.write(': keep-alive\n\n'), options.keepAliveMs)
    this.#keepAlive.unref()
    response.once('close', () => {
      this.#open = false
      clearInterval(this.#keepAlive)
      onClose()
    })
  }

  /** False when the frame was not taken because the connection is gone. */
  write(frame: string): boolean {
    // It may have been ended by whoever watches over the time that it has.
    if (!this.#open || this.#response.writableEnded) return false
    if (this.#response.writableLength > this.#backlogBytes) {
      this.cut()
      return false
    }
    this.#response.write(frame)
    return true
  }

  /** Ends the response after what was written. */
  end(): void {
    if (!this.#open) return
    this.#open = false
    clearInterval(this.#keepAlive)
    this.#response.end()
  }

  /** Drops the connection with everything unread. */
  cut(): void {
    this.#open = false
    clearInterval(this.#keepAlive)
    this.#response.destroy()
  }
}
