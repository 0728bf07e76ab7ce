import { FirstPartyAuthError, ReeveError } from '../../errors.js'
import type { Clock } from '../clock.js'
import type { HeaderField } from '../header-field.js'
import type { AuthManager } from '../manager/auth-manager.js'
import type { AccountGrant, SignedIn, Snapshot } from '../manager/snapshot.js'
import type { AgentTasks } from '../sources/agent-identity.js'
import { bearerOf, type Credential, sameIdentity } from '../sources/credential.js'
import type { Selection } from '../sources/environment-source.js'
import { checkSelection } from './auth-headers.js'
import type { BackendPlaces } from './backend.js'
import { credentialsChanged, type RuntimeInstances } from './instances.js'
import type { AssertionIssuer } from './issuer.js'
import type { RuntimeAuthMode } from './mode.js'
import { type NetworkPolicy, permissionRevoked, policyUnavailable, urlRefused } from './network-policy.js'
import { type AuthClient, type AuthPlan, checkDestination, type PlanFacts, planOf } from './plan.js'
import { plannedHeaders } from './planned-headers.js'
import type { RuntimeInstance } from './registration.js'
import { isReplaySafe, type RepeatFacts } from './replay-safe.js'

/** One attempt of one HTTP request. */
export interface AuthOperation extends RepeatFacts {
  readonly url: string
}

/** `stop`: the request carries an assertion, so no redirect of it is followed, whatever its method and status. */
export type AuthRedirects = 'same-origin' | 'stop'

export type Authorization =
  | { readonly kind: 'authorized'; readonly headers: readonly HeaderField[]; readonly redirects: AuthRedirects }
  /** Nothing is sent. `error.mayRetry`: once more on a connection that is built anew. */
  | { readonly kind: 'refused'; readonly error: FirstPartyAuthError }

export interface ConnectionAuthOptions {
  readonly manager: AuthManager
  readonly mode: RuntimeAuthMode
  readonly client: AuthClient
  readonly places: BackendPlaces
  readonly selection: Selection
  readonly instances: RuntimeInstances
  readonly agents: AgentTasks
  readonly issuer: AssertionIssuer
  readonly clock: Clock
  readonly network: NetworkPolicy
  /** Who was signed in when the connection was opened. */
  readonly opened: Snapshot
}

/**
 * Auth of one connection: it stays with the account, mode and policy that it was opened with, and gives every single
 * attempt of every request headers of its own, or refuses it unsent. Source: reference, auth 3; runtime-auth 5, 8 and 14.
 */
export class ConnectionAuth {
  readonly #options: ConnectionAuthOptions
  readonly #grant: AccountGrant | undefined
  /** Fires when what is in flight has to end at once: the account left, or its policy was taken back. */
  readonly revoked: AbortSignal
  /** What it last sent with: its session may only be ended with that. */
  #last: { readonly snapshot: SignedIn; readonly instance: RuntimeInstance | undefined } | undefined
  #destination: DestinationFacts | undefined
  #planned: { readonly facts: DestinationFacts; readonly credential: Credential; readonly plan: AuthPlan } | undefined
  #isSuperseded = false
  #isClosed = false

  constructor(options: ConnectionAuthOptions) {
    this.#options = options
    const { opened, network } = options
    this.#grant = opened.state === 'signed_in' ? opened.grant : undefined
    this.revoked = this.#grant === undefined ? network.revoked : AbortSignal.any([this.#grant.revoked, network.revoked])
  }

  /** Whether a runtime assertion belongs to its requests, so that its HTTP client must stop at redirects. */
  get redirects(): AuthRedirects {
    const { opened, mode } = this.#options
    if (opened.state !== 'signed_in') return 'same-origin'
    const { kind } = opened.credential
    return mode !== 'off' || kind === 'agentIdentity' || kind === 'hostAssertion' ? 'stop' : 'same-origin'
  }

  /** Whether it has to be opened anew before it can be used again. */
  get isSuperseded(): boolean {
    return this.#isSuperseded || this.#hasChanged()
  }

  /** Headers for this attempt and no other. Never rejects. */
  async authorize(operation: AuthOperation): Promise<Authorization> {
    try {
      return await this.#fresh(operation)
    } catch (error) {
      return refused(error, isReplaySafe(operation))
    }
  }

  /**
   * Headers to end the connection's session with: its own last valid credential and instance, and a new assertion, also
   * when another credential is in force by now. Refused when it never had any, or `close` was called.
   */
  async authorizeEnd(url: string): Promise<Authorization> {
    const operation = { method: 'DELETE', url } as const
    const usual = await this.authorize(operation)
    if (usual.kind === 'authorized') return usual
    try {
      const facts = this.#facts(url)
      const last = this.#lastFor(facts)
      const plan = this.#plan(facts, last.snapshot)
      const headers = await plannedHeaders(plan, this.#options, last, operation)
      this.#lastFor(facts)
      return authorized(headers, plan)
    } catch (error) {
      return refused(error, false)
    }
  }

  /**
   * After a 401: renews the credential, shared with whoever else waits for that. True: the operation may be sent once more,
   * here or, where the credential is part of the connection, on one that is built anew (then `authorize` says so).
   */
  async unauthorized(operation: AuthOperation, sent: readonly HeaderField[]): Promise<boolean> {
    const { manager } = this.#options
    const now = manager.current()
    if (now.state !== 'signed_in' || this.#isClosed) return false
    const outcome = this.#isNewer(now, sent) ? 'changed' : await manager.refreshRejected(now.key)
    return outcome === 'changed' && isReplaySafe(operation)
  }

  /** Nothing is authorized any more, the end of a session neither; keys that it held are forgotten. */
  close(): void {
    this.#isClosed = true
    this.#last = undefined
    this.#planned = undefined
  }

  // ---- the steps of one attempt ----

  /** Where the value is no part of the connection, one that was renewed in between is simply read again. */
  async #fresh(operation: AuthOperation): Promise<Authorization> {
    if (this.#options.mode !== 'off') return this.#authorized(operation)
    try {
      return await this.#authorized(operation)
    } catch (error) {
      const isOutdated = error instanceof FirstPartyAuthError && error.code === 'credentials_changed_not_sent'
      if (!isOutdated || this.#isSuperseded) throw error
      return this.#authorized(operation)
    }
  }

  #lastFor(facts: DestinationFacts) {
    if (this.#last === undefined || this.#isClosed || this.#grant?.ended.aborted) throw permissionRevoked()
    const failure = this.#options.manager.failureOf(this.#last.snapshot)
    if (failure !== undefined) throw failure
    if (facts.refusal !== undefined) throw facts.refusal
    this.#checkNetwork(facts.url)
    return this.#last
  }

  async #authorized(operation: AuthOperation): Promise<Authorization> {
    const facts = this.#facts(operation.url)
    this.#admit(facts)
    if (this.#options.opened.state !== 'signed_in') return this.#anonymous(facts)
    const fresh = await this.#options.manager.auth()
    this.#admit(facts)
    const snapshot = this.#own(fresh)
    const plan = this.#plan(facts, snapshot)
    const instance = plan === 'runtime' ? await this.#instance(snapshot) : undefined
    this.#recheck(facts, snapshot)
    const headers = await plannedHeaders(plan, this.#options, { snapshot, instance }, operation)
    this.#recheck(facts, snapshot)
    if (plan !== 'anonymous') this.#last = { snapshot, instance }
    return authorized(headers, plan)
  }

  /** Kept for the URL of before, which is nearly always the same: to parse it again costs more than the rest of a bearer. */
  #facts(url: string): DestinationFacts {
    if (this.#destination?.text === url) return this.#destination
    const { mode, client, places } = this.#options
    const facts = { mode, client, places, url: new URL(url) }
    this.#destination = { ...facts, text: url, refusal: refusalOf(facts) }
    return this.#destination
  }

  /** Before any credential is read: open, permitted, and bound for a place of the right stage. */
  #admit(facts: DestinationFacts): void {
    if (this.#isClosed) throw permissionRevoked()
    if (this.#options.manager.current().state === 'signed_out') throw signedOut()
    if (this.#grant?.revoked.aborted) throw permissionRevoked()
    this.#checkNetwork(facts.url)
    if (facts.refusal !== undefined) throw facts.refusal
    if (this.#isSuperseded) throw credentialsChanged(true)
  }

  #checkNetwork(url: URL): void {
    const { network } = this.#options
    if (network.revoked.aborted) throw permissionRevoked()
    const reason = network.refusal(url)
    if (reason !== undefined) throw urlRefused(url, reason)
  }

  /** The snapshot, if it is of this connection's account; in the runtime modes also of its credential value. */
  #own(snapshot: Snapshot): SignedIn {
    const { opened, mode, manager } = this.#options
    if (snapshot.state === 'signed_out') throw signedOut()
    if (snapshot.state === 'never' || opened.state !== 'signed_in') throw unavailable()
    if (!sameIdentity(snapshot.identity, opened.identity)) throw mode === 'off' ? unavailable() : policyUnavailable()
    const failure = manager.failureOf(snapshot)
    if (mode !== 'off' && failure !== undefined) throw failure
    if (this.#hasChanged()) {
      this.#isSuperseded = true
      throw credentialsChanged(true)
    }
    return snapshot
  }

  /** In the runtime modes a connection belongs to one credential value, since its instance does; else to one account. */
  #hasChanged(): boolean {
    const { opened, mode, manager } = this.#options
    const now = manager.current()
    if (now.state !== 'signed_in') return false
    if (opened.state !== 'signed_in') return true
    return mode === 'off' ? !sameIdentity(now.identity, opened.identity) : now.key !== opened.key
  }

  #plan(facts: DestinationFacts, { credential }: SignedIn): AuthPlan {
    const known = this.#planned
    if (known?.facts === facts && known.credential === credential) return known.plan
    const plan = planOf(facts, credential, this.#options.selection)
    this.#planned = { facts, credential, plan }
    return plan
  }

  async #instance(snapshot: SignedIn): Promise<RuntimeInstance> {
    const { instances, manager, client, selection } = this.#options
    const instance = await instances.obtain(manager, snapshot)
    if (instance.credentialKey !== snapshot.key) {
      this.#isSuperseded = true
      throw credentialsChanged(true)
    }
    checkSelection(client, selection, instance)
    return instance
  }

  /** After a wait: whatever could have changed in it. */
  #recheck(facts: DestinationFacts, snapshot: SignedIn): void {
    this.#admit(facts)
    const now = this.#own(this.#options.manager.current())
    // Without an instance a renewed token of the same account is no new connection; only what was read is outdated.
    if (now.key !== snapshot.key) throw credentialsChanged(true)
  }

  /** Opened when nobody had signed in: it stays without auth, and ends with the first login. */
  #anonymous({ client, mode }: PlanFacts): Authorization {
    const { manager } = this.#options
    if (manager.current().state === 'signed_in') {
      this.#isSuperseded = true
      throw credentialsChanged(true)
    }
    if (client === 'mcp') return authorized([], 'anonymous')
    const message = mode === 'off' ? 'nobody is signed in' : 'runtime registration requires an actor credential'
    throw new FirstPartyAuthError('no_credential', message)
  }

  #isNewer(now: SignedIn, sent: readonly HeaderField[]): boolean {
    if (this.isSuperseded) return true
    const authorization = sent.find(([name]) => name.toLowerCase() === 'authorization')?.[1]
    return authorization?.startsWith('Bearer ') === true && authorization !== `Bearer ${bearerOf(now.credential)}`
  }
}

/** A destination, and why nothing may be sent there, whoever is signed in. */
interface DestinationFacts extends PlanFacts {
  readonly text: string
  readonly refusal: FirstPartyAuthError | undefined
}

function refusalOf(facts: PlanFacts): FirstPartyAuthError | undefined {
  try {
    checkDestination(facts)
  } catch (error) {
    if (error instanceof FirstPartyAuthError) return error
    throw error
  }
  return undefined
}

function authorized(headers: readonly HeaderField[], plan: AuthPlan): Authorization {
  const carries = plan === 'runtime' || plan === 'own_assertion'
  return { kind: 'authorized', headers, redirects: carries ? 'stop' : 'same-origin' }
}

/** The same refusal, with what it means for this operation. */
function refused(error: unknown, isSafe: boolean): Authorization {
  if (!(error instanceof FirstPartyAuthError))
    return {
      kind: 'refused',
      error: new FirstPartyAuthError('auth_unavailable', 'no auth could be resolved', {
        transient: true,
        // Only what is ours is known to quote no secret.
        ...(error instanceof ReeveError && { cause: error }),
      }),
    }
  if (!error.mayRetry || isSafe) return { kind: 'refused', error }
  const { message, transient, data } = error
  const code = 'credentials_changed_not_sent'
  return { kind: 'refused', error: new FirstPartyAuthError(code, message, { transient, ...(data && { data }) }) }
}

function unavailable(): FirstPartyAuthError {
  return new FirstPartyAuthError('auth_unavailable', 'managed authentication unavailable', {
    transient: true,
    mayRetry: true,
  })
}

function signedOut(): FirstPartyAuthError {
  return new FirstPartyAuthError('signed_out', 'signed out: sign in to use this again')
}
