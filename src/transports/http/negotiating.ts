import { AuthRequiredError, HttpStatusError, InsufficientScopeError } from '../../errors.js'
import {
  isRequest,
  type JsonRpcMessage,
  type ReceivedOn,
  type SendOptions,
  type Transport,
  type TransportClosed,
} from '../../protocol/index.js'
import { abortError } from './abortion.js'
import { isTransient } from './retries.js'

/**
 * Starts with one transport and changes to the older one when the server refuses `initialize` as something that it does
 * not know: a 4xx that is no answer, no wish for authorization and no passing trouble. If the older transport does not
 * come up either, the first refusal counts.
 */
export class NegotiatingTransport implements Transport {
  onmessage: ((message: JsonRpcMessage, on: ReceivedOn) => void) | undefined
  onclose: ((closed: TransportClosed) => void) | undefined
  onwarning: ((warning: Error) => void) | undefined
  readonly #makeOlder: () => Transport
  #current: Transport
  #changed = false
  #closing = false

  constructor(newer: Transport, makeOlder: () => Transport) {
    this.#makeOlder = makeOlder
    this.#current = newer
    this.#listenTo(newer)
  }

  start(): Promise<void> {
    return this.#current.start()
  }

  protocolVersion(version: string): void {
    this.#current.protocolVersion?.(version)
  }

  async send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    try {
      await this.#current.send(message, options)
    } catch (refusal) {
      if (this.#changed || this.#closing || !isInitialize(message) || !isUnknown(refusal)) throw refusal
      await this.#change(refusal, options?.signal)
      await this.#current.send(message, options)
    }
  }

  close(): Promise<void> {
    this.#closing = true
    return this.#current.close()
  }

  async #change(refusal: HttpStatusError, signal: AbortSignal | undefined): Promise<void> {
    const newer = this.#current
    const older = this.#makeOlder()
    const stop = () => void older.close()
    // From here on `close` ends the older one; it has no owner but us.
    this.#listenTo(older)
    this.#current = older
    signal?.addEventListener('abort', stop, { once: true })
    try {
      await older.start()
    } catch (error) {
      if (signal?.aborted) throw abortError(signal)
      if (this.#closing || wantsAuthorization(error)) throw error
      unlisten(older)
      await older.close()
      this.#current = newer
      this.#listenTo(newer)
      throw refusal
    } finally {
      signal?.removeEventListener('abort', stop)
    }
    this.#changed = true
    unlisten(newer)
    await newer.close()
  }

  #listenTo(transport: Transport): void {
    const isCurrent = () => this.#current === transport
    transport.onmessage = (message, on) => {
      if (isCurrent()) this.onmessage?.(message, on)
    }
    transport.onclose = (closed) => {
      if (isCurrent()) this.onclose?.(closed)
    }
    transport.onwarning = (warning) => this.onwarning?.(warning)
  }
}

function unlisten(transport: Transport): void {
  transport.onmessage = undefined
  transport.onclose = undefined
}

function isInitialize(message: JsonRpcMessage): boolean {
  return isRequest(message) && message.method === 'initialize'
}

function isUnknown(refusal: unknown): refusal is HttpStatusError {
  if (!(refusal instanceof HttpStatusError)) return false
  const { status } = refusal
  return status >= 400 && status <= 499 && status !== 401 && status !== 403 && !isTransient(status)
}

function wantsAuthorization(error: unknown): boolean {
  return error instanceof AuthRequiredError || error instanceof InsufficientScopeError
}
