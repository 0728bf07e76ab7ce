import { FirstPartyAuthError } from '../../errors.js'
import type { Clock } from '../clock.js'
import type { AuthManager } from '../manager/auth-manager.js'
import type { AccountGrant, Snapshot } from '../manager/snapshot.js'
import type { AgentTasks } from '../sources/agent-identity.js'
import { sameIdentity } from '../sources/credential.js'
import type { Selection } from '../sources/environment-source.js'
import type { BackendPlaces } from './backend.js'
import { ConnectionAuth } from './connection-auth.js'
import type { RuntimeInstances } from './instances.js'
import type { AssertionIssuer } from './issuer.js'
import type { RuntimeAuthMode } from './mode.js'
import { type NetworkPolicies, openNetwork, policyUnavailable } from './network-policy.js'
import type { AuthClient } from './plan.js'

/** What is one per process, whoever's requests it serves. */
export interface AuthRuntime {
  readonly places: BackendPlaces
  readonly issuer: AssertionIssuer
  readonly instances: RuntimeInstances
  readonly agents: AgentTasks
  readonly clock: Clock
  readonly selection?: Selection
  readonly networks?: NetworkPolicies
}

/**
 * Auth of one thread or actor: its manager and its mode, both fixed when it begins. Every client that works for the thread
 * is given this; there is no process-wide one to fall back to. Source: reference, auth 3; runtime-auth 1, 8 and 9.
 */
export class AuthContext {
  readonly manager: AuthManager
  readonly mode: RuntimeAuthMode
  readonly #runtime: AuthRuntime
  readonly #unfollow: () => void
  #grant: AccountGrant | undefined

  constructor(runtime: AuthRuntime, manager: AuthManager, mode: RuntimeAuthMode) {
    this.#runtime = runtime
    this.manager = manager
    this.mode = mode
    this.#unfollow = runtime.instances.follow(manager)
    this.#grant = grantOf(manager.current())
  }

  /**
   * Auth for a connection that is opened now.
   *
   * Throws `FirstPartyAuthError`: `signed_out` after a logout; `network_policy_unavailable` when a refresh moved the manager
   * to another account under a thread of a runtime mode, until somebody signs in.
   */
  connect(client: AuthClient): ConnectionAuth {
    const { places, issuer, instances, agents, clock, selection = {}, networks = openNetwork } = this.#runtime
    const { manager, mode } = this
    const opened = manager.current()
    if (opened.state === 'signed_out')
      throw new FirstPartyAuthError('signed_out', 'signed out: sign in to use this again')
    this.#bind(opened)
    const network = opened.state === 'signed_in' ? networks(opened.identity) : openNetwork(NOBODY)
    if (network === undefined) throw policyUnavailable()
    const fixed = { places, issuer, instances, agents, clock, selection, network }
    return new ConnectionAuth({ ...fixed, manager, mode, client, opened })
  }

  /**
   * Stands for the account that this context is bound to, and for the login that bound it: contexts of one manager, mode and
   * binding may share what they connect to. Never a secret.
   */
  get binding(): string {
    const grant = this.#bindable(this.manager.current())
    return grant === undefined ? '' : JSON.stringify([grant.login, grant.identity])
  }

  /** The thread is over: keys that were only for it are forgotten. Idempotent. */
  close(): void {
    this.#unfollow()
  }

  #bind(opened: Snapshot): void {
    this.#grant = this.#bindable(opened)
    const now = grantOf(opened)
    if (now !== undefined && this.#grant !== undefined && !sameIdentity(now.identity, this.#grant.identity))
      throw policyUnavailable()
  }

  /** With the feature off a thread goes along with its host; else it stays with its account until the next login. */
  #bindable(opened: Snapshot): AccountGrant | undefined {
    const now = grantOf(opened)
    const bound = this.#grant
    const moves = now === undefined || bound === undefined || this.mode === 'off' || now.login > bound.login
    return moves ? (now ?? bound) : bound
  }
}

const NOBODY = Object.freeze({ accountId: null, userId: null, isWorkspace: false, principal: null })

function grantOf(snapshot: Snapshot): AccountGrant | undefined {
  return snapshot.state === 'signed_in' ? snapshot.grant : undefined
}
