import type { ServerRequestHandler } from '../../connections/index.js'
import { LimitExceededError } from '../../errors.js'
import type { JsonObject, JsonValue } from '../../protocol/index.js'
import { isObject } from '../relay/params.js'
import { LocalTask } from './local-task.js'

const TTL_MS = { usual: 10 * 60_000, most: 24 * 60 * 60_000 }
const TASKS = 256

/** The tasks of one client that are run here. Each is kept for its time to live, ended or not. */
export class LocalTasks {
  readonly #ask: ServerRequestHandler
  readonly #tasks = new Map<string, LocalTask>()

  constructor(ask: ServerRequestHandler) {
    this.#ask = ask
  }

  /** @throws LimitExceededError */
  start(wanted: JsonValue | undefined, work: (task: LocalTask) => Promise<JsonObject>): LocalTask {
    if (this.#tasks.size >= TASKS) this.#forgetEnded()
    if (this.#tasks.size >= TASKS) throw new LimitExceededError('the number of tasks of one client', TASKS)
    const ttl = ttlOf(wanted)
    const task = new LocalTask(ttl, this.#ask)
    this.#tasks.set(task.id, task)
    setTimeout(() => this.#expire(task), ttl).unref()
    task.run(() => work(task))
    return task
  }

  get(id: string): LocalTask | undefined {
    return this.#tasks.get(id)
  }

  get shown(): readonly JsonObject[] {
    return [...this.#tasks.values()].map((task) => task.shown)
  }

  #expire(task: LocalTask): void {
    this.#tasks.delete(task.id)
    if (!task.ended) task.cancel()
  }

  #forgetEnded(): void {
    const [oldest] = [...this.#tasks.values()].filter(({ ended }) => ended)
    if (oldest !== undefined) this.#tasks.delete(oldest.id)
  }
}

function ttlOf(wanted: JsonValue | undefined): number {
  const ttl = isObject(wanted) ? wanted.ttl : undefined
  return typeof ttl === 'number' && ttl > 0 ? Math.min(ttl, TTL_MS.most) : TTL_MS.usual
}
