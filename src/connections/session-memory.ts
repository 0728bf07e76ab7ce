import type { JsonObject, JsonValue } from '../protocol/index.js'
import type { Session } from './session.js'

/** What callers set up on a server that a new session of it would not know: its log level and its subscriptions. */
export class SessionMemory {
  #logLevel: JsonObject | undefined
  readonly #subscriptions = new Map<JsonValue | undefined, JsonObject>()

  /** A request that the server carried out. */
  note(method: string, params: JsonObject | undefined): void {
    if (params === undefined) return
    if (method === 'logging/setLevel') this.#logLevel = params
    else if (method === 'resources/subscribe') this.#subscriptions.set(params.uri, params)
    else if (method === 'resources/unsubscribe') this.#subscriptions.delete(params.uri)
  }

  /** Says it all again. What the server refuses now is reported, and does not stop the rest. */
  async restore(session: Session, timeoutMs: number, refused: (method: string, error: unknown) => void): Promise<void> {
    const requests = [
      ...(this.#logLevel === undefined ? [] : [['logging/setLevel', this.#logLevel] as const]),
      ...[...this.#subscriptions.values()].map((params) => ['resources/subscribe', params] as const),
    ]
    await Promise.all(
      requests.map(([method, params]) =>
        session.request(method, params, { timeoutMs }).catch((error: unknown) => refused(method, error)),
      ),
    )
  }
}
