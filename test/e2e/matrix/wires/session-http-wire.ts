import type { JsonObject, JsonRpcRequest, RequestId } from '../../../../src/protocol/index.js'
import { exchange, type Head } from './http-exchange.js'
import { cancellation, isAnswerTo, TakenBackError, type Wire } from './wire.js'

/** Streamable HTTP with a session: a POST a message, and a GET stream for what belongs to none (up to 2025-11-25). */
export class SessionHttpWire implements Wire {
  onmessage: (message: JsonObject) => void = () => undefined
  readonly #url: string
  readonly #end = new AbortController()
  readonly #requests = new Map<RequestId, AbortController>()
  #headers: Readonly<Record<string, string>>

  constructor(url: string, token: string) {
    this.#url = url
    this.#headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    }
  }

  async request(request: JsonRpcRequest): Promise<JsonObject> {
    const end = new AbortController()
    this.#requests.set(request.id, end)
    let answer: JsonObject | undefined
    const head = await this.#exchange('POST', { ...request }, end.signal, (message) => {
      if (isAnswerTo(request.id, message)) answer = message
      else this.onmessage(message)
    }).finally(() => this.#requests.delete(request.id))
    if (answer === undefined) throw new Error(`${request.method}: HTTP ${head.status} without an answer`)
    if (request.method === 'initialize') this.#join(head, answer)
    return answer
  }

  async send(message: JsonObject): Promise<void> {
    const { status } = await this.#exchange('POST', message, this.#end.signal, this.onmessage)
    if (status !== 202) throw new Error(`HTTP ${status} to ${JSON.stringify(message).slice(0, 200)}`)
  }

  /** Closing the stream would cancel nothing in this era. */
  async cancel(id: RequestId): Promise<void> {
    await this.send(cancellation(id))
    this.#requests.get(id)?.abort(new TakenBackError())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#exchange('DELETE', undefined, this.#end.signal, this.onmessage)
    this.#end.abort(new Error('the client has left'))
  }

  /** Takes up the session, and listens. */
  #join({ headers }: Head, answer: JsonObject): void {
    const id = headers['mcp-session-id']
    const { protocolVersion } = (answer.result ?? {}) as JsonObject
    if (typeof id !== 'string') return
    this.#headers = { ...this.#headers, 'mcp-session-id': id, 'mcp-protocol-version': String(protocolVersion) }
    // Ends with the session; what fails before shows where something is missed.
    this.#exchange('GET', undefined, this.#end.signal, (message) => this.onmessage(message)).catch(() => undefined)
  }

  #exchange(
    method: 'POST' | 'GET' | 'DELETE',
    body: JsonObject | undefined,
    signal: AbortSignal,
    onMessage: (message: JsonObject) => void,
  ): Promise<Head> {
    return exchange({ url: this.#url, method, headers: this.#headers, ...(body && { body }), signal, onMessage })
  }
}
