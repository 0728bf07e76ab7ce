import { FirstPartyAuthError, OperationTimeoutError, SessionExpiredError, TransportClosedError } from '../errors.js'
import type { ServerKey } from '../identity/index.js'
import { isRepeatable, type JsonObject } from '../protocol/index.js'
import { orAborted } from './abort.js'
import type { ActiveTime } from './active-time.js'
import { Rounds, type RoundsPorts } from './eras/rounds.js'
import type { Caller } from './in-flight.js'
import type { Session } from './session.js'
import type { RequestOptions } from './types.js'

/** What an operation needs of its connection. */
export interface OperationHost extends RoundsPorts {
  readonly key: ServerKey
  readonly active: ActiveTime
  /** Whether a lost connection is rebuilt for the operation. */
  readonly rebuilds: boolean
  /** While the server's environment is on its way back: resolves when it is there, rejects when that takes too long. */
  away(): Promise<unknown> | undefined
  /** The open session, if there is one. */
  current(): Session | undefined
  /** The open session, made now if need be. */
  demand(): Promise<Session>
  /** A session that takes the place of an expired one. */
  renew(expired: Session): Promise<Session>
  /** Ends a session that no longer takes messages, where that means that the server is gone. */
  giveUp(session: Session): Promise<void>
  /** Has a session replaced whose credential is gone, for the operations that follow. */
  outdated(session: Session): void
}

/** How one operation is carried out: as its caller wants it, from where it may be sent. */
export interface OperationOptions extends Omit<RequestOptions, 'origin' | 'logLevel'> {
  readonly logLevel?: string | undefined
  /** Runs what the server is not at work for. */
  readonly rest?: <T>(work: () => Promise<T>) => Promise<T>
}

/**
 * One request of a caller, with its recoveries, each of them once and in either order (reference: connections, 10.10).
 * An expired session is renewed and the request sent again whatever it is, for the server refused it unprocessed. After
 * a lost connection only what may be sent twice, or certainly never left, is sent again: never a `tools/call` that may
 * have been carried out. A result that asks for input is answered and the request repeated, unless the options say
 * otherwise. One deadline covers it all.
 */
export async function runOperation(
  host: OperationHost,
  method: string,
  params: JsonObject | undefined,
  { rest, logLevel, ...given }: OperationOptions,
  caller: Caller | undefined,
): Promise<JsonObject> {
  const options = { ...given, ...(logLevel !== undefined && { logLevel }) }
  const time = new OperationTime(host, method, options)
  const rounds = new Rounds(host, method, caller, { signal: options.signal, rest })
  for (let sent = params; ; ) {
    const { session, result } = await exchange(host, method, sent, time, caller)
    if (session.era === 'legacy' || options.inputRequired === 'return') return result
    const repeated = await time.asking(rounds.next(sent, result))
    if (repeated === undefined) return result
    sent = repeated
  }
}

async function exchange(
  host: OperationHost,
  method: string,
  params: JsonObject | undefined,
  time: OperationTime,
  caller: Caller | undefined,
): Promise<{ readonly session: Session; readonly result: JsonObject }> {
  const away = host.away()
  // What is not sent yet does not join what waits for the end of the recovery.
  if (away !== undefined) await time.within(away)
  const recoveries = new Recoveries(host, method)
  let session = host.current() ?? (await time.within(demanded(host)))
  for (;;) {
    try {
      return { session, result: await session.request(method, params, time.left(), caller) }
    } catch (error) {
      const next = recoveries.after(error, session)
      if (next === undefined) {
        if (isOfGoneCredential(error)) host.outdated(session)
        throw error
      }
      session = await time.within(next)
    }
  }
}

function isOfGoneCredential(error: unknown): boolean {
  return error instanceof FirstPartyAuthError && error.code === 'credentials_changed_not_sent'
}

function demanded(host: OperationHost): Promise<Session> {
  if (host.rebuilds) return host.demand()
  return Promise.reject(new TransportClosedError('Transport closed', { key: host.key, sent: false }))
}

/** What one operation may still recover from. */
class Recoveries {
  readonly #host: OperationHost
  readonly #method: string
  #mayRenew = true
  #mayReplay = true

  constructor(host: OperationHost, method: string) {
    this.#host = host
    this.#method = method
  }

  /** The session to send the request on again, or `undefined` when the error stands. */
  after(error: unknown, session: Session): Promise<Session> | undefined {
    if (error instanceof SessionExpiredError && this.#mayRenew) {
      this.#mayRenew = false
      return this.#host.renew(session)
    }
    // Nothing was sent: what may be repeated is, on a session of the credential that is in force now.
    if (error instanceof FirstPartyAuthError && error.mayRetry && this.#mayReplay) {
      this.#mayReplay = false
      return this.#host.renew(session)
    }
    if (error instanceof TransportClosedError && this.#mayReplay && this.#host.rebuilds) {
      this.#mayReplay = false
      if (!error.sent || isRepeatable(this.#method)) return this.#replayed(error, session)
    }
    return undefined
  }

  async #replayed(error: TransportClosedError, session: Session): Promise<Session> {
    if (!session.ended) await this.#host.giveUp(session)
    if (session.ended) return this.#host.demand()
    // A transport that lives on has lost this exchange only. What never left it has tried to send again itself.
    if (!error.sent) throw error
    return session
  }
}

/** The one deadline of an operation, in active time. */
class OperationTime {
  readonly #host: OperationHost
  readonly #method: string
  readonly #options: Omit<RequestOptions, 'origin'>
  #started: number

  constructor(host: OperationHost, method: string, options: Omit<RequestOptions, 'origin'>) {
    this.#host = host
    this.#method = method
    this.#options = options
    this.#started = host.active.now()
  }

  /** The options with what is left of the time. */
  left(): Omit<RequestOptions, 'origin'> {
    const { timeoutMs } = this.#options
    return timeoutMs === undefined ? this.#options : { ...this.#options, timeoutMs: this.#remaining(timeoutMs) }
  }

  /** Waits for a session no longer than the operation may take. */
  async within<T>(work: Promise<T>): Promise<T> {
    const { signal, timeoutMs } = this.#options
    if (timeoutMs === undefined) return orAborted(work, signal)
    const abort = new AbortController()
    const timer = setTimeout(
      () => abort.abort(new OperationTimeoutError(this.#method, timeoutMs, this.#host.key)),
      this.#remaining(timeoutMs),
    )
    try {
      return await orAborted(orAborted(work, signal), abort.signal)
    } finally {
      clearTimeout(timer)
    }
  }

  /** Waits for the client's answers, which costs no time. */
  async asking<T>(work: Promise<T>): Promise<T> {
    const since = this.#host.active.now()
    try {
      return await work
    } finally {
      this.#started += this.#host.active.now() - since
    }
  }

  #remaining(timeoutMs: number): number {
    return Math.max(0, timeoutMs - (this.#host.active.now() - this.#started))
  }
}
