import type { JsonObject, JsonValue } from '../protocol/index.js'

type Send = (method: string, params: JsonObject) => Promise<JsonObject>

/** What callers set up on a server that a new session of it would not know: its log level and its subscriptions. */
export class SessionMemory {
  #level: JsonObject | undefined
  readonly #subscriptions = new Map<JsonValue | undefined, JsonObject>()

  /** A request that the server carried out. */
  note(method: string, params: JsonObject | undefined): void {
    if (params === undefined) return
    if (method === 'logging/setLevel') this.#level = params
    else if (method === 'resources/subscribe') this.#subscriptions.set(params.uri, params)
    else if (method === 'resources/unsubscribe') this.#subscriptions.delete(params.uri)
  }

  get subscribedUris(): readonly string[] {
    return [...this.#subscriptions.keys()].filter((uri): uri is string => typeof uri === 'string')
  }

  /** Says it all again. What the server refuses now is reported, and does not stop the rest. */
  async restore(send: Send, refused: (method: string, error: unknown) => void): Promise<void> {
    const requests = [
      ...(this.#level === undefined ? [] : [['logging/setLevel', this.#level] as const]),
      ...[...this.#subscriptions.values()].map((params) => ['resources/subscribe', params] as const),
    ]
    await Promise.all(
      requests.map(([method, params]) => send(method, params).catch((error: unknown) => refused(method, error))),
    )
  }
}
