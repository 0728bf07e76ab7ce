import { createHash } from 'node:crypto'
import { FirstPartyAuthError } from '../../errors.js'
import type { AuthManager } from '../manager/auth-manager.js'
import type { SignedIn, Snapshot } from '../manager/snapshot.js'
import { Registration, type RegistrationOptions, type RuntimeInstance } from './registration.js'

export interface RuntimeInstancesOptions extends Omit<RegistrationOptions, 'isHeld'> {
  /** An actor that is not the token's account: accepted, and told with hashes of the ids. */
  readonly onProblem?: (problem: Error) => void
}

/**
 * The runtime instances of this process: one for each credential value that a manager holds, shared by all threads and
 * modes, and dropped with its key when no manager holds the value any more. Source: reference, runtime-auth 2.3.
 */
export class RuntimeInstances {
  readonly #options: RuntimeInstancesOptions & Required<Pick<RegistrationOptions, 'isHeld'>>
  readonly #registrations = new Map<string, Registration>()
  readonly #obtaining = new Map<string, Promise<RuntimeInstance>>()
  readonly #held = new Map<AuthManager, Followed>()

  constructor(options: RuntimeInstancesOptions) {
    const isHeld = (key: string) => [...this.#held.values()].some((held) => held.key === key)
    this.#options = { ...options, isHeld }
  }

  /** Keeps instances for what this manager holds, until every one who asked for that has called what it got. */
  follow(manager: AuthManager): () => void {
    const followed = this.#held.get(manager) ?? this.#begin(manager)
    followed.uses += 1
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      followed.uses -= 1
      if (followed.uses > 0) return
      followed.stop()
      this.#held.delete(manager)
      this.#dropUnheld()
    }
  }

  /**
   * The instance of this very snapshot. A lasting 401 is answered by one refresh of the credential; what comes back is then
   * the instance of the new value, which its connection has to compare with its own.
   *
   * Rejects with `FirstPartyAuthError`: `registration_failed`, or `credentials_changed_not_sent` when the manager holds
   * another value by now.
   */
  async obtain(manager: AuthManager, snapshot: SignedIn): Promise<RuntimeInstance> {
    const { key } = snapshot
    if (this.#held.get(manager)?.key !== key) throw credentialsChanged(true)
    const ready = this.#registrations.get(key)?.instance
    if (ready !== undefined) return ready
    const running = this.#obtaining.get(key) ?? this.#obtain(manager, snapshot)
    this.#obtaining.set(key, running)
    try {
      return await running
    } finally {
      if (this.#obtaining.get(key) === running) this.#obtaining.delete(key)
    }
  }

  async #obtain(manager: AuthManager, snapshot: SignedIn): Promise<RuntimeInstance> {
    const registration = this.#registrationOf(snapshot)
    // What failed before is only told again; a refusal that is answered is one of an attempt of now.
    if (registration.isWaiting) return registration.obtain()
    try {
      const instance = await registration.obtain()
      this.#tellStrangeActor(instance, snapshot)
      return instance
    } catch (error) {
      const isUnauthorized = error instanceof FirstPartyAuthError && error.data?.status === 401
      if (!isUnauthorized || !registration.takeRefresh()) throw error
      return this.#recovered(manager, snapshot, registration, error)
    }
  }

  async #recovered(
    manager: AuthManager,
    refused: SignedIn,
    registration: Registration,
    error: FirstPartyAuthError,
  ): Promise<RuntimeInstance> {
    const outcome = await manager.refreshRejected(refused.key).catch((failure: unknown) => {
      if (failure instanceof Error) this.#options.onProblem?.(failure)
      return 'unchanged' as const
    })
    const next = manager.current()
    if (outcome === 'unchanged' || next.state !== 'signed_in') throw error
    return this.#registrationOf(next, registration.failures).obtain(false)
  }

  #registrationOf({ key, credential }: SignedIn, failuresBefore = 0): Registration {
    const known = this.#registrations.get(key)
    if (known !== undefined) return known
    const made = new Registration(this.#options, credential, failuresBefore)
    this.#registrations.set(key, made)
    return made
  }

  #begin(manager: AuthManager): Followed {
    const followed: Followed = {
      uses: 0,
      key: keyOf(manager.current()),
      stop: manager.subscribe(({ after }) => {
        followed.key = keyOf(after)
        this.#dropUnheld()
      }),
    }
    this.#held.set(manager, followed)
    return followed
  }

  #dropUnheld(): void {
    const held = new Set([...this.#held.values()].map(({ key }) => key))
    for (const key of this.#registrations.keys()) if (!held.has(key)) this.#registrations.delete(key)
  }

  #tellStrangeActor({ registration: { actor } }: RuntimeInstance, { identity }: SignedIn): void {
    const registered = actor.kind === 'chatgpt' ? actor.accountId : null
    if (identity.accountId === null || registered === identity.accountId) return
    const shown = registered === null ? 'a platform actor' : `account ${shortHash(registered)}`
    const text = `the runtime was registered for ${shown}, the token is of account ${shortHash(identity.accountId)}`
    this.#options.onProblem?.(new Error(text))
  }
}

interface Followed {
  uses: number
  key: string | undefined
  readonly stop: () => void
}

function keyOf(snapshot: Snapshot): string | undefined {
  return snapshot.state === 'signed_in' ? snapshot.key : undefined
}

/** @param mayRetry whether the operation may be repeated on a connection that is built anew. */
export function credentialsChanged(mayRetry: boolean): FirstPartyAuthError {
  return new FirstPartyAuthError(
    'credentials_changed_not_sent',
    'credentials changed during runtime registration; try again',
    { mayRetry, transient: true },
  )
}

function shortHash(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 12)
}
