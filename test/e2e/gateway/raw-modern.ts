import type { JsonObject, RequestId } from '../../../src/protocol/index.js'
import { standardHeaders } from '../../../src/protocol/index.js'
import { openStream, type RawResponse, type RawStream, send } from './raw-http.js'

const META = 'io.modelcontextprotocol/'

export interface ModernOptions {
  readonly token?: string
  readonly capabilities?: JsonObject
  readonly clientInfo?: JsonObject
}

export interface ModernExtras {
  readonly id?: RequestId
  /** Over those that the message wants; an empty text leaves one out. */
  readonly headers?: Readonly<Record<string, string>>
  /** Members of `_meta` beside the envelope. */
  readonly meta?: JsonObject
  readonly capabilities?: JsonObject
}

/** A modern client by hand: every request is complete in itself. */
export class RawModern {
  readonly url: string
  readonly #options: ModernOptions
  #lastId = 0

  constructor(url: string, options: ModernOptions = {}) {
    this.url = url
    this.#options = options
  }

  request(method: string, params: JsonObject = {}, extras: ModernExtras = {}): Promise<RawResponse> {
    return send(this.url, this.#message(method, params, extras))
  }

  stream(method: string, params: JsonObject = {}, extras: ModernExtras = {}): Promise<RawStream> {
    return openStream(this.url, this.#message(method, params, extras))
  }

  /** The result; an error is thrown with its code and data. */
  async result(method: string, params: JsonObject = {}, extras: ModernExtras = {}): Promise<JsonObject> {
    const { result, error } = (await this.request(method, params, extras)).messages().at(-1) ?? {}
    if (error !== undefined) throw Object.assign(new Error(String((error as JsonObject).message)), error)
    return result as JsonObject
  }

  call(name: string, args: JsonObject = {}, more: JsonObject = {}, extras: ModernExtras = {}): Promise<JsonObject> {
    return this.result('tools/call', { name, arguments: args, ...more }, extras)
  }

  #message(method: string, params: JsonObject, { id, headers, meta, capabilities }: ModernExtras) {
    this.#lastId += 1
    const { token, clientInfo = { name: 'raw', version: '1' } } = this.#options
    const _meta = {
      ...meta,
      [`${META}protocolVersion`]: '2026-07-28',
      [`${META}clientInfo`]: clientInfo,
      [`${META}clientCapabilities`]: capabilities ?? this.#options.capabilities ?? {},
    }
    const all = {
      'mcp-protocol-version': '2026-07-28',
      ...Object.fromEntries(standardHeaders({ method, params }).map(([name, value]) => [name.toLowerCase(), value])),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    }
    return {
      headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== '')),
      body: JSON.stringify({ jsonrpc: '2.0', id: id ?? this.#lastId, method, params: { ...params, _meta } }),
    }
  }
}

export function textOf(result: JsonObject): string {
  return String((result.content as JsonObject[])[0]?.text ?? '')
}
