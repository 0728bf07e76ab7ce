import { setTimeout as sleep } from 'node:timers/promises'
import type { ReadyClient } from '../../connections/index.js'
import { RpcError } from '../../errors.js'
import type { JsonObject } from '../../protocol/index.js'
import { Moment } from '../moment.js'
import { isObject } from '../relay/params.js'
import { isTerminal } from '../tasks/index.js'

/** Milliseconds that a server may take to acknowledge what it is asked to tell; a client is waiting. */
const ACKNOWLEDGED_IN = 10_000
/** Milliseconds before a stream that ended is opened again; doubled each time, up to the last. */
const PAUSE = { first: 500, most: 30_000 } as const

export interface TaskStreamOptions {
  /** Of the modern era. */
  readonly client: ReadyClient
  /** As the server knows them. */
  readonly ids: readonly string[]
  /** Nobody wants to hear of them any more. */
  readonly signal: AbortSignal
  /** How a task is now, in the words of the client that hears it. */
  readonly tell: (task: JsonObject) => void
  /** A task may have changed while nobody could be told. */
  readonly missed: (id: string) => void
}

/**
 * Listens to a modern server for changes of its tasks (extension `io.modelcontextprotocol/tasks`, SEP-2663), until each of
 * them has ended. It is the `origin` of its request, so that what comes on this stream finds its way here. A stream that
 * ends early is opened again, after a pause that grows, for as long as the server still knows some of the tasks.
 */
export class TaskStream {
  readonly #options: TaskStreamOptions
  readonly #left = new AbortController()
  readonly #signal: AbortSignal
  #watched: ReadonlySet<string>
  #acknowledged = new Moment()

  constructor(options: TaskStreamOptions) {
    this.#options = options
    this.#signal = AbortSignal.any([options.signal, this.#left.signal])
    this.#watched = new Set(options.ids)
  }

  /** Resolves to the tasks that the server tells of: none where it refuses, or says nothing. */
  async open(): Promise<readonly string[]> {
    const ended = this.#listen()
    const late = sleep(ACKNOWLEDGED_IN, 'late', { signal: this.#signal, ref: false }).catch(() => 'late')
    const opened = await Promise.race([this.#acknowledged.come.then(() => 'told'), ended, late])
    if (opened === 'told') void this.#keepOpen(ended)
    else this.#end()
    return opened === 'told' ? [...this.#watched] : []
  }

  /** A message on the stream: its params as they came, and as the client is to hear them. */
  heard(method: string, params: JsonObject, told: JsonObject): void {
    if (method === ACKNOWLEDGED) this.#agreed(params)
    if (method !== CHANGED || typeof params.taskId !== 'string' || !this.#watched.has(params.taskId)) return
    this.#options.tell(told)
    if (isTerminal(params)) this.#watch([...this.#watched].filter((id) => id !== params.taskId))
  }

  /** A server that names no tasks has agreed to none. */
  #agreed({ notifications }: JsonObject): void {
    const named = isObject(notifications) ? notifications.taskIds : []
    const told: readonly unknown[] = Array.isArray(named) ? named : []
    this.#watch([...this.#watched].filter((id) => told.includes(id)))
    this.#acknowledged.arrive()
  }

  #watch(ids: readonly string[]): void {
    this.#watched = new Set(ids)
    if (ids.length === 0) this.#end()
  }

  #end(): void {
    this.#left.abort()
  }

  /** Resolves to why it ended: never rejects. */
  async #listen(): Promise<'refused' | 'over'> {
    const { client } = this.#options
    const params = { notifications: { taskIds: [...this.#watched] } }
    try {
      await client.request('subscriptions/listen', params, { signal: this.#signal, origin: this })
      return 'over'
    } catch (error) {
      // Whatever else cut it off, the next attempt meets it again or does not.
      return error instanceof RpcError ? 'refused' : 'over'
    }
  }

  async #keepOpen(first: Promise<'refused' | 'over'>): Promise<void> {
    let ended = await first
    for (let pause: number = PAUSE.first; ended === 'over' && !this.#signal.aborted; ) {
      await sleep(pause, undefined, { signal: this.#signal, ref: false }).catch(() => undefined)
      if (this.#signal.aborted) return
      const since = performance.now()
      ended = await this.#listenAgain()
      // One that a server ends at once, time and again, is opened more and more seldom.
      pause = performance.now() - since > PAUSE.most ? PAUSE.first : Math.min(pause * 2, PAUSE.most)
    }
  }

  #listenAgain(): Promise<'refused' | 'over'> {
    this.#acknowledged = new Moment()
    void this.#acknowledged.come.then(() => {
      for (const id of this.#watched) this.#options.missed(id)
    })
    return this.#listen()
  }
}

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'
const CHANGED = 'notifications/tasks'
