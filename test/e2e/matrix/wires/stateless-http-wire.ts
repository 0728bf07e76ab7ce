import type { JsonObject, JsonRpcRequest, RequestId } from '../../../../src/protocol/index.js'
import { exchange } from './http-exchange.js'
import { isAnswerTo, TakenBackError, type Wire } from './wire.js'

const PLAIN = /^[\x21-\x7e]+$/
const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

/** HTTP without sessions: each request has a stream of its own, and closing it takes the request back (2026-07-28). */
export class StatelessHttpWire implements Wire {
  onmessage: (message: JsonObject) => void = () => undefined
  readonly #url: string
  readonly #token: string
  readonly #revision: string
  readonly #open = new Map<RequestId, AbortController>()

  constructor(url: string, token: string, revision: string) {
    this.#url = url
    this.#token = token
    this.#revision = revision
  }

  async request(request: JsonRpcRequest): Promise<JsonObject> {
    const end = new AbortController()
    this.#open.set(request.id, end)
    let answer: JsonObject | undefined
    const { status } = await exchange({
      url: this.#url,
      method: 'POST',
      headers: this.#headers(request),
      body: { ...request },
      signal: end.signal,
      onMessage: (message) => {
        if (isAnswerTo(request.id, message)) answer = message
        else this.onmessage(message)
      },
    }).finally(() => this.#open.delete(request.id))
    if (answer === undefined) throw new Error(`${request.method}: HTTP ${status} without an answer`)
    return answer
  }

  send(message: JsonObject): Promise<void> {
    return Promise.reject(new Error(`nothing but requests is sent over this transport: ${JSON.stringify(message)}`))
  }

  async cancel(id: RequestId): Promise<void> {
    this.#open.get(id)?.abort(new TakenBackError())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of this.#open.values()) end.abort(new TakenBackError())
  }

  #headers({ method, params }: JsonRpcRequest): Record<string, string> {
    const name = params?.[NAMED_BY[method] ?? '']
    return {
      authorization: `Bearer ${this.#token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': this.#revision,
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': headerValue(name) }),
    }
  }
}

function headerValue(text: string): string {
  return PLAIN.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`
}
