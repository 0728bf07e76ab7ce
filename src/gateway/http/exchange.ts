import type { ServerResponse } from 'node:http'
import type { RequestId } from '../../protocol/index.js'
import type { EventStream } from './event-stream.js'
import { SseConnection, type SseOptions } from './sse-connection.js'

export interface ExchangeOptions {
  /** The requests of this POST. */
  readonly ids: readonly RequestId[]
  /** Whether the body was an array, and so is a plain answer. */
  readonly batch: boolean
  readonly plainMs: number
  readonly sse: Omit<SseOptions, 'headers'>
  readonly openStream: () => EventStream
  /** What an event stream opens with, when the session's revision has it. */
  readonly primingRetryMs: () => number | undefined
  /** Headers of the answer, asked for when its form is decided. */
  readonly headers: () => Readonly<Record<string, string>>
}

type State =
  /** Nothing was sent yet: whatever comes first decides the form. */
  | { readonly kind: 'undecided'; readonly timer: NodeJS.Timeout }
  | { readonly kind: 'streaming'; readonly stream: EventStream }
  /** The client left before it was given an event id, so that it can never ask for the rest. */
  | { readonly kind: 'abandoned' }
  | { readonly kind: 'done' }

/**
 * The answer to one POST with requests: plain JSON when all its answers come before anything else and soon, otherwise an
 * event stream. A client that closes the connection has not cancelled anything (2025 revisions): the work goes on, and
 * an event stream can be resumed.
 */
export class Exchange {
  readonly #response: ServerResponse
  readonly #options: ExchangeOptions
  readonly #waiting: Set<RequestId>
  /** Answers of a batch until all are there. */
  readonly #gathered: string[] = []
  #state: State

  constructor(response: ServerResponse, options: ExchangeOptions) {
    this.#response = response
    this.#options = options
    this.#waiting = new Set(options.ids)
    this.#state = { kind: 'undecided', timer: setTimeout(() => this.#stream(), options.plainMs) }
    response.once('close', () => this.#left())
  }

  /** False when messages for this exchange can reach its client only on another stream. */
  get reachable(): boolean {
    return this.#state.kind === 'undecided' || this.#state.kind === 'streaming'
  }

  /** A request or notification that belongs to one of the requests. */
  push(json: string): void {
    this.#stream()?.push(json)
  }

  respond(id: RequestId, json: string): void {
    if (!this.#waiting.delete(id)) return
    if (this.#state.kind === 'streaming') this.#state.stream.push(json)
    else if (this.#state.kind === 'undecided') this.#gathered.push(json)
    this.#endWhenAnswered()
  }

  /** The client cancelled this request: no answer will come. */
  cancelled(id: RequestId): void {
    if (this.#waiting.delete(id)) this.#endWhenAnswered()
  }

  /** The session ends. An undecided client learns it as `refuse` tells it; an open stream just ends. */
  abort(refuse: (response: ServerResponse) => void): void {
    this.#end(() => refuse(this.#response))
  }

  #endWhenAnswered(): void {
    if (this.#waiting.size === 0) this.#end(() => this.#answerPlainly())
  }

  #end(sayFirst: () => void): void {
    const former = this.#leave({ kind: 'done' })
    if (former.kind === 'done') return
    if (former.kind === 'undecided') sayFirst()
    if (former.kind === 'streaming') former.stream.finish()
  }

  #answerPlainly(): void {
    const [only] = this.#gathered
    if (only === undefined) {
      this.#answerNothing()
      return
    }
    const body = this.#options.batch ? `[${this.#gathered.join(',')}]` : only
    this.#response.writeHead(200, {
      ...this.#options.headers(),
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    })
    this.#response.end(body)
  }

  /** Everything was cancelled. A stream without events is the one valid form of no answer. */
  #answerNothing(): void {
    this.#response.writeHead(200, { ...this.#options.headers(), 'content-type': 'text/event-stream' })
    this.#response.end()
  }

  /** Turns to an event stream, if the form is still open. */
  #stream(): EventStream | undefined {
    if (this.#state.kind === 'streaming') return this.#state.stream
    if (this.#state.kind !== 'undecided') return undefined
    const stream = this.#options.openStream()
    this.#leave({ kind: 'streaming', stream })
    const sse = { ...this.#options.sse, headers: this.#options.headers() }
    const connection = new SseConnection(this.#response, sse, () => stream.detach(connection))
    stream.attach(connection, undefined, this.#options.primingRetryMs())
    for (const json of this.#gathered.splice(0)) stream.push(json)
    return stream
  }

  #left(): void {
    if (this.#state.kind === 'undecided') this.#leave({ kind: 'abandoned' })
  }

  #leave(next: State): State {
    const former = this.#state
    if (former.kind === 'undecided') clearTimeout(former.timer)
    this.#state = next
    return former
  }
}
