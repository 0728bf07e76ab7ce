import type { JsonObject, JsonValue } from '../../../protocol/index.js'
import { isObject } from './client-frame.js'

/**
 * How a session of the `initialize` era was opened and set up by its client: what has to be said again to another broker
 * so that it goes on as if nothing had been. Sessions of the later era need nothing: each request says all.
 */
export class OpenedSession {
  readonly #subscribed = new Map<string, JsonObject>()
  #initialize: JsonObject | undefined
  #result: JsonObject | undefined
  #initialized = false
  #logLevel: JsonObject | undefined

  /** Its client was answered, and may have been told things since. */
  get isOpen(): boolean {
    return this.#result !== undefined
  }

  /** A request of the client was answered with a result. */
  answered(method: string, params: JsonObject, result: () => JsonObject): void {
    if (method === 'initialize') {
      this.#initialize = params
      this.#result = result()
    } else if (method === 'logging/setLevel') this.#logLevel = params
    else if (typeof params.uri !== 'string') return
    else if (method === 'resources/subscribe') this.#subscribed.set(params.uri, params)
    else if (method === 'resources/unsubscribe') this.#subscribed.delete(params.uri)
  }

  /** The client said that it is ready. */
  initialized(): void {
    this.#initialized = true
  }

  /** Messages that open the session again; requests have no id yet. */
  again(): readonly { readonly method: string; readonly params?: JsonObject; readonly request: boolean }[] {
    if (this.#initialize === undefined || this.#result === undefined) return []
    return [
      { method: 'initialize', params: this.#initialize, request: true },
      ...(this.#initialized ? [{ method: 'notifications/initialized', request: false }] : []),
      ...(this.#logLevel === undefined ? [] : [{ method: 'logging/setLevel', params: this.#logLevel, request: true }]),
      ...[...this.#subscribed.values()].map((params) => ({ method: 'resources/subscribe', params, request: true })),
    ]
  }

  /** Whether an answer to the repeated `initialize` agrees on what the client was told. */
  agreesWith(result: JsonObject): boolean {
    return result.protocolVersion === this.#result?.protocolVersion
  }

  /** What the client is told once its session goes on: anything may have changed meanwhile. */
  news(): readonly string[] {
    if (!this.#initialized) return []
    const capabilities = member(this.#result, 'capabilities')
    return ['tools', 'resources', 'prompts']
      .filter((what) => member(capabilities, what)?.listChanged === true)
      .map((what) => JSON.stringify({ jsonrpc: '2.0', method: `notifications/${what}/list_changed` }))
  }
}

function member(of: JsonObject | undefined, name: string): JsonObject | undefined {
  const value: JsonValue | undefined = of !== undefined && Object.hasOwn(of, name) ? of[name] : undefined
  return isObject(value) ? value : undefined
}
