import { LimitExceededError, ProtocolViolationError } from '../../errors.js'
import type { ServerKey } from '../../identity/index.js'
import {
  INPUT_METHODS,
  type InputRequired,
  type JsonObject,
  readInputRequired,
  withInputResponses,
} from '../../protocol/index.js'
import { abortError } from '../abort.js'
import type { Caller } from '../in-flight.js'
import type { ServerMessage } from '../session.js'
import { pause, type Timers } from '../timers.js'
import { refuseUndeclared } from './question-capability.js'

export interface RoundsPorts {
  readonly key: ServerKey
  readonly timers: Timers
  /** What the client declared: it is asked nothing else. */
  readonly capabilities: JsonObject
  ask(question: ServerMessage, signal: AbortSignal): Promise<JsonObject>
}

export interface RoundsOptions {
  readonly signal?: AbortSignal | undefined
  /** Runs the time between two rounds, in which the server has nothing of the request. */
  readonly rest?: (<T>(work: () => Promise<T>) => Promise<T>) | undefined
}

/** How often one request may be answered with questions. */
const MOST_ROUNDS = 16
/** Milliseconds before a request is repeated that the server only put off; doubled each time, up to the last. */
const PUT_OFF = { first: 100, most: 5_000 } as const

/**
 * The rounds of one request to a modern server that asks for input in its results (specification 2026-07-28, multi
 * round-trip requests): its questions go to whoever caused them, and the request is repeated with the answers.
 */
export class Rounds {
  readonly #ports: RoundsPorts
  readonly #method: string
  readonly #caller: Caller | undefined
  readonly #signal: AbortSignal | undefined
  readonly #rest: <T>(work: () => Promise<T>) => Promise<T>
  #count = 0
  #putOff = 0

  constructor(ports: RoundsPorts, method: string, caller: Caller | undefined, { signal, rest }: RoundsOptions = {}) {
    this.#ports = ports
    this.#method = method
    this.#caller = caller
    this.#signal = signal
    this.#rest = rest ?? ((work) => work())
  }

  /**
   * The params to repeat the request with; undefined when the result is one.
   *
   * @throws {RpcError} a question for which the client lacks the capability (-32021), or that it refused
   * @throws {ProtocolViolationError | LimitExceededError} a result that asks where it may not, for nothing, or for ever
   */
  async next(params: JsonObject | undefined, result: JsonObject): Promise<JsonObject | undefined> {
    const required = readInputRequired(result)
    if (required === undefined) return undefined
    this.#check(required, result)
    for (const question of required.inputRequests.values()) {
      refuseUndeclared(question, this.#ports.capabilities, this.#ports.key)
    }
    const responses = await this.#rest(() => this.#answered(required))
    const { inputResponses, ...repeated } = withInputResponses(params ?? {}, responses, required.requestState)
    return responses.size === 0 || inputResponses === undefined ? repeated : { ...repeated, inputResponses }
  }

  #check({ inputRequests, requestState }: InputRequired, result: JsonObject): void {
    const { key } = this.#ports
    const refuse = (what: string) => {
      const text = `MCP server '${key.name}' answered ${this.#method} with a request for input, ${what}`
      return new ProtocolViolationError(text, { key, place: this.#method })
    }
    if (!INPUT_METHODS.has(this.#method)) throw refuse('which this method may not ask for')
    if (Object.keys(result.inputRequests ?? {}).length > inputRequests.size)
      throw refuse('of which a part is no request')
    if (inputRequests.size === 0 && requestState === undefined) throw refuse('but asked for nothing')
    this.#count += 1
    if (this.#count <= MOST_ROUNDS) return
    throw new LimitExceededError(`requests for input of ${this.#method}`, MOST_ROUNDS, { key, place: this.#method })
  }

  async #answered(required: InputRequired): Promise<ReadonlyMap<string, JsonObject>> {
    const responses = await this.#answers(required)
    if (responses.size === 0) await this.#wait()
    return responses
  }

  /** All questions of a round at once. The first that fails ends the others. */
  async #answers({ inputRequests }: InputRequired): Promise<ReadonlyMap<string, JsonObject>> {
    const round = new AbortController()
    const stop = () => round.abort(this.#signal && abortError(this.#signal))
    if (this.#signal?.aborted) stop()
    else this.#signal?.addEventListener('abort', stop, { once: true })
    try {
      const answers = [...inputRequests].map(async ([id, { method, params }]) => {
        const question = { method, params, caller: this.#caller, isCertain: true }
        return [id, await this.#ports.ask(question, round.signal)] as const
      })
      return new Map(await Promise.all(answers))
    } catch (error) {
      round.abort(error)
      throw error
    } finally {
      this.#signal?.removeEventListener('abort', stop)
    }
  }

  /** A server that asked nothing is only busy. */
  async #wait(): Promise<void> {
    const ms = Math.min(PUT_OFF.most, PUT_OFF.first * 2 ** this.#putOff)
    this.#putOff += 1
    await pause(this.#ports.timers, ms, this.#signal ?? new AbortController().signal)
  }
}
