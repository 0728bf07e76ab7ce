import { isUtf8 } from 'node:buffer'
import type { RawData, WebSocket } from 'ws'
import {
  CancelledError,
  EnvironmentError,
  InvalidArgumentsError,
  LimitExceededError,
  ProtocolViolationError,
  type ReeveError,
  TransportClosedError,
} from '../../errors.js'
import { EXEC_LIMITS } from '../../protocol/index.js'
import { type Connector, REFUSED, type Wire } from './wire.js'

export interface WebSocketOptions {
  /** The environment's id, for errors. */
  readonly environment: string
  readonly url: string
  /** A capability token or a signed one; a function is asked before every connection. */
  readonly token?: string | (() => string | Promise<string>)
  /** Milliseconds; 10,000. */
  readonly connectMs?: number
  /** Off for measurements only: it is what turns 44 ms into 0.2 ms (reference: executor-protocol, 17). */
  readonly pongs?: boolean
}

/** Raises `InvalidArgumentsError` for a URL that is not ws or wss, or a token that would cross a network in the clear. */
export function webSocketConnector(options: WebSocketOptions): Connector {
  const url = URL.canParse(options.url) ? new URL(options.url) : undefined
  if (url === undefined || (url.protocol !== 'ws:' && url.protocol !== 'wss:'))
    throw new InvalidArgumentsError(`environment '${options.environment}': its url is no ws:// or wss:// URL`)
  const place = `${url.protocol}//${url.host}${url.pathname}`
  if (url.username !== '' || url.password !== '')
    throw new InvalidArgumentsError(`environment '${options.environment}': credentials do not belong in its url`, {
      place,
    })
  const isExposed = url.protocol !== 'wss:' && !isLoopback(url.hostname)
  if (options.token !== undefined && isExposed)
    throw new InvalidArgumentsError(
      `environment '${options.environment}': a token is sent only over wss:// or to this machine, not to ${place}`,
      { place },
    )
  return { place, resumable: true, isExposed, open: ({ largest, signal }) => open(options, place, largest, signal) }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)
}

async function open(
  options: WebSocketOptions,
  place: string,
  largest: number,
  signal: AbortSignal | undefined,
): Promise<Wire> {
  const token = typeof options.token === 'function' ? await options.token() : options.token
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token))
    throw new InvalidArgumentsError(`environment '${options.environment}': its token cannot stand in a header`, {
      place,
    })
  const { WebSocket: Socket } = await import('ws')
  if (signal?.aborted) throw new CancelledError()
  const socket = new Socket(options.url, {
    perMessageDeflate: false,
    maxPayload: largest,
    handshakeTimeout: options.connectMs ?? EXEC_LIMITS.connectMs,
    ...(token !== undefined && { headers: { Authorization: `Bearer ${token}` } }),
  })
  // Before it is open: what the executor sends with its very first packet counts.
  const wire = new WebSocketWire(socket, place, { largest, pongs: options.pongs ?? true })
  await opened(socket, options.environment, place, signal)
  return wire
}

function opened(socket: WebSocket, environment: string, place: string, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => fail(new CancelledError())
    const fail = (error: ReeveError) => {
      signal?.removeEventListener('abort', onAbort)
      reject(error)
      socket.terminate()
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    socket.once('open', () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    socket.once('unexpected-response', (_request, { statusCode }) => {
      const code = statusCode === 401 || statusCode === 403 ? 'environment_unauthorized' : 'environment_unreachable'
      const text = `environment '${environment}': ${place} answers HTTP ${statusCode} instead of a WebSocket`
      fail(new EnvironmentError(code, environment, text, { place, data: { status: statusCode } }))
    })
    socket.once('error', (cause) => {
      const errno = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
      const text = `environment '${environment}': cannot connect to ${place}: ${errno ?? cause.message}`
      const data = errno === 'ECONNREFUSED' ? { data: { reason: REFUSED } } : {}
      fail(new EnvironmentError('environment_unreachable', environment, text, { place, cause, ...data }))
    })
  })
}

class WebSocketWire implements Wire {
  onmessage: (text: string) => void = () => {}
  readonly closed: Promise<ReeveError | undefined>
  readonly #socket: WebSocket
  readonly #place: string
  readonly #pongs: boolean
  #fault: ReeveError | undefined
  /** What came in this turn, and nothing has left since. */
  #unacknowledged: NodeJS.Immediate | undefined

  constructor(socket: WebSocket, place: string, { largest, pongs }: { largest: number; pongs: boolean }) {
    this.#socket = socket
    this.#place = place
    this.#pongs = pongs
    socket.on('message', (data) => {
      this.#take(data)
      this.#acknowledge()
    })
    socket.on('error', (cause) => {
      this.#fault ??=
        'code' in cause && cause.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
          ? new LimitExceededError(`a message from ${place}`, largest, { place })
          : new TransportClosedError(`the connection to ${place} failed`, { sent: true, place, cause })
    })
    this.closed = new Promise((resolve) => {
      socket.on('close', () => resolve(this.#fault))
    })
  }

  send(text: string): Promise<void> {
    const size = Buffer.byteLength(text)
    if (size > EXEC_LIMITS.message) {
      return Promise.reject(new LimitExceededError(`a message to ${this.#place}`, EXEC_LIMITS.message))
    }
    clearImmediate(this.#unacknowledged)
    this.#unacknowledged = undefined
    return new Promise((resolve, reject) => {
      const done = (cause?: Error | null) =>
        cause
          ? reject(
              new TransportClosedError(`the connection to ${this.#place} is gone`, { sent: 'code' in cause, cause }),
            )
          : resolve()
      if (size <= EXEC_LIMITS.frame) this.#socket.send(text, done)
      else this.#sendInFrames(Buffer.from(text), done)
    })
  }

  pause(): boolean {
    this.#socket.pause()
    return true
  }

  resume(): void {
    this.#socket.resume()
  }

  drop(): void {
    // A paused socket would never report its end.
    this.#socket.resume()
    this.#socket.terminate()
  }

  async close(): Promise<void> {
    this.drop()
    await this.closed
  }

  /**
   * An executor that holds back its next packet until the last one is acknowledged would wait 44 ms for that (reference:
   * executor-protocol, 17). A pong carries the acknowledgement without asking for an answer, as a ping would; so does
   * whatever else is sent in this turn. One does for all that came in it.
   */
  #acknowledge(): void {
    if (!this.#pongs) return
    this.#unacknowledged ??= setImmediate(() => {
      this.#unacknowledged = undefined
      if (this.#socket.readyState === this.#socket.OPEN) this.#socket.pong()
    })
  }

  #sendInFrames(bytes: Buffer, done: (cause?: Error | null) => void): void {
    for (let start = 0; start < bytes.length; start += FRAME) {
      const last = start + FRAME >= bytes.length
      this.#socket.send(bytes.subarray(start, start + FRAME), { fin: last, binary: false }, last ? done : undefined)
    }
  }

  #take(data: RawData): void {
    const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer)
    if (this.#fault !== undefined) return
    if (!isUtf8(bytes)) {
      this.#fault = new ProtocolViolationError(`${this.#place} sent a message that is not UTF-8`, {
        place: this.#place,
      })
      this.drop()
    } else this.onmessage(bytes.toString('utf8'))
  }
}

const FRAME = 8 * 1024 * 1024
