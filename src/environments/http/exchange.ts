import type { Dispatcher } from 'undici'
import { CancelledError, ReeveError } from '../../errors.js'
import type { HttpRequest, HttpResponse } from '../environment.js'
import { ResponseBody } from './body.js'
import { connectionFailed } from './failure.js'

/**
 * One request on its way. It is the library's handler, so that it knows the moment from which the request counts as
 * sent: the library calls `onRequestStart` right before the first byte, on an open connection.
 *
 * Puts exactly one listener on the request's signal, and takes it off when the exchange ends.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly response: Promise<HttpResponse>
  readonly #request: HttpRequest
  readonly #body = new ResponseBody()
  readonly #onAbort = () => this.#stop(this.#cancelled())
  readonly #accept: (response: HttpResponse) => void
  readonly #refuse: (error: Error) => void
  #controller: Dispatcher.DispatchController | undefined
  #ended = false

  constructor(request: HttpRequest) {
    this.#request = request
    const { promise, resolve, reject } = deferred<HttpResponse>()
    this.response = promise
    this.#accept = resolve
    this.#refuse = reject
    this.#body.onread = () => this.#controller?.resume()
    this.#body.oncancel = () => this.#stop(this.#cancelled())
    request.signal?.addEventListener('abort', this.#onAbort, { once: true })
    if (request.signal?.aborted) this.#onAbort()
  }

  get ended(): boolean {
    return this.#ended
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // Given up while it waited for a connection: the library then writes nothing.
    if (this.#ended) controller.abort(this.#cancelled())
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (status < 200 || this.#ended) return
    const fields = readFields(controller.rawHeaders)
    this.#accept({
      status,
      header: (name) => fields.get(name)?.[0],
      headerAll: (name) => fields.get(name) ?? [],
      body: this.#body,
      cancel: () => this.#stop(this.#cancelled()),
    })
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#body.push(chunk)) controller.pause()
  }

  onResponseEnd(): void {
    this.#end(undefined)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end(connectionFailed(error, this.#request.url, this.#controller !== undefined))
  }

  /** The request could not be handed to the library at all. */
  fail(error: unknown): void {
    this.#end(connectionFailed(error, this.#request.url, false))
  }

  #stop(error: Error): void {
    if (this.#ended) return
    this.#end(error)
    this.#controller?.abort(error)
  }

  #end(error: Error | undefined): void {
    if (this.#ended) return
    this.#ended = true
    this.#request.signal?.removeEventListener('abort', this.#onAbort)
    this.#body.finish(error)
    if (error !== undefined) this.#refuse(error)
  }

  #cancelled(): ReeveError {
    const reason: unknown = this.#request.signal?.reason
    if (reason instanceof ReeveError) return reason
    return new CancelledError('the HTTP request was cancelled', { data: { sent: this.#controller !== undefined } })
  }
}

/** Values are UTF-8 where they can be, else Latin-1; so what a server gave is given back to it byte for byte. */
function readFields(raw: Dispatcher.DispatchController['rawHeaders']): Map<string, string[]> {
  const fields = new Map<string, string[]>()
  if (!Array.isArray(raw)) return fields
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = String(raw[at]).toLowerCase()
    const value = decodeValue(raw[at + 1])
    const known = fields.get(name)
    if (known === undefined) fields.set(name, [value])
    else known.push(value)
  }
  return fields
}

function decodeValue(value: Buffer | string | undefined): string {
  if (!Buffer.isBuffer(value)) return value ?? ''
  const text = value.toString('utf8')
  return text.includes('\ufffd') ? value.toString('latin1') : text
}

function deferred<T>() {
  let resolve: (value: T) => void = () => {}
  let reject: (error: Error) => void = () => {}
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue
    reject = onError
  })
  return { promise, resolve, reject }
}
