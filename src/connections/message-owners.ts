import { RpcError } from '../errors.js'
import { type JsonObject, type JsonValue, RPC } from '../protocol/index.js'
import type { ConnectionRoute } from './route.js'

/** Things of which the holder is remembered, per connection. */
const KEPT = 10_000
const RELATED_TASK = 'io.modelcontextprotocol/related-task'
/** Stands for every holder that left: what is said of its things is for nobody. */
const GONE: ConnectionRoute = Object.freeze({ onNews: () => undefined, onRequest: undefined })

/**
 * Whose the tasks and the elicitations are that outlive their call. What a server says of them later names them, and
 * goes to their holder alone (specification 2025-11-25, tasks and elicitation).
 */
export class MessageOwners {
  readonly #owners = new Map<string, ConnectionRoute>()

  /** The holder of the thing that a message is about, if it names one. */
  of(params: JsonObject | undefined): ConnectionRoute | undefined {
    return this.#owner('task', taskOf(params)) ?? this.#owner('elicitation', params?.elicitationId)
  }

  /** A holder is asked something, with an elicitation of its own perhaps. */
  asked(route: ConnectionRoute, params: JsonObject | undefined): void {
    this.#remember('elicitation', params?.elicitationId, route)
  }

  /** What a holder's request led to: a task, perhaps. The listing of tasks shows a holder none of another's. */
  answered(route: ConnectionRoute, method: string, result: JsonObject): JsonObject {
    this.#remember('task', objectIn(result, 'task')?.taskId ?? result.taskId, route)
    const { tasks } = result
    if (method !== 'tasks/list' || !Array.isArray(tasks)) return result
    const own = tasks.filter(
      (task) => (this.#owner('task', isObject(task) ? task.taskId : undefined) ?? route) === route,
    )
    return own.length === tasks.length ? result : { ...result, tasks: own }
  }

  /** A holder is sent to a URL first. */
  refused(route: ConnectionRoute, error: unknown): void {
    if (!(error instanceof RpcError) || error.rpcCode !== RPC.urlElicitationRequired) return
    const { rpcData } = error
    if (typeof rpcData !== 'object' || rpcData === null || !('elicitations' in rpcData)) return
    if (!Array.isArray(rpcData.elicitations)) return
    for (const elicitation of rpcData.elicitations) {
      if (isObject(elicitation)) this.#remember('elicitation', elicitation.elicitationId, route)
    }
  }

  left(route: ConnectionRoute): void {
    for (const [name, owner] of this.#owners) if (owner === route) this.#owners.set(name, GONE)
  }

  #owner(kind: 'task' | 'elicitation', id: JsonValue | undefined): ConnectionRoute | undefined {
    return typeof id === 'string' ? this.#owners.get(`${kind} ${id}`) : undefined
  }

  #remember(kind: 'task' | 'elicitation', id: JsonValue | undefined, route: ConnectionRoute): void {
    if (typeof id !== 'string') return
    const name = `${kind} ${id}`
    // The first holder stays: an id that comes again is another's guess, or the same task asked for.
    if (this.#owners.has(name)) return
    this.#owners.set(name, route)
    if (this.#owners.size <= KEPT) return
    const [oldest] = this.#owners.keys()
    if (oldest !== undefined) this.#owners.delete(oldest)
  }
}

function taskOf(params: JsonObject | undefined): JsonValue | undefined {
  if (params === undefined) return undefined
  return objectIn(objectIn(params, '_meta'), RELATED_TASK)?.taskId ?? params.taskId
}

function objectIn(value: JsonObject | undefined, member: string): JsonObject | undefined {
  const inner = value !== undefined && Object.hasOwn(value, member) ? value[member] : undefined
  return isObject(inner) ? inner : undefined
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
