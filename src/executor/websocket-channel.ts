import type { RawData, WebSocket } from 'ws'
import { EXEC_LIMITS } from '../protocol/index.js'
import type { Channel, ChannelEvents } from './channel.js'

/** Bytes that wait to leave before the processes are held. */
const CONGESTED = 1024 * 1024
/** How long a client has for a sign of life. */
const PROBE_MS = 5000
/** One frame to the client (reference: executor-protocol, 16). */
const FRAME = EXEC_LIMITS.frame

/** A WebSocket as a channel: one message in each message, text or binary. */
export class WebSocketChannel implements Channel {
  readonly #socket: WebSocket
  #probing: NodeJS.Timeout | undefined

  constructor(socket: WebSocket) {
    this.#socket = socket
  }

  listen(events: ChannelEvents): void {
    const socket = this.#socket
    socket.on('message', (data) => {
      this.#alive()
      events.message(textOf(data))
    })
    socket.on('pong', () => this.#alive())
    socket.on('ping', () => this.#alive())
    // A broken frame, or one over the limit; `close` follows.
    socket.on('error', () => socket.terminate())
    const pings = setInterval(() => socket.ping(), EXEC_LIMITS.pingMs)
    pings.unref()
    socket.on('close', () => {
      clearInterval(pings)
      this.#alive()
      events.ended()
    })
    this.#drained = () => events.drained()
  }

  #drained: () => void = () => {}

  send(text: string): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    if (text.length < FRAME / 4) this.#socket.send(text, this.#sent)
    else this.#sendInFrames(Buffer.from(text))
  }

  get isCongested(): boolean {
    return this.#socket.bufferedAmount > CONGESTED
  }

  pauseInput(): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.pause()
  }
  resumeInput(): void {
    if (this.#socket.isPaused) this.#socket.resume()
  }

  drop(): void {
    this.#socket.terminate()
  }

  probe(): void {
    if (this.#probing !== undefined) return
    this.#probing = setTimeout(() => this.drop(), PROBE_MS)
    this.#socket.ping()
  }

  #sendInFrames(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += FRAME) {
      const fin = at + FRAME >= bytes.length
      this.#socket.send(bytes.subarray(at, at + FRAME), { binary: false, fin }, this.#sent)
    }
  }

  /** Also called with an error; `close` follows then. */
  readonly #sent = () => {
    if (this.#socket.bufferedAmount <= CONGESTED / 2) this.#drained()
  }

  #alive(): void {
    clearTimeout(this.#probing)
    this.#probing = undefined
  }
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8')
  return Buffer.isBuffer(data) ? data.toString('utf8') : Buffer.from(data).toString('utf8')
}
