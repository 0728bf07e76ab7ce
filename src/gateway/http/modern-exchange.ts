import type { ServerResponse } from 'node:http'
import { CancelledError } from '../../errors.js'
import type { JsonObject } from '../../protocol/index.js'
import { SseConnection, type SseOptions } from './sse-connection.js'

export interface ModernExchangeOptions {
  /** Milliseconds in which an answer still comes as plain JSON. */
  readonly plainMs: number
  readonly sse: Omit<SseOptions, 'headers'>
}

type State =
  /** Nothing was sent yet: whatever comes first decides the form. */
  | { readonly kind: 'undecided'; readonly timer: NodeJS.Timeout }
  | { readonly kind: 'streaming'; readonly connection: SseConnection }
  | { readonly kind: 'over' }

/**
 * The answer to one modern request: plain JSON when it comes before anything else and soon, otherwise an event stream
 * that can't be resumed. A client that closes the connection has cancelled the request, in either form.
 */
export class ModernExchange {
  readonly #response: ServerResponse
  readonly #options: ModernExchangeOptions
  readonly #left = new AbortController()
  #state: State

  constructor(response: ServerResponse, options: ModernExchangeOptions) {
    this.#response = response
    this.#options = options
    this.#state = { kind: 'undecided', timer: setTimeout(() => this.#stream(), options.plainMs) }
    response.once('close', () => {
      if (this.#leave() !== 'over') this.#left.abort(new CancelledError('the client closed the connection'))
    })
  }

  /** Fires when the client left before its answer. */
  get signal(): AbortSignal {
    return this.#left.signal
  }

  notify(method: string, params: JsonObject): void {
    this.#stream()?.write(frame(JSON.stringify({ jsonrpc: '2.0', method, params })))
  }

  /** @param status of the plain answer; an event stream has begun with 200 */
  answer(json: string, status: number, headers: Readonly<Record<string, string>> = {}): void {
    const former = this.#state
    this.#leave()
    if (former.kind === 'streaming') {
      former.connection.write(frame(json))
      former.connection.end()
    }
    if (former.kind !== 'undecided') return
    this.#response.writeHead(status, {
      ...headers,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(json),
    })
    this.#response.end(json)
  }

  #stream(): SseConnection | undefined {
    if (this.#state.kind === 'streaming') return this.#state.connection
    if (this.#state.kind === 'over') return undefined
    clearTimeout(this.#state.timer)
    const connection = new SseConnection(this.#response, { ...this.#options.sse, headers: {} }, () => undefined)
    this.#state = { kind: 'streaming', connection }
    return connection
  }

  #leave(): State['kind'] {
    const { kind } = this.#state
    if (this.#state.kind === 'undecided') clearTimeout(this.#state.timer)
    this.#state = { kind: 'over' }
    return kind
  }
}

function frame(json: string): string {
  return `event: message\ndata: ${json}\n\n`
}
