import { once } from 'node:events'
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { createParser } from 'eventsource-parser'
import type { JsonObject } from '../../../src/protocol/index.js'

/** A client without any library, which can be as impolite as a test needs. */
export interface RawRequest {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

export interface RawResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The body as JSON, or the data of its only event. */
  readonly json: () => JsonObject
  /** Everything that came: notifications, and the answer last. */
  readonly messages: () => JsonObject[]
}

export interface RawEvent {
  readonly id: string | undefined
  readonly data: string
  readonly json: () => JsonObject
}

export const MCP_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
} as const

/** Sends and reads the whole response. */
export async function send(url: string, raw: RawRequest): Promise<RawResponse> {
  const response = await start(url, raw)
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  const messages = () => parseBody(response, text)
  return { status: response.statusCode ?? 0, headers: response.headers, text, messages, json: () => only(messages()) }
}

/** Sends and returns with the response's head. */
export async function start(url: string, raw: RawRequest): Promise<IncomingMessage> {
  const target = new URL(url)
  const outgoing = request({
    host: target.hostname,
    port: target.port,
    path: raw.path ?? target.pathname,
    method: raw.method ?? 'POST',
    headers: { ...MCP_HEADERS, ...raw.headers },
    agent: false,
  })
  outgoing.end(raw.body)
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  return response
}

export class RawStream {
  readonly response: IncomingMessage
  readonly events: RawEvent[] = []
  /** Milliseconds of the last `retry` field. */
  retry: number | undefined
  readonly #waiters: (() => void)[] = []
  #ended = false
  #taken = 0

  constructor(response: IncomingMessage) {
    this.response = response
    const parser = createParser({
      onEvent: ({ id, data }) => {
        this.events.push({ id, data, json: () => JSON.parse(data) as JsonObject })
        this.#wake()
      },
      onRetry: (retry) => {
        this.retry = retry
      },
    })
    response.setEncoding('utf8')
    response.on('data', (text: string) => parser.feed(text))
    const end = () => {
      this.#ended = true
      this.#wake()
    }
    response.once('end', end).once('close', end).once('error', end)
  }

  /** The next event, or undefined at the end of the stream. */
  async next(): Promise<RawEvent | undefined> {
    while (this.#taken >= this.events.length) {
      if (this.#ended) return undefined
      await new Promise<void>((resolve) => this.#waiters.push(resolve))
    }
    const event = this.events[this.#taken]
    this.#taken += 1
    return event
  }

  /** The next event that is a message; empty ones are passed over. */
  async message(): Promise<JsonObject> {
    for (let event = await this.next(); event !== undefined; event = await this.next()) {
      if (event.data !== '') return event.json()
    }
    throw new Error('the stream ended')
  }

  /** Leaves without a word. */
  drop(): void {
    this.response.destroy()
  }

  #wake(): void {
    for (const waiter of this.#waiters.splice(0)) waiter()
  }
}

export async function openStream(url: string, raw: RawRequest): Promise<RawStream> {
  return new RawStream(await start(url, raw))
}

function parseBody(response: IncomingMessage, text: string): JsonObject[] {
  if (!String(response.headers['content-type']).startsWith('text/event-stream')) return [JSON.parse(text) as JsonObject]
  const messages: JsonObject[] = []
  const parser = createParser({ onEvent: ({ data }) => data !== '' && messages.push(JSON.parse(data) as JsonObject) })
  parser.feed(text)
  return messages
}

function only([message, ...more]: readonly JsonObject[]): JsonObject {
  if (message === undefined || more.length > 0) throw new Error(`expected one message, got ${more.length + 1}`)
  return message
}

/** One client's session by hand. */
export class RawSession {
  readonly url: string
  readonly headers: Record<string, string>
  #lastId = 0

  constructor(url: string, headers: Record<string, string>) {
    this.url = url
    this.headers = headers
  }

  /** `initialize` and `notifications/initialized`. */
  static async open(
    url: string,
    options: { token?: string; revision?: string; capabilities?: JsonObject } = {},
  ): Promise<RawSession> {
    const revision = options.revision ?? '2025-11-25'
    const headers: Record<string, string> =
      options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 'init',
      method: 'initialize',
      params: {
        protocolVersion: revision,
        capabilities: options.capabilities ?? {},
        clientInfo: { name: 'raw', version: '1' },
      },
    })
    const answer = await send(url, { headers, body })
    const id = answer.headers['mcp-session-id']
    if (typeof id !== 'string') throw new Error(`no session: ${answer.status} ${answer.text}`)
    const spoken = String((answer.json().result as JsonObject | undefined)?.protocolVersion)
    const session = new RawSession(url, { ...headers, 'mcp-session-id': id, 'mcp-protocol-version': spoken })
    await session.notify('notifications/initialized')
    return session
  }

  request(method: string, params?: JsonObject, id: string | number = this.nextId()): Promise<RawResponse> {
    return this.post({ jsonrpc: '2.0', id, method, ...(params && { params }) })
  }

  stream(method: string, params?: JsonObject, id: string | number = this.nextId()): Promise<RawStream> {
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, ...(params && { params }) })
    return openStream(this.url, { headers: this.headers, body })
  }

  notify(method: string, params?: JsonObject): Promise<RawResponse> {
    return this.post({ jsonrpc: '2.0', method, ...(params && { params }) })
  }

  post(message: unknown): Promise<RawResponse> {
    return send(this.url, { headers: this.headers, body: JSON.stringify(message) })
  }

  listen(lastEventId?: string): Promise<RawStream> {
    const resume: Record<string, string> = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
    return openStream(this.url, {
      method: 'GET',
      headers: { ...this.headers, accept: 'text/event-stream', ...resume },
    })
  }

  end(): Promise<RawResponse> {
    return send(this.url, { method: 'DELETE', headers: this.headers })
  }

  nextId(): number {
    this.#lastId += 1
    return this.#lastId
  }
}
