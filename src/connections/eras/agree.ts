import { HttpStatusError, ProtocolViolationError, RpcError } from '../../errors.js'
import type { ServerKey } from '../../identity/index.js'
import { type JsonObject, MODERN_REVISION } from '../../protocol/index.js'
import type { Handshake } from '../negotiate.js'
import type { Timers } from '../timers.js'
import type { EraKnowledge } from './knowledge.js'
import { concernsAuthorization, type Verdict, verdictOnError, verdictOnResult } from './verdict.js'

/** A session on which no era is agreed yet. */
export interface Opening {
  /** Its transport is gone. */
  isEnded(): boolean
  /** The whole handshake of the legacy era. */
  initialize(signal: AbortSignal): Promise<Handshake>
  /** `server/discover`, raw. Giving it up is not told to the server. */
  discover(signal: AbortSignal): Promise<JsonObject>
  /** The first page of the tools, asked for before the server said anything. */
  listEarly(signal: AbortSignal): Promise<JsonObject>
}

export interface Agreement {
  readonly handshake: Handshake
  /** The first page of `tools/list`, where it was asked for along the way. */
  readonly firstTools: Promise<JsonObject> | undefined
}

export interface AgreeOptions {
  readonly key: ServerKey
  readonly timers: Timers
  readonly eras: EraKnowledge
  /** Milliseconds that a server may leave the probe unanswered. */
  readonly probeMs: number
  /** False: the last process did not survive the probe. */
  readonly mayProbe: boolean
  readonly signal: AbortSignal
}

/**
 * Finds out which era a server speaks, on the session itself (specification 2026-07-28, versioning), and agrees on it.
 * What is known already is not asked: a legacy server gets no probe, a modern one its first request along with it.
 *
 * @throws what the handshake failed with
 */
export async function agree(opening: Opening, options: AgreeOptions): Promise<Agreement> {
  const { remember, ...agreement } = await new Talks(opening, options).agreed()
  if (remember !== undefined) options.eras.learn(remember.era, remember.protocolVersion)
  return agreement
}

type Spoken = Pick<Handshake, 'era' | 'protocolVersion'>

interface Found extends Agreement {
  /** Absent where it is known already, or was told by a passing trouble. */
  readonly remember: Spoken | undefined
}

class Talks {
  readonly #opening: Opening
  readonly #options: AgreeOptions

  constructor(opening: Opening, options: AgreeOptions) {
    this.#opening = opening
    this.#options = options
  }

  agreed(): Promise<Found> {
    const { eras, mayProbe } = this.#options
    if (eras.pinned === 'modern') return this.#modernOnly()
    if (eras.pinned === 'legacy' || !mayProbe) return this.#legacy(true)
    switch (eras.expected) {
      case 'legacy':
        return this.#legacyUnlessRefused()
      case 'modern':
        return this.#modernWithFirstRequest()
      default:
        return this.#probed()
    }
  }

  async #legacy(worthRemembering: boolean): Promise<Found> {
    const handshake = await this.#opening.initialize(this.#options.signal)
    return { handshake, firstTools: undefined, remember: worthRemembering ? handshake : undefined }
  }

  async #modernOnly(): Promise<Found> {
    const verdict = await this.#verdict(this.#options.signal)
    if (verdict.is === 'legacy') throw this.#notModern()
    return this.#follow(verdict)
  }

  async #legacyUnlessRefused(): Promise<Found> {
    try {
      // What was remembered does not become any younger by that.
      return await this.#legacy(false)
    } catch (error) {
      if (!isRefusal(error) || concernsAuthorization(error)) throw error
      this.#options.eras.forget()
      return this.#modernAfter(error)
    }
  }

  async #modernWithFirstRequest(): Promise<Found> {
    const { signal } = this.#options
    const answer = this.#verdict(signal)
    const firstTools = this.#opening.listEarly(signal)
    firstTools.catch(() => {
      // Whoever lists the tools takes it up; on any other way it is of no interest.
    })
    const verdict = await answer
    if (verdict.is === 'modern') return { ...modern(verdict.handshake), firstTools }
    this.#options.eras.forget()
    return this.#follow(verdict)
  }

  #probed(): Promise<Found> {
    return this.#probing(async (answer) => {
      const early = await this.#inTime(answer)
      return early === undefined ? this.#afterSilence(answer) : this.#follow(early)
    })
  }

  /** An answer that comes after all still counts: if not for this session, then for the next one. */
  async #afterSilence(answer: Promise<Verdict>): Promise<Found> {
    let late: Verdict | undefined
    answer.then(
      (verdict) => {
        late = verdict
      },
      () => {
        // What became of the probe no longer matters by itself; the handshake tells.
      },
    )
    try {
      const found = await this.#legacy(true)
      return isModern(late) ? { ...found, remember: late.handshake } : found
    } catch (error) {
      // What refuses the handshake may be a modern server that is slow to say so.
      const verdict = isRefusal(error) ? (late ?? (await this.#inTime(answer).catch(() => undefined))) : late
      if (isModern(verdict)) return this.#follow(verdict)
      throw error
    }
  }

  async #follow(verdict: Verdict): Promise<Found> {
    if (verdict.is === 'incompatible') throw verdict.error
    if (verdict.is === 'legacy') return this.#legacy(verdict.sure)
    return modern(verdict.handshake)
  }

  /** A server that refused `initialize` may have become a modern one. */
  #modernAfter(refusal: unknown): Promise<Found> {
    return this.#probing(async (answer) => {
      const verdict = await this.#inTime(answer).catch(() => undefined)
      if (verdict?.is === 'modern') return this.#follow(verdict)
      throw verdict?.is === 'incompatible' ? verdict.error : refusal
    })
  }

  /** A probe is given up when what it was for is over. */
  async #probing(work: (answer: Promise<Verdict>) => Promise<Found>): Promise<Found> {
    const { signal } = this.#options
    const probe = new AbortController()
    const stop = () => probe.abort(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    try {
      return await work(this.#verdict(probe.signal))
    } finally {
      signal.removeEventListener('abort', stop)
      probe.abort()
    }
  }

  async #verdict(signal: AbortSignal): Promise<Verdict> {
    const { key } = this.#options
    try {
      return verdictOnResult(await this.#opening.discover(signal), key)
    } catch (error) {
      if (this.#opening.isEnded() || signal.aborted || concernsAuthorization(error)) throw error
      const verdict = verdictOnError(error, key)
      if (verdict === undefined) throw error
      return verdict
    }
  }

  /** Undefined when the server leaves the probe unanswered. */
  #inTime(answer: Promise<Verdict>): Promise<Verdict | undefined> {
    const { timers, probeMs } = this.#options
    return new Promise((resolve, reject) => {
      const timer = timers.after(probeMs, () => resolve(undefined))
      answer.then(resolve, reject).finally(() => timer.cancel())
    })
  }

  #notModern(): ProtocolViolationError {
    const { key } = this.#options
    const text = `the server does not speak ${MODERN_REVISION}, which its entry asks for with protocol = "modern"`
    return new ProtocolViolationError(text, { key, place: 'server/discover' })
  }
}

function modern(handshake: Handshake): Found {
  return { handshake, firstTools: undefined, remember: handshake }
}

function isRefusal(error: unknown): boolean {
  return error instanceof RpcError || error instanceof ProtocolViolationError || error instanceof HttpStatusError
}

function isModern(verdict: Verdict | undefined): verdict is Verdict & { readonly is: 'modern' } {
  return verdict?.is === 'modern'
}
