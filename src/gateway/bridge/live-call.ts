import type { FromServer } from '../../connections/index.js'
import { CancelledError, RpcError } from '../../errors.js'
import { type JsonObject, MODERN_RPC, RPC } from '../../protocol/index.js'
import { isObject } from '../relay/params.js'
import { ASKED_IN_RESULTS, uncovered } from './coverage.js'
import type { WaitingClient } from './waiting-client.js'

/** Milliseconds in which further questions join the first one: servers ask several things at once. */
const GATHER_MS = 25

/** How a call upstream ended. */
export type Outcome =
  | { readonly kind: 'result'; readonly result: JsonObject }
  | { readonly kind: 'error'; readonly error: unknown }

/** What a call has come to: its end, or questions that it can't go on without. */
export type Turn = Outcome | { readonly kind: 'asked'; readonly questions: ReadonlyMap<string, JsonObject> }

interface Question {
  readonly request: JsonObject
  readonly resolve: (answer: JsonObject) => void
  readonly reject: (error: Error) => void
}

/** Where the call's client is. */
type Client =
  | { readonly kind: 'waiting'; readonly request: WaitingClient }
  /** It was told the questions, and may come back with the answers. */
  | { readonly kind: 'away' }
  | { readonly kind: 'gone' }

/**
 * One call to a server that outlives the requests of its client: a legacy server that asks is held, still waiting for its
 * answer, while the client is away to find it. It is the `origin` of the call, so that everything that the server sends
 * meanwhile finds its way here.
 */
export class LiveCall {
  /** Told when the client goes away with questions. */
  onAway: (() => void) | undefined
  readonly #abort = new AbortController()
  readonly #mayAsk: boolean
  readonly #prefix: string
  readonly #questions = new Map<string, Question>()
  /** As last declared. */
  #capabilities: JsonObject
  #client: Client
  #outcome: Outcome | undefined
  #lastQuestion = 0
  /** Open questions are to be told now. */
  #ripe = false
  #gathering: NodeJS.Timeout | undefined
  #wake: () => void = () => undefined

  /** `mayAsk`: the client's method can be answered with questions. */
  constructor(request: WaitingClient, mayAsk: boolean, prefix = 'q') {
    this.#prefix = prefix
    this.#client = { kind: 'waiting', request }
    this.#capabilities = request.capabilities
    this.#mayAsk = mayAsk
  }

  /**
   * A call that no request of the client waits for, but that the client looks after from time to time. Names of its
   * questions begin with `prefix`.
   */
  static unattended(capabilities: JsonObject, prefix: string): LiveCall {
    const call = new LiveCall({ ...NOBODY, capabilities }, true, prefix)
    call.leave()
    return call
  }

  /** Of the call upstream. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  get over(): boolean {
    return this.#outcome !== undefined
  }

  /** It can't go on, and so ask nothing else, before its client is back with an answer. */
  get isStuck(): boolean {
    return this.#client.kind === 'away' && this.#questions.size > 0
  }

  /** The request that waits for this call now; undefined while the client is away. */
  get waiting(): WaitingClient | undefined {
    return this.#client.kind === 'waiting' ? this.#client.request : undefined
  }

  /** Follows the call upstream to its end. */
  follow(call: Promise<JsonObject>): void {
    const ended = (outcome: Outcome) => {
      this.#outcome = outcome
      this.#closeQuestions(new CancelledError('the call has ended'))
      this.#wake()
    }
    call.then(
      (result) => ended({ kind: 'result', result }),
      (error: unknown) => ended({ kind: 'error', error }),
    )
  }

  /** Progress of the server, under the token of whichever request waits now. */
  progress(params: JsonObject): void {
    const { waiting } = this
    if (waiting?.progressToken === undefined) return
    waiting.notify('notifications/progress', { ...params, progressToken: waiting.progressToken })
  }

  /**
   * A question of the server. Resolves to the client's answer, which may take as long as the client is waited for.
   *
   * @throws RpcError for what the client did not declare, or can't be asked in answer to its method
   */
  ask({ method, params }: FromServer, signal: AbortSignal): Promise<JsonObject> {
    this.#refuseUnaskable(method, params)
    if (signal.aborted) return Promise.reject(new CancelledError('the server took its question back'))
    this.#lastQuestion += 1
    const name = `${this.#prefix}${this.#lastQuestion}`
    return new Promise((resolve, reject) => {
      const settled = () => {
        signal.removeEventListener('abort', onAbort)
        this.#questions.delete(name)
      }
      const onAbort = () => this.#questions.get(name)?.reject(new CancelledError('the server took its question back'))
      signal.addEventListener('abort', onAbort, { once: true })
      this.#questions.set(name, {
        request: { method, ...(params && { params }) },
        resolve: (answer) => {
          settled()
          resolve(answer)
        },
        reject: (error) => {
          settled()
          reject(error)
        },
      })
      this.#gather()
    })
  }

  /** The next turn of the call. The client that waits for it may leave, which cancels the call. */
  async next(): Promise<Turn> {
    const { waiting } = this
    if (waiting === undefined) throw new CancelledError('nobody waits for this call')
    const onLeft = () => this.cancel()
    waiting.signal.addEventListener('abort', onLeft, { once: true })
    if (waiting.signal.aborted) this.cancel()
    try {
      for (;;) {
        const turn = this.#turn()
        if (turn !== undefined) return turn
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    } finally {
      waiting.signal.removeEventListener('abort', onLeft)
    }
  }

  /** The turn that the call has come to, or comes to within `ms`. Leaving meanwhile cancels nothing. */
  async look(ms: number): Promise<Turn | undefined> {
    if (this.#turn() === undefined) {
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        timer = setTimeout(resolve, ms)
      })
      clearTimeout(timer)
    }
    return this.#turn()
  }

  /** Answers to open questions; others are ignored. */
  answer(answers: JsonObject): void {
    for (const [name, { resolve }] of [...this.#questions]) {
      const answer = Object.hasOwn(answers, name) ? answers[name] : undefined
      if (isObject(answer)) resolve(answer)
    }
    this.#ripe = this.#questions.size > 0
  }

  /** The client goes, to come back. */
  leave(): void {
    if (this.#client.kind !== 'waiting') return
    this.#client = { kind: 'away' }
    this.onAway?.()
  }

  /** The client is back with answers; those to questions that are not open are ignored, missing ones are asked again. */
  comeBack(request: WaitingClient, answers: JsonObject): void {
    if (this.#client.kind === 'gone') return
    this.#client = { kind: 'waiting', request }
    this.#capabilities = request.capabilities
    this.answer(answers)
  }

  /** Nobody waits for this call any more. */
  cancel(): void {
    this.#client = { kind: 'gone' }
    this.#closeQuestions(new CancelledError('the client has left'))
    this.#abort.abort(new CancelledError())
    this.#wake()
  }

  #turn(): Turn | undefined {
    if (this.#client.kind === 'gone') return { kind: 'error', error: new CancelledError() }
    if (this.#outcome !== undefined) return this.#outcome
    if (!this.#ripe || this.#questions.size === 0) return undefined
    return { kind: 'asked', questions: new Map([...this.#questions].map(([name, { request }]) => [name, request])) }
  }

  #gather(): void {
    if (this.#ripe) this.#wake()
    if (this.#ripe || this.#gathering !== undefined) return
    this.#gathering = setTimeout(() => {
      this.#gathering = undefined
      this.#ripe = this.#questions.size > 0
      this.#wake()
    }, GATHER_MS)
  }

  #closeQuestions(reason: Error): void {
    clearTimeout(this.#gathering)
    for (const { reject } of [...this.#questions.values()]) reject(reason)
  }

  #refuseUnaskable(method: string, params: JsonObject | undefined): void {
    if (this.#client.kind === 'gone' || this.over) throw new RpcError(RPC.internalError, 'the client has left')
    if (!this.#mayAsk || !ASKED_IN_RESULTS.has(method)) {
      throw new RpcError(RPC.methodNotFound, `the client can't be asked ${method.slice(0, 200)} during this request`)
    }
    const missing = uncovered(this.#capabilities, method, params)
    if (missing !== undefined) {
      throw new RpcError(RPC.methodNotFound, `the client does not support ${method}`, { requiredCapabilities: missing })
    }
  }
}

const NOBODY: Omit<WaitingClient, 'capabilities'> = {
  signal: new AbortController().signal,
  progressToken: undefined,
  logLevel: undefined,
  notify: () => undefined,
}

/** The error that a modern client gets when a server needs what it did not declare. */
export function missingCapability(required: JsonObject): RpcError {
  return new RpcError(MODERN_RPC.missingRequiredClientCapability, 'Missing required client capability', {
    requiredCapabilities: required,
  })
}
