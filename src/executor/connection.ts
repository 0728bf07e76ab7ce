import { setMaxListeners } from 'node:events'
import { RpcError } from '../errors.js'
import {
  EXEC_INITIALIZED,
  EXEC_LIMITS,
  type ExecEnvironmentInfo,
  type ExecError,
  type ExecId,
  type ExecResult,
} from '../protocol/index.js'
import type { Channel, ChannelEvents } from './channel.js'
import { OpenFiles } from './files/open-files.js'
import { OpenStreams } from './http/open-streams.js'
import type { Method, Methods } from './methods.js'
import type { Session } from './session.js'
import type { Holder, Sessions } from './sessions.js'
import { internal, invalidRequest, unknownMethod } from './wire/fault.js'
import { type Frame, readFrame } from './wire/frame.js'
import { Params } from './wire/params.js'

/** What a method may use of the connection that asks. */
export interface Caller {
  readonly session: Session
  readonly files: OpenFiles
  readonly streams: OpenStreams
  /** Fires when the connection is gone. */
  readonly signal: AbortSignal
  /** Resolves at once, or when the client has caught up. */
  caughtUp(): Promise<void>
  notify(method: string, params: object): void
}

export interface ConnectionParts {
  readonly sessions: Sessions
  readonly methods: Methods
  readonly info: ExecEnvironmentInfo
  /** On stdio nobody can come back: the session ends with its connection. */
  readonly canResume: boolean
}

type State =
  | { readonly is: 'new' }
  | { readonly is: 'greeted' | 'open'; readonly session: Session }
  | { readonly is: 'gone' }

/** Messages that wait, and requests that wait outside of the line (reference: executor-protocol, 12). */
const MOST_WAITING = 128

/**
 * One connection: handshake, then requests in the order in which they came. Only those that wait for something else (a
 * long poll, an HTTP answer, a child that does not read) don't hold up the ones behind them.
 */
export class Connection implements Holder, ChannelEvents {
  readonly #channel: Channel
  readonly #parts: ConnectionParts
  readonly #line: Frame[] = []
  readonly #ended = new AbortController()
  readonly #files = new OpenFiles()
  readonly #streams = new OpenStreams()
  readonly #catchingUp = new Set<() => void>()
  #state: State = { is: 'new' }
  #working: 'no' | 'yes' = 'no'
  #outside = 0

  constructor(channel: Channel, parts: ConnectionParts) {
    this.#channel = channel
    this.#parts = parts
    // Everything that waits listens; there may be many.
    setMaxListeners(0, this.#ended.signal)
  }

  message(text: string): void {
    if (this.#state.is === 'gone') return
    this.#line.push(readFrame(text))
    if (this.#line.length >= MOST_WAITING) this.#channel.pauseInput()
    if (this.#working === 'no') void this.#work()
  }

  drained(): void {
    if (this.#state.is === 'greeted' || this.#state.is === 'open') this.#state.session.resume()
    for (const resolve of this.#catchingUp) resolve()
    this.#catchingUp.clear()
  }

  ended(): void {
    const state = this.#state
    if (state.is === 'gone') return
    this.#state = { is: 'gone' }
    this.#line.length = 0
    this.#ended.abort()
    this.drained()
    void this.#files.closeAll()
    if (state.is === 'new') return
    if (this.#parts.canResume) this.#parts.sessions.detach(state.session)
    else void this.#parts.sessions.end(state.session)
  }

  notify(method: string, params: object): void {
    this.#channel.send(JSON.stringify({ method, params }))
  }

  get isCongested(): boolean {
    return this.#channel.isCongested
  }

  probe(): void {
    this.#channel.probe()
  }

  async #work(): Promise<void> {
    this.#working = 'yes'
    for (let frame = this.#line.shift(); frame !== undefined; frame = this.#line.shift()) {
      if (this.#line.length < MOST_WAITING / 2) this.#channel.resumeInput()
      await this.#handle(frame)
    }
    this.#working = 'no'
  }

  async #handle(frame: Frame): Promise<void> {
    switch (frame.kind) {
      case 'malformed':
        return this.#refuse(-1, invalidRequest(frame.reason))
      case 'response':
        // We asked nothing.
        return this.#drop()
      case 'notification':
        return this.#initialized(frame.method)
      case 'request':
        return this.#answer(frame.id, frame.method, frame.params)
    }
  }

  #initialized(method: string): void {
    if (this.#state.is === 'gone') return
    if (method !== EXEC_INITIALIZED || this.#state.is === 'new') this.#drop()
    else this.#state = { is: 'open', session: this.#state.session }
  }

  async #answer(id: ExecId, name: string, params: unknown): Promise<void> {
    try {
      if (name === 'initialize') {
        this.#send({ id, result: this.#initialize(new Params(params)) })
        return
      }
      const session = this.#openSession(name)
      const method = this.#parts.methods.get(name)
      if (method === undefined) throw unknownMethod(name)
      const answered = this.#run(id, method, params, session)
      if (method.order === 'waits' && this.#outside <= MOST_WAITING) return
      await answered
    } catch (error) {
      this.#refuse(id, error)
    }
  }

  async #run(id: ExecId, method: Method, params: unknown, session: Session): Promise<void> {
    this.#outside += 1
    try {
      const { result, afterwards } = await method.run(params, this.#caller(session))
      this.#send({ id, result })
      afterwards?.()
    } catch (error) {
      this.#refuse(id, error)
    } finally {
      this.#outside -= 1
    }
  }

  #initialize(params: Params): object {
    if (this.#state.is !== 'new') throw invalidRequest('initialize may only be sent once per connection')
    params.text('clientName')
    const resumed = params.optionalText('resumeSessionId')
    const { sessions, info } = this.#parts
    const session = resumed === undefined ? sessions.open(this) : sessions.resume(resumed, this)
    this.#state = { is: 'greeted', session }
    return { sessionId: session.id, environmentInfo: info }
  }

  #openSession(method: string): Session {
    if (this.#state.is === 'open') return this.#state.session
    const before = this.#state.is === 'greeted' ? 'send initialized' : 'call initialize'
    throw invalidRequest(`client must ${before} before using ${method.slice(0, 100)}`)
  }

  #caller(session: Session): Caller {
    return {
      session,
      files: this.#files,
      streams: this.#streams,
      signal: this.#ended.signal,
      caughtUp: () => this.#caughtUp(),
      notify: (method, params) => this.notify(method, params),
    }
  }

  #caughtUp(): Promise<void> {
    if (!this.isCongested || this.#state.is === 'gone') return Promise.resolve()
    return new Promise((resolve) => this.#catchingUp.add(resolve))
  }

  #refuse(id: ExecId, error: unknown): void {
    const known = error instanceof RpcError ? error : internal('this executor failed to answer')
    const { rpcCode: code, message, rpcData: data } = known
    this.#send({ id, error: { code, message, ...(data !== undefined && { data }) } })
  }

  #send(message: ExecResult | ExecError): void {
    const text = JSON.stringify(message)
    if (text.length <= EXEC_LIMITS.message || 'error' in message) this.#channel.send(text)
    else this.#refuse(message.id, internal('the answer is larger than a message may be'))
  }

  #drop(): void {
    this.#channel.drop()
    this.ended()
  }
}
