import {
  CancelledError,
  EnvironmentError,
  LimitExceededError,
  OperationTimeoutError,
  ProtocolViolationError,
  ReeveError,
  RpcError,
  TransportClosedError,
} from '../../errors.js'
import {
  classifyExecMessage,
  EXEC_CODES,
  EXEC_INITIALIZED,
  EXEC_LIMITS,
  EXEC_METHODS,
  type ExecEnvironmentInfo,
  type ExecErrorBody,
} from '../../protocol/index.js'
import { environmentInfoOf, memberOf, textOf } from './answers.js'
import type { Connector, Wire } from './wire.js'

export interface LinkOptions {
  readonly environment: string
  readonly connector: Connector
  readonly clientName: string
  readonly resume?: string
  readonly initializeMs?: number
  /** The largest message of the executor, in bytes. */
  readonly largest?: number
  readonly signal?: AbortSignal
  /** Called from the first message on, before the handshake is over. What it raises ends the link. */
  readonly onevent?: (method: string, params: unknown) => void
}

export interface CallOptions {
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

interface Waiting {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: ReeveError) => void
}

/** Connects and shakes hands. Bounded. Raises what the connector raises, `OperationTimeoutError`, `RpcError`. */
export async function openLink(options: LinkOptions): Promise<Link> {
  const { connector, signal, largest = EXEC_LIMITS.answer } = options
  const wire = await connector.open({ largest, ...(signal && { signal }) })
  const link = new Link(wire, options)
  try {
    await link.greet(options)
    return link
  } catch (error) {
    await link.close()
    throw error
  }
}

/** One connection to an executor: requests by id, events as they come, every wait with an end. */
export class Link {
  /** Resolves once with the reason. */
  readonly lost: Promise<ReeveError>
  readonly #wire: Wire
  readonly #environment: string
  readonly #place: string
  readonly #waiting = new Map<number, Waiting>()
  readonly #onevent: (method: string, params: unknown) => void
  #lastId = 0
  #end: ReeveError | undefined
  #reportLost: (reason: ReeveError) => void = () => {}
  #sessionId = ''
  #info: ExecEnvironmentInfo | undefined

  constructor(wire: Wire, options: LinkOptions) {
    this.#wire = wire
    this.#environment = options.environment
    this.#place = options.connector.place
    this.#onevent = options.onevent ?? (() => {})
    this.lost = new Promise((resolve) => {
      this.#reportLost = resolve
    })
    wire.onmessage = (text) => this.#take(text)
    void wire.closed.then((error) => this.#finish(error ?? this.#gone('the executor closed the connection')))
  }

  get open(): boolean {
    return this.#end === undefined
  }

  /** A secret: with the socket it is enough to take the session over. */
  get sessionId(): string {
    return this.#sessionId
  }

  get info(): ExecEnvironmentInfo | undefined {
    return this.#info
  }

  async greet({ clientName, resume, initializeMs = EXEC_LIMITS.initializeMs, signal }: LinkOptions): Promise<void> {
    const params = resume === undefined ? { clientName } : { clientName, resumeSessionId: resume }
    const answer = await this.call(EXEC_METHODS.initialize, params, {
      timeoutMs: initializeMs,
      ...(signal && { signal }),
    })
    this.#sessionId = textOf(answer, 'sessionId', this.#place)
    if (resume !== undefined && this.#sessionId !== resume)
      throw new ProtocolViolationError(`${this.#place} resumed another session than the one asked for`)
    const info = memberOf(answer, 'environmentInfo')
    if (info !== undefined && info !== null) this.#info = environmentInfoOf(info, this.#place)
    await this.#wire.send(JSON.stringify({ method: EXEC_INITIALIZED, params: {} }))
  }

  /**
   * Sends a request and waits for its answer; without `timeoutMs` until the link ends. Raises `RpcError` for an error
   * answer, `OperationTimeoutError`, `CancelledError`, `TransportClosedError` (`sent` says whether it may have been done).
   */
  call(method: string, params: unknown, { timeoutMs, signal }: CallOptions = {}): Promise<unknown> {
    if (this.#end !== undefined) return Promise.reject(this.#gone(this.#end.message, false))
    if (signal?.aborted) return Promise.reject(new CancelledError())
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      const timer =
        timeoutMs === undefined
          ? undefined
          : setTimeout(
              () => settle(() => reject(new OperationTimeoutError(`executor: ${method}`, timeoutMs))),
              timeoutMs,
            )
      const onAbort = () => settle(() => reject(new CancelledError()))
      const settle = (how: () => void) => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        this.#waiting.delete(id)
        how()
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#waiting.set(id, {
        resolve: (result) => settle(() => resolve(result)),
        reject: (error) => settle(() => reject(error)),
      })
      this.#wire.send(JSON.stringify({ id, method, params })).catch((error: unknown) => {
        const fault = error instanceof ReeveError ? error : this.#gone('it takes no more requests')
        settle(() => reject(fault))
        if (!(fault instanceof LimitExceededError)) this.drop(fault)
      })
    })
  }

  /** See `Wire.pause`. */
  pause(): boolean {
    return this.#wire.pause()
  }

  resume(): void {
    this.#wire.resume()
  }

  /** Ends the link at once: the session, where there is one, stays for a resume. */
  drop(reason?: ReeveError): void {
    this.#finish(reason ?? this.#gone('the connection was dropped'))
    this.#wire.drop()
  }

  async close(): Promise<void> {
    this.#finish(this.#gone('the connection is closed'))
    await this.#wire.close()
  }

  #take(text: string): void {
    if (this.#end !== undefined) return
    try {
      this.#dispatch(parsed(text, this.#place))
    } catch (error) {
      if (!(error instanceof ReeveError)) throw error
      this.drop(error)
    }
  }

  #dispatch(value: unknown): void {
    const said = classifyExecMessage(value)
    switch (said.kind) {
      case 'notification':
        this.#onevent(said.message.method, said.message.params)
        break
      case 'result':
        this.#answered(said.message.id)?.resolve(said.message.result)
        break
      case 'error':
        this.#answered(said.message.id)?.reject(rpcError(said.message.error, this.#place))
        break
      case 'request':
        this.#refuse(said.message.id, said.message.method)
        break
      case 'malformed':
        throw new ProtocolViolationError(`${this.#place} sent a message that is ${said.reason}`, { place: this.#place })
    }
  }

  /** An answer nobody waits for any more was given up; one that was never asked for is a lie. */
  #answered(id: string | number): Waiting | undefined {
    if (typeof id !== 'number' || id > this.#lastId || id < 1)
      throw new ProtocolViolationError(`${this.#place} answered a request that was not made`, { place: this.#place })
    return this.#waiting.get(id)
  }

  /** Managed networks are never asked for, so nothing here is ours to decide (reference: executor-protocol, 10). */
  #refuse(id: string | number, method: string): void {
    const error = { code: EXEC_CODES.unknownMethod, message: `this client does not answer ${method.slice(0, 100)}` }
    // A wire that takes no answer is about to report its end.
    this.#wire.send(JSON.stringify({ id, error })).catch(() => {})
  }

  #gone(why: string, sent = true): TransportClosedError {
    const text = `environment '${this.#environment}': ${why}`
    return new TransportClosedError(text, { sent, place: this.#place, data: { environment: this.#environment, sent } })
  }

  #finish(reason: ReeveError): void {
    if (this.#end !== undefined) return
    this.#end = reason
    const error = reason instanceof TransportClosedError ? reason : this.#gone(reason.message)
    for (const waiting of [...this.#waiting.values()]) waiting.reject(error)
    this.#reportLost(reason)
  }
}

function parsed(text: string, place: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ProtocolViolationError(`${place} sent a message that is not JSON`, { place, cause })
  }
}

function rpcError({ code, message, data }: ExecErrorBody, place: string): RpcError {
  return new RpcError(code, `${place}: ${message.slice(0, 2000)}`, data)
}

/** What a failed handshake means for the environment. */
export function handshakeFault(error: unknown, environment: string, place: string): ReeveError {
  if (error instanceof EnvironmentError || error instanceof CancelledError) return error
  const reason = error instanceof Error ? error.message : String(error)
  const text = `environment '${environment}': ${place} is no usable executor: ${reason}`
  return new EnvironmentError('environment_unreachable', environment, text, { place, cause: error })
}
