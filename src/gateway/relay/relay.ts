import { RpcError } from '../../errors.js'
import { type InboundRequest, type JsonObject, type Peer, RPC } from '../../protocol/index.js'
import type { CallOptions, Thread } from '../../threads/index.js'
import { callOptions } from './call-options.js'
import { complete } from './completion.js'
import { LoggingRelay } from './logging.js'
import { PromptsRelay } from './prompts.js'
import { ResourcesRelay } from './resources.js'
import { ToolsRelay } from './tools.js'

type Method = (params: JsonObject, options: CallOptions) => Promise<JsonObject>

/** Everything that a client asks of its thread, by method. */
export class Relay {
  readonly thread: Thread
  readonly resources: ResourcesRelay
  readonly logging: LoggingRelay
  readonly #peer: Peer
  readonly #onFault: (error: unknown) => void
  readonly #methods: ReadonlyMap<string, Method>

  constructor(thread: Thread, peer: Peer, onFault: (error: unknown) => void) {
    this.thread = thread
    this.#peer = peer
    this.#onFault = onFault
    const tools = new ToolsRelay(thread)
    const prompts = new PromptsRelay(thread)
    const resources = new ResourcesRelay(thread)
    const logging = new LoggingRelay(thread)
    this.resources = resources
    this.logging = logging
    this.#methods = new Map<string, Method>([
      ['tools/list', (params) => tools.list(params)],
      ['tools/call', (params, options) => tools.call(params, options)],
      ['resources/list', (params, options) => resources.list(params, options)],
      ['resources/templates/list', (params, options) => resources.listTemplates(params, options)],
      ['resources/read', (params, options) => resources.read(params, options)],
      ['resources/subscribe', (params, options) => resources.subscribe(params, options)],
      ['resources/unsubscribe', (params, options) => resources.unsubscribe(params, options)],
      ['prompts/list', (params, options) => prompts.list(params, options)],
      ['prompts/get', (params, options) => prompts.get(params, options)],
      ['completion/complete', (params, options) => complete(thread, { prompts, resources }, params, options)],
      ['logging/setLevel', (params) => logging.setLevel(params)],
    ])
  }

  /** @throws RpcError -32601 for a method that is none of these. */
  async answer(method: string, params: JsonObject, request: InboundRequest): Promise<JsonObject> {
    const handler = this.#methods.get(method)
    if (handler === undefined) throw new RpcError(RPC.methodNotFound, `Method not found: ${method.slice(0, 200)}`)
    return handler(params, callOptions(this.#peer, params, request, this.#onFault))
  }
}
