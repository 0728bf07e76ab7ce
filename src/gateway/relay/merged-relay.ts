import type { FromServer } from '../../connections/index.js'
import type { Era, JsonObject } from '../../protocol/index.js'
import type { CallOptions, Thread } from '../../threads/index.js'
import type { ClientTasks } from '../tasks/index.js'
import { type OwnedUri, qualifyUri } from '../uris.js'
import type { ClientSide } from './client-side.js'
import { complete } from './completion.js'
import { ExtensionMethods } from './extension-methods.js'
import { LoggingRelay } from './logging.js'
import { PromptsRelay } from './prompts.js'
import type { Relay } from './relay.js'
import type { RelayOptions } from './relay-options.js'
import { ResourcesRelay } from './resources.js'
import { QUALIFIED } from './tool-presentation.js'
import { ToolsRelay } from './tools.js'

type Method = (params: JsonObject, options: RelayOptions) => Promise<JsonObject>

/** All servers behind one: names and URIs tell whose they are. */
export class MergedRelay implements Relay {
  readonly era: Era
  readonly thread: Thread
  readonly tasks: ClientTasks
  readonly #resources: ResourcesRelay
  readonly #extensions: ExtensionMethods
  readonly #logging: LoggingRelay
  readonly #methods: ReadonlyMap<string, Method>

  constructor(thread: Thread, side: ClientSide) {
    const { form } = side
    this.era = side.era
    this.thread = thread
    const tools = new ToolsRelay(thread, QUALIFIED, side)
    this.tasks = tools.tasks
    const prompts = new PromptsRelay(thread, form)
    const resources = new ResourcesRelay(thread, form)
    const logging = new LoggingRelay(thread)
    this.#resources = resources
    this.#extensions = new ExtensionMethods(thread, resources, form)
    this.#logging = logging
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
      ['completion/complete', (params, options) => complete({ thread, prompts, resources, form }, params, options)],
      ['logging/setLevel', (params) => logging.setLevel(params)],
    ])
  }

  async answer(method: string, params: JsonObject, options: RelayOptions): Promise<JsonObject> {
    const handler = this.#methods.get(method)
    const ofTasks = handler === undefined ? this.tasks.answer(method, params, options) : undefined
    if (ofTasks !== undefined) return ofTasks
    return handler === undefined ? this.#extensions.answer(method, params, options) : handler(params, options)
  }

  ownerOf(uri: string, options: CallOptions): Promise<OwnedUri> {
    return this.#resources.ownerOf(uri, options)
  }

  uriOf({ key, uri }: OwnedUri): string {
    return qualifyUri(key, uri)
  }

  told({ key, method, params: said = {} }: FromServer): JsonObject | undefined {
    const params = this.tasks.told({ key, method }, said)
    if (method === 'notifications/message') return this.#logging.message(key, params)
    if (method === 'notifications/resources/updated') return this.#resources.updated(key, params)
    return params
  }

  /** No server is meant by it. */
  notified(): void {}
}
