import type { FromServer } from '../../connections/index.js'
import type { ServerKey } from '../../identity/index.js'
import type { Era, JsonObject } from '../../protocol/index.js'
import type { ServerSelector, Thread } from '../../threads/index.js'
import type { ResultForm } from '../bridge/index.js'
import type { ClientTasks } from '../tasks/index.js'
import type { OwnedUri } from '../uris.js'
import { outgoingMeta } from './call-meta.js'
import type { ClientSide } from './client-side.js'
import { LoggingRelay } from './logging.js'
import { optionalObject } from './params.js'
import type { Relay } from './relay.js'
import { callOptionsOf, type RelayOptions } from './relay-options.js'
import { unchanged } from './tool-presentation.js'
import { ToolsRelay } from './tools.js'

/** Milliseconds for a request that has no time of its own (reference: README, constants). */
const REQUEST_TIMEOUT = 300_000

/** Requests that wait for something to happen, however long that takes. */
const UNBOUNDED: ReadonlySet<string> = new Set(['tasks/result'])

/**
 * One server as if it stood here itself: every name, URI and cursor is its own, and a method that nobody here knows is
 * the server's to answer. Tools pass the filters, approvals and bindings that they always pass.
 */
export class TransparentRelay implements Relay {
  readonly era: Era
  readonly thread: Thread
  readonly #key: ServerKey
  readonly #form: ResultForm
  readonly #selector: ServerSelector
  readonly #tools: ToolsRelay
  readonly #logging: LoggingRelay
  readonly #onFault: (error: unknown) => void

  constructor(thread: Thread, key: ServerKey, side: ClientSide, onFault: (error: unknown) => void) {
    this.era = side.era
    this.thread = thread
    this.#key = key
    this.#form = side.form
    this.#selector = { server: key.name, environment: key.environment }
    this.#tools = new ToolsRelay(thread, unchanged(key), side, key)
    this.#logging = new LoggingRelay(thread)
    this.#onFault = onFault
  }

  get tasks(): ClientTasks {
    return this.#tools.tasks
  }

  async answer(method: string, params: JsonObject, options: RelayOptions): Promise<JsonObject> {
    if (method === 'tools/list') return this.#tools.list(params)
    if (method === 'tools/call') return this.#tools.call(params, options)
    if (method === 'logging/setLevel') return this.#logging.setLevel(params)
    return this.tasks.answer(method, params, options) ?? this.#forward(method, params, options)
  }

  async ownerOf(uri: string): Promise<OwnedUri> {
    return { key: this.#key, uri }
  }

  uriOf({ uri }: OwnedUri): string {
    return uri
  }

  told({ key, method, params: said = {} }: FromServer): JsonObject | undefined {
    const params = this.tasks.told({ key, method }, said)
    return method === 'notifications/message' && !this.#logging.wants(params) ? undefined : params
  }

  notified(method: string, params: JsonObject | undefined): void {
    this.thread
      .client(this.#selector)
      .then(({ client }) => client.notify(method, params))
      .catch(this.#onFault)
  }

  async #forward(method: string, params: JsonObject, options: RelayOptions): Promise<JsonObject> {
    const { params: further, ...requestOptions } = callOptionsOf(options, this.#key)
    const { _meta, ...rest } = params
    const meta = outgoingMeta(optionalObject(params, '_meta'))
    const { client } = await this.thread.client(this.#selector, options)
    const sent = { ...rest, ...further, ...(meta && { _meta: meta }) }
    const bound = UNBOUNDED.has(method) ? {} : { timeoutMs: REQUEST_TIMEOUT }
    await options.onBound?.(this.#key)
    const result = await client.request(method, sent, { ...bound, ...requestOptions })
    return this.#form.relayed(client.era, method, result)
  }
}
