import { ReeveError, RpcError } from '../../errors.js'
import { type ServerKey, ServerKeyMap, sameKey } from '../../identity/index.js'
import { type JsonObject, MODERN_META } from '../../protocol/index.js'
import { isMediated } from '../relay/environment-roots.js'
import { isObject } from '../relay/params.js'
import type { OwnedTask, TaskNames } from '../tasks/index.js'
import type { OwnedUri } from '../uris.js'
import type { ChangedList, ChangeListener } from './ears.js'
import { announced, LIST_MEMBERS, type ListenFilter } from './listen-filter.js'
import type { ModernThread } from './modern-thread.js'
import type { ModernRequest } from './request.js'
import { TaskStream } from './task-stream.js'

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
  readonly #left = new AbortController()
  #state: { kind: 'opening'; held: (() => void)[] } | { kind: 'open' } | { kind: 'ended' } = {
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
      await Promise.all([...this.#filter.uris.map((uri) => this.#subscribe(uri)), ...this.#followTasks()])
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
    this.#hold(() => this.resourceUpdated(key, params))
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
    this.#hold(() => this.taskChanged(key, id))
    if (this.#state.kind !== 'open' || !this.#tasks.has(name)) return
    const { relay } = this.#thread
    const state = relay.answer('tasks/get', { taskId: name }, { signal: this.#request.signal })
    state.then(
      ({ resultType: _, ...task }) => this.#tell('notifications/tasks', task),
      // The client looks itself, as it has to anyway: these notifications are optional.
      () => undefined,
    )
  }

  /** A modern server said how a task is now, under the names of the client. */
  #taskTold(key: ServerKey, { resultType: _, ...task }: JsonObject): void {
    const { thread, relay } = this.#thread
    // A question of an environment's server is this side's to pass on, which a look at the task does.
    if (isObject(task.inputRequests) && isMediated(thread, key)) {
      const owned = ownedTask(relay.tasks.names, String(task.taskId))
      if (owned !== undefined) this.taskChanged(key, owned.id)
      return
    }
    this.#hold(() => this.#taskTold(key, task))
    if (typeof task.taskId === 'string' && this.#tasks.has(task.taskId)) this.#tell('notifications/tasks', task)
  }

  /** Legacy servers tell of their tasks unasked, modern ones are asked to. A task of nobody here is left out. */
  #followTasks(): readonly Promise<void>[] {
    const { names } = this.#thread.relay.tasks
    const byServer = new ServerKeyMap<string[]>()
    for (const name of this.#filter.taskIds) {
      const owned = ownedTask(names, name)
      if (owned !== undefined) byServer.set(owned.key, [...(byServer.get(owned.key) ?? []), owned.id])
    }
    return [...byServer].map(async ([key, ids]) => {
      for (const id of await this.#followed(key, ids)) this.#tasks.add(names.nameOf({ key, id }))
    })
  }

  /** Those of a server's tasks that it tells of. */
  async #followed(key: ServerKey, ids: readonly string[]): Promise<readonly string[]> {
    const signal = AbortSignal.any([this.#left.signal, this.#request.signal])
    try {
      const at = { server: key.name, environment: key.environment }
      const { client } = await this.#thread.thread.client(at, { signal })
      if (client.era === 'legacy') return ids
      const tell = (task: JsonObject) => this.#taskTold(key, task)
      return await new TaskStream({ client, ids, signal, tell, missed: (id) => this.taskChanged(key, id) }).open()
    } catch (error) {
      // A server that is not there tells of nothing: the acknowledgement says so.
      if (error instanceof ReeveError) return []
      throw error
    }
  }

  /** What comes before the acknowledgement is told after it. */
  #hold(tell: () => void): void {
    if (this.#state.kind === 'opening' && this.#state.held.length < HELD) this.#state.held.push(tell)
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
    for (const tell of held) tell()
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
    this.#left.abort()
    for (const timer of this.#timers.values()) clearTimeout(timer)
    for (const { owned } of this.#subscriptions.splice(0)) this.#thread.subscriptions.release(owned)
  }
}

function ownedTask(names: TaskNames, name: string): OwnedTask | undefined {
  try {
    return names.ownerOf(name)
  } catch (error) {
    if (error instanceof RpcError) return undefined
    throw error
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
