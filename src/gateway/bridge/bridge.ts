import { CancelledError } from '../../errors.js'
import { type JsonObject, readInputRequired } from '../../protocol/index.js'
import { invalidParams, optionalObject, optionalText } from '../relay/params.js'
import type { Conversation } from './conversation.js'
import { uncovered } from './coverage.js'
import { HeldCalls, type HeldLimits } from './held-calls.js'
import { missingCapability, type Turn } from './live-call.js'
import {
  type OpenedState,
  RequestStates,
  requestDigest,
  type StateBinding,
  type StateContent,
} from './request-state.js'
import { keptInMemory, type StateKeeping } from './state-keeping.js'
import { pagesToVisit, requireVisits } from './url-pages.js'
import { type Claim, UsedStates } from './used-states.js'
import type { WaitingClient } from './waiting-client.js'

export interface BridgeOptions extends HeldLimits {
  /** Milliseconds for which a client may be away to find answers. */
  readonly ttlMs: number
  /** Default: the system's clock, in milliseconds. */
  readonly now?: () => number
  /** Default: states end with this process. */
  readonly keeping?: StateKeeping
}

/** One request of a modern client that a server may answer with questions. */
export interface BridgedRequest extends WaitingClient {
  readonly principal: string
  readonly method: string
  readonly params: JsonObject
}

/** Begins a call to the server with these params. */
export type StartCall = (params: JsonObject) => Promise<Conversation>

/**
 * Multi round-trip requests for modern clients, whichever era the server speaks. A legacy server's questions become an
 * `input_required` result while its call is held; the repeated request brings the answers and goes on with that very
 * call. A modern server's own result passes, its state wrapped. Each state is of use to one principal, for one request,
 * once, for a while.
 */
export class Bridge {
  readonly #states: RequestStates
  readonly #used: UsedStates
  readonly #held: HeldCalls
  readonly #ttlMs: number

  constructor(options: BridgeOptions) {
    const { now = Date.now, keeping = keptInMemory() } = options
    this.#states = new RequestStates(options.ttlMs, now, () => keeping.key())
    this.#used = new UsedStates(now, undefined, keeping)
    this.#held = new HeldCalls(options)
    this.#ttlMs = options.ttlMs
  }

  /** Calls that wait for their client. */
  get held(): number {
    return this.#held.size
  }

  /**
   * @throws RpcError -32602 for a state that is not valid here, -32021 for a question that the client can't be asked, or
   * whatever the call ended with
   */
  async answer(request: BridgedRequest, start: StartCall): Promise<JsonObject> {
    const { inputResponses: _, requestState: __, ...params } = request.params
    const answers = optionalObject(request.params, 'inputResponses')
    const text = optionalText(request.params, 'requestState')
    const binding = new Binding(request, params)
    const state = text === undefined ? undefined : this.#open(text, binding)
    const claim = state && this.#claim(state)
    const brought = { ...params, ...(answers && { inputResponses: answers }) }
    try {
      const conversation =
        state === undefined
          ? await start(brought)
          : await this.#goOn(state, { request, params, brought, answers }, start)
      return await this.#next(conversation, binding)
    } catch (error) {
      if (error instanceof CancelledError) claim?.release()
      throw error
    } finally {
      claim?.spend()
    }
  }

  /** Cancels every call that is held. */
  close(): void {
    this.#held.close()
  }

  #open(text: string, binding: Binding): OpenedState {
    const opened = this.#states.open(text, binding.whole)
    if (typeof opened === 'string') throw invalidParams(STATE_FAULTS[opened], { code: `request_state_${opened}` })
    return opened
  }

  #claim(state: OpenedState): Claim {
    const claim = this.#used.claim(state)
    if (claim === undefined) throw invalidParams('requestState was used already', { code: 'request_state_used' })
    return claim
  }

  async #goOn(state: OpenedState, back: Back, start: StartCall): Promise<Conversation> {
    const { content } = state
    if (content.kind === 'server') return start({ ...back.brought, requestState: content.state })
    if (content.kind === 'again') {
      requireVisits(content.questions, back.answers ?? {})
      return start(back.params)
    }
    const conversation = this.#held.take(state.id)
    if (conversation === undefined) {
      throw invalidParams('the call that requestState belongs to no longer waits', { code: 'request_state_expired' })
    }
    conversation.call.comeBack(back.request, back.answers ?? {})
    return conversation
  }

  async #next(conversation: Conversation, binding: Binding): Promise<JsonObject> {
    const { waiting } = conversation.call
    const turn = await conversation.call.next()
    if (turn.kind === 'asked') return this.#hold(conversation, turn.questions, binding)
    if (turn.kind === 'error') return this.#visitOrFail(conversation, turn, binding, waiting)
    const asked = readInputRequired(turn.result)
    if (asked === undefined) return turn.result
    for (const { method, params } of asked.inputRequests.values()) {
      const missing = waiting && uncovered(waiting.capabilities, method, params)
      if (missing !== undefined) throw missingCapability(missing)
    }
    if (asked.requestState === undefined) return turn.result
    return { ...turn.result, requestState: this.#seal(binding, { kind: 'server', state: asked.requestState }) }
  }

  #hold(conversation: Conversation, questions: ReadonlyMap<string, JsonObject>, binding: Binding): JsonObject {
    const { text, opened } = this.#states.seal(binding.whole, { kind: 'held' })
    conversation.call.leave()
    this.#held.hold(opened.id, binding.whole.principal, conversation, this.#ttlMs)
    return conversation.finish(askFor(questions, text))
  }

  #visitOrFail(
    { finish }: Conversation,
    { error }: Extract<Turn, { kind: 'error' }>,
    binding: Binding,
    waiting: WaitingClient | undefined,
  ): JsonObject {
    const pages = pagesToVisit(error)
    if (pages === undefined || waiting === undefined) throw error
    const missing = uncovered(waiting.capabilities, 'elicitation/create', { mode: 'url' })
    if (missing !== undefined) throw missingCapability(missing)
    return finish(askFor(pages, this.#seal(binding, { kind: 'again', questions: [...pages.keys()] })))
  }

  #seal(binding: Binding, content: StateContent): string {
    return this.#states.seal(binding.whole, content).text
  }
}

/** A client that came back: its request, and what of its params belongs to the call. */
interface Back {
  readonly request: BridgedRequest
  readonly params: JsonObject
  readonly brought: JsonObject
  readonly answers: JsonObject | undefined
}

const STATE_FAULTS = {
  invalid: 'requestState was not given out by this gateway, or was changed',
  expired: 'requestState has expired: make the request anew',
  foreign: 'requestState was given to somebody else',
  mismatched: 'requestState belongs to another request',
} as const

function askFor(questions: ReadonlyMap<string, JsonObject>, requestState: string): JsonObject {
  return { resultType: 'input_required', inputRequests: Object.fromEntries(questions), requestState }
}

/** What a state of this request is bound to; made when there is a state, for the digest of big arguments takes its time. */
class Binding {
  readonly #request: BridgedRequest
  readonly #params: JsonObject
  #whole: StateBinding | undefined

  constructor(request: BridgedRequest, params: JsonObject) {
    this.#request = request
    this.#params = params
  }

  get whole(): StateBinding {
    const { principal, method } = this.#request
    this.#whole ??= { principal, method, digest: digestOf(this.#params) }
    return this.#whole
  }
}

/** Of everything but `_meta`, which changes from request to request. */
function digestOf(params: JsonObject): string {
  const { _meta, ...salient } = params
  try {
    return requestDigest(salient)
  } catch (error) {
    if (error instanceof RangeError) throw invalidParams('the params are nested too deep')
    throw error
  }
}
