import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import { FirstPartyAuthError, UnsupportedError } from '../../errors.js'
import { backoffMs, retryAfterMs } from '../backoff.js'
import type { Clock } from '../clock.js'
import type { AuthHttp, AuthReply } from '../http/auth-http.js'
import { asRecord, text } from '../sources/claims.js'
import { type Credential, credentialKey } from '../sources/credential.js'
import { type BackendPlaces, type BackendStage, stageOfBase } from './backend.js'
import type { AssertionIssuer } from './issuer.js'
import { newRuntimeKey, type RuntimeKey } from './key-pair.js'
import type { RuntimeRegistration } from './registration-reply.js'

/** What signs for one credential in this process. */
export interface RuntimeInstance {
  readonly registration: RuntimeRegistration
  readonly key: RuntimeKey
  readonly stage: BackendStage
  readonly credentialKey: string
}

export interface RegistrationOptions {
  readonly issuer: AssertionIssuer
  readonly places: BackendPlaces
  readonly http: AuthHttp
  readonly clock: Clock
  /** The id, or what reads it: only the first registration needs it. */
  readonly installationId: string | (() => Promise<string>)
  readonly newKey?: () => RuntimeKey
  /** Whether the credential with this key is still in force: asked before each attempt, which would send it. */
  readonly isHeld?: (credentialKey: string) => boolean
}

type State =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly outcome: Promise<RuntimeInstance> }
  | { readonly kind: 'ready'; readonly instance: RuntimeInstance }
  | { readonly kind: 'waiting'; readonly error: FirstPartyAuthError; readonly until: number }
  /** A 403: never again with this credential. */
  | { readonly kind: 'refused'; readonly error: FirstPartyAuthError }

export const REGISTRATION_MS = 30_000

/**
 * The registration of one credential value: one key and one idempotency key for its whole life, one attempt in flight that
 * all who wait share, and after a failure none before its time. Source: reference, runtime-auth 2 and 14; known-quirks 63.
 */
export class Registration {
  readonly #options: RegistrationOptions
  readonly #credential: Credential
  readonly #key: RuntimeKey
  readonly #idempotencyKey = randomUUID()
  #state: State = { kind: 'idle' }
  #failures: number
  /** Whether a lasting 401 has led to a refresh already: at most one for a credential value. */
  #mayRefresh = true

  constructor(options: RegistrationOptions, credential: Credential, failuresBefore = 0) {
    this.#options = options
    this.#credential = credential
    this.#key = (options.newKey ?? newRuntimeKey)()
    this.#failures = failuresBefore
  }

  /** Attempts that failed in a row; a credential that a recovery brought goes on counting where the old one stopped. */
  get failures(): number {
    return this.#failures
  }

  get instance(): RuntimeInstance | undefined {
    return this.#state.kind === 'ready' ? this.#state.instance : undefined
  }

  /** Whether the next attempt has to wait, or will never be made. */
  get isWaiting(): boolean {
    const state = this.#state
    return state.kind === 'refused' || (state.kind === 'waiting' && this.#options.clock.now() < state.until)
  }

  /** True once, then false. */
  takeRefresh(): boolean {
    const may = this.#mayRefresh
    this.#mayRefresh = false
    return may
  }

  /**
   * The instance; registered now if it has to be. Rejects with `FirstPartyAuthError` `registration_failed`: `data.status`,
   * and `data.retryAtMs` (since 1970) while no attempt is made.
   *
   * @param repeatUnauthorized whether a 401 is answered by one more attempt with the same keys.
   */
  async obtain(repeatUnauthorized = true): Promise<RuntimeInstance> {
    const state = this.#state
    const { clock } = this.#options
    if (state.kind === 'ready') return state.instance
    if (state.kind === 'running') return state.outcome
    if (state.kind === 'refused') throw state.error
    if (state.kind === 'waiting' && clock.now() < state.until) throw state.error
    const outcome = this.#run(repeatUnauthorized)
    this.#state = { kind: 'running', outcome }
    return outcome
  }

  async #run(repeatUnauthorized: boolean): Promise<RuntimeInstance> {
    try {
      const reply = await this.#registered(repeatUnauthorized)
      const instance = this.#accepted(reply)
      this.#failures = 0
      this.#state = { kind: 'ready', instance }
      return instance
    } catch (error) {
      throw this.#failed(error)
    }
  }

  async #registered(repeatUnauthorized: boolean): Promise<AuthReply> {
    const reply = await this.#readable()
    return reply.status === 401 && repeatUnauthorized ? this.#readable() : reply
  }

  /** The reference offers an encoding that older Nodes can't read; then it is asked again, with the same keys, without. */
  async #readable(): Promise<AuthReply> {
    try {
      return await this.#post('zstd,gzip')
    } catch (error) {
      if (!(error instanceof UnsupportedError)) throw error
      return this.#post('gzip')
    }
  }

  async #post(encodings: string): Promise<AuthReply> {
    const { issuer, places, http, clock, installationId, isHeld } = this.#options
    const url = issuer.registrationUrl(places)
    const installation = typeof installationId === 'string' ? installationId : await installationId()
    // After the last wait: nothing is sent for a credential that was given up meanwhile.
    if (isHeld !== undefined && !isHeld(credentialKey(this.#credential))) throw noLongerHeld()
    const facts = { credential: this.#credential, installationId: installation, publicKey: this.#key.publicKey }
    const { headers, body } = issuer.registration({ ...facts, idempotencyKey: this.#idempotencyKey })
    const abort = new AbortController()
    const cancel = clock.after(REGISTRATION_MS, () => abort.abort())
    try {
      const fields = [...headers, ['accept-encoding', encodings] as const]
      return await http.send({ method: 'POST', url, headers: fields, body, signal: abort.signal })
    } catch (error) {
      if (error instanceof UnsupportedError) throw error
      // What the transport says may quote the request, which holds the credential.
      throw new FirstPartyAuthError('registration_failed', 'runtime registration transport failed', {
        transient: true,
        data: { transport: true },
      })
    } finally {
      cancel()
    }
  }

  #accepted(reply: AuthReply): RuntimeInstance {
    const { issuer, places, clock } = this.#options
    if (reply.status !== 200 && reply.status !== 201) throw rejected(reply, clock.wall())
    const registration = issuer.read(reply.body)
    const stage = stageOfBase(places) ?? 'production'
    return Object.freeze({ registration, key: this.#key, stage, credentialKey: credentialKey(this.#credential) })
  }

  #failed(cause: unknown): FirstPartyAuthError {
    const { clock } = this.#options
    const error =
      cause instanceof FirstPartyAuthError
        ? cause
        : new FirstPartyAuthError('registration_failed', 'invalid runtime registration response')
    if (error.code === 'credentials_changed_not_sent') {
      this.#state = { kind: 'idle' }
      return error
    }
    if (error.data?.status === 403) {
      this.#state = { kind: 'refused', error }
      return error
    }
    this.#failures += 1
    const asked = typeof error.data?.retryAfterMs === 'number' ? error.data.retryAfterMs : 0
    const delay = backoffMs(this.#failures, clock, asked)
    const told = new FirstPartyAuthError('registration_failed', error.message, {
      transient: true,
      data: { ...error.data, retryAtMs: Math.ceil(clock.wall() + delay) },
    })
    this.#state = { kind: 'waiting', error: told, until: clock.now() + delay }
    return told
  }
}

function noLongerHeld(): FirstPartyAuthError {
  const message = 'credentials changed during runtime registration; try again'
  return new FirstPartyAuthError('credentials_changed_not_sent', message, { mayRetry: true, transient: true })
}

/** `rejected (<status> <reason>, <code>)`, as observed; the code is one of three words, never what the service wrote. */
function rejected(reply: AuthReply, wallMs: number): FirstPartyAuthError {
  const { status } = reply
  const code = errorCode(reply.body)
  const shown = code === undefined ? 'None' : `Some(${code === 'token_expired' ? 'TokenExpired' : 'Unknown'})`
  const reason = STATUS_CODES[status]
  const line = reason === undefined ? String(status) : `${status} ${reason}`
  return new FirstPartyAuthError('registration_failed', `runtime registration rejected (${line}, ${shown})`, {
    transient: status >= 500 || status === 429,
    data: { status, retryAfterMs: retryAfterMs(reply.header('retry-after'), wallMs) },
  })
}

function errorCode(body: string): string | undefined {
  try {
    return text(asRecord(asRecord(JSON.parse(body))?.error)?.code)
  } catch {
    return undefined
  }
}
