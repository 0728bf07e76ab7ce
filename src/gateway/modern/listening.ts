import { type ServerKey, sameKey } from '../../identity/index.js'
import { type JsonObject, MODERN_META } from '../../protocol/index.js'
import { isObject } from '../relay/params.js'
import { serverEra } from '../relay/server-era.js'
import type { OwnedUri } from '../uris.js'
import type { ChangedList, ChangeListener } from './ears.js'
import { announced, LIST_MEMBERS, type ListenFilter } from './listen-filter.js'
import type { ModernThread } from './modern-thread.js'
import type { ModernRequest } from './request.js'

/** Changes of one list that come together are told together. */
const TOGETHER_MS = 100
/** Updates kept until the stream is acknowledged. */
const HELD = 256

interface Subscription {
  /** As the client named it. */
  readonly name: string
  readonly owned: OwnedUri
}

/** One `subscriptions/listen` stream, from its acknowledgement to its end. */
export class Listening implements ChangeListener {
  readonly #request: ModernRequest
  readonly #thread: ModernThread
  readonly #filter: ListenFilter
  readonly #lists = new Set<ChangedList>()
  readonly #subscriptions: Subscription[] = []
  readonly #tasks = new Set<string>()
  readonly #timers = new Map<ChangedList, NodeJS.Timeout>()
  #state: { kind: 'opening'; held: { key: ServerKey; params: JsonObject }[] } | { kind: 'open' } | { kind: 'ended' } = {
    kind: 'opening',
    held: [],
  }

  constructor(request: ModernRequest, thread: ModernThread, filter: ListenFilter) {
    this.#request = request
    this.#thread = thread
    this.#filter = filter
  }

  /**
   * Subscribes and acknowledges what was agreed to, then tells of changes until the client leaves, or `shutdown` fires;
   * the result is for the latter alone.
   */
  async run(shutdown: AbortSignal): Promise<JsonObject> {
    const leave = this.#thread.ears.listen(this)
    try {
      for (const list of announced(this.#filter.lists, await this.#thread.capabilities())) this.#lists.add(list)
      for (const taskId of this.#filter.taskIds) if (this.#isTold(taskId)) this.#tasks.add(taskId)
      await Promise.all(this.#filter.uris.map((uri) => this.#subscribe(uri)))
      this.#acknowledge()
      await firstOf(this.#request.signal, shutdown)
      return this.#tagged({})
    } finally {
      leave()
      this.#end()
    }
  }

  listChanged(what: ChangedList): void {
    if (this.#state.kind !== 'open' || !this.#lists.has(what) || this.#timers.has(what)) return
    const tell = () => {
      this.#timers.delete(what)
      this.#tell(`notifications/${what}/list_changed`, {})
    }
    this.#timers.set(what, setTimeout(tell, TOGETHER_MS))
  }

  resourceUpdated(key: ServerKey, params: JsonObject): void {
    if (this.#state.kind === 'opening' && this.#state.held.length < HELD) this.#state.held.push({ key, params })
    if (this.#state.kind !== 'open' || typeof params.uri !== 'string') return
    const { uri } = params
    const ofServer = this.#subscriptions.filter(({ owned }) => sameKey(owned.key, key))
    const exact = ofServer.find(({ owned }) => owned.uri === uri)
    // A server may tell of a part of what was subscribed to.
    const within = exact ?? ofServer.find(({ owned }) => uri.startsWith(owned.uri))
    if (within === undefined) return
    const name = exact?.name ?? this.#thread.relay.uriOf({ key, uri })
    this.#tell('notifications/resources/updated', { ...params, uri: name })
  }

  taskChanged(key: ServerKey, id: string): void {
    const name = this.#thread.relay.tasks.names.nameOf({ key, id })
    if (this.#state.kind !== 'open' || !this.#tasks.has(name)) return
    const { relay } = this.#thread
    const state = relay.answer('tasks/get', { taskId: name }, { signal: this.#request.signal })
    state.then(
      ({ resultType: _, ...task }) => this.#tell('notifications/tasks', task),
      // The client looks itself, as it has to anyway: these notifications are optional.
      () => undefined,
    )
  }

  /** Legacy servers tell of their tasks unasked; a modern one can't be asked to here, and its tasks are looked at. */
  #isTold(taskId: string): boolean {
    const { relay, thread } = this.#thread
    try {
      return serverEra(thread, relay.tasks.names.ownerOf(taskId).key) === 'legacy'
    } catch {
      return false
    }
  }

  /** A resource that can't be subscribed to is left out of what is agreed. */
  async #subscribe(name: string): Promise<void> {
    try {
      const owned = await this.#thread.relay.ownerOf(name, { signal: this.#request.signal })
      await this.#thread.subscriptions.hold(owned)
      if (this.#state.kind === 'opening') this.#subscriptions.push({ name, owned })
      else this.#thread.subscriptions.release(owned)
    } catch {
      // Whose it is or whether it can be watched: the acknowledgement says that it is not.
    }
  }

  #acknowledge(): void {
    if (this.#state.kind !== 'opening') return
    const { held } = this.#state
    this.#state = { kind: 'open' }
    const agreed = this.#filter.uris.filter((uri) => this.#subscriptions.some(({ name }) => name === uri))
    const notifications: JsonObject = {
      ...Object.fromEntries([...this.#lists].map((list) => [LIST_MEMBERS[list], true])),
      ...(agreed.length > 0 && { resourceSubscriptions: agreed }),
      ...(this.#tasks.size > 0 && { taskIds: [...this.#tasks] }),
    }
    this.#tell('notifications/subscriptions/acknowledged', { notifications })
    for (const { key, params } of held) this.resourceUpdated(key, params)
  }

  #tell(method: string, params: JsonObject): void {
    if (this.#state.kind === 'open') this.#request.notify(method, this.#tagged(params))
  }

  /** With the id of the request, in its own type: a client with several streams tells them apart by it. */
  #tagged(params: JsonObject): JsonObject {
    const meta = isObject(params._meta) ? params._meta : {}
    return { ...params, _meta: { ...meta, [MODERN_META.subscriptionId]: this.#request.id } }
  }

  #end(): void {
    this.#state = { kind: 'ended' }
    for (const timer of this.#timers.values()) clearTimeout(timer)
    for (const { owned } of this.#subscriptions.splice(0)) this.#thread.subscriptions.release(owned)
  }
}

function firstOf(...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      for (const signal of signals) signal.removeEventListener('abort', done)
      resolve()
    }
    for (const signal of signals) signal.addEventListener('abort', done)
    if (signals.some((signal) => signal.aborted)) done()
  })
}
