import type { ReadyClient } from '../../connections/index.js'
import { RpcError } from '../../errors.js'
import { keyText, type ServerKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import type { CallOptions } from '../../threads/index.js'
import { LiveCall, type Turn } from '../bridge/index.js'
import type { OwnedTask } from './names.js'
import { requestTask } from './request.js'
import { errorObject, isTerminal } from './wire.js'

/** Milliseconds that a look at a task waits for the questions that it announces. */
const QUESTIONS_MS = 1000
const WATCHED = 256

/** Makes a call known to those who bring it what its server asks; returns what ends that. */
export type CallTracker = (call: LiveCall, key: ServerKey, taskId: string) => () => void

export interface Found {
  /** Over the members of the task. */
  readonly state: JsonObject
  readonly result?: JsonObject
}

/**
 * Tasks of legacy servers that need something of a modern client. Such a server asks while `tasks/result` waits, so one is
 * kept waiting for each such task, and its questions stand in what `tasks/get` gives.
 */
export class WatchedTasks {
  readonly #capabilities: JsonObject
  readonly #track: CallTracker
  readonly #waiting = new Map<string, LiveCall>()
  #last = 0

  constructor(capabilities: JsonObject, track: CallTracker) {
    this.#capabilities = capabilities
    this.#track = track
  }

  /** What there is beside the task itself: its end, or its questions. */
  async look(client: ReadyClient, task: OwnedTask, core: JsonObject, options: CallOptions): Promise<Found> {
    if (core.status === 'cancelled') return this.#ended(task, { state: {} })
    if (isTerminal(core)) return this.#ended(task, endOf(await this.#result(client, task, options)))
    if (core.status !== 'input_required') return { state: {} }
    const waiting = this.#waiting.get(slotOf(task))
    const turn = await (waiting?.over === false ? waiting : this.#wait(client, task)).look(QUESTIONS_MS)
    if (turn?.kind === 'asked') return { state: { inputRequests: Object.fromEntries(turn.questions) } }
    // It ended meanwhile, or has not said yet what it needs; the next look tells.
    return { state: { status: 'working' } }
  }

  answer(task: OwnedTask, answers: JsonObject): void {
    this.#waiting.get(slotOf(task))?.answer(answers)
  }

  forget(task: OwnedTask): void {
    this.#waiting.get(slotOf(task))?.cancel()
    this.#waiting.delete(slotOf(task))
  }

  async #result(client: ReadyClient, task: OwnedTask, options: CallOptions): Promise<Turn | undefined> {
    const waiting = this.#waiting.get(slotOf(task))
    if (waiting?.over) return waiting.look(0)
    return requestTask(client, 'tasks/result', task, {}, options).then(
      (result): Turn => ({ kind: 'result', result }),
      (error: unknown): Turn => ({ kind: 'error', error }),
    )
  }

  #wait(client: ReadyClient, task: OwnedTask): LiveCall {
    this.#last += 1
    const call = LiveCall.unattended(this.#capabilities, `q${this.#last}-`)
    const untrack = this.#track(call, task.key, task.id)
    const options = { signal: call.signal, origin: call }
    call.follow(requestTask(client, 'tasks/result', task, {}, options).finally(untrack))
    const [oldest] = this.#waiting.size >= WATCHED ? this.#waiting : []
    if (oldest !== undefined) {
      oldest[1].cancel()
      this.#waiting.delete(oldest[0])
    }
    this.#waiting.set(slotOf(task), call)
    return call
  }

  #ended(task: OwnedTask, found: Found): Found {
    this.forget(task)
    return found
  }
}

/** A task of which the server tells no result any more stays what it says it is. */
function endOf(turn: Turn | undefined): Found {
  if (turn?.kind === 'result') return { state: { status: 'completed' }, result: turn.result }
  if (turn?.kind === 'error' && turn.error instanceof RpcError && turn.error.key !== undefined) {
    return { state: { status: 'failed', error: errorObject(turn.error) } }
  }
  if (turn?.kind === 'error') throw turn.error
  return { state: {} }
}

function slotOf({ key, id }: OwnedTask): string {
  return JSON.stringify([keyText(key), id])
}
