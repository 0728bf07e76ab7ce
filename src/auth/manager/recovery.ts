import type { CredentialKind } from '../sources/credential.js'
import type { AuthManager } from './auth-manager.js'
import type { SignedIn, Snapshot } from './snapshot.js'

export type RecoveryReason =
  | 'ready'
  | 'recovery_exhausted'
  | 'not_refreshable_auth'
  | 'not_chatgpt_auth'
  | 'no_external_auth'

export interface RecoveryStep {
  readonly step: 'reload' | 'refresh_token' | 'external_refresh'
  readonly changed: boolean
}

const REFRESHABLE: ReadonlySet<CredentialKind> = new Set(['chatgpt', 'chatgptAuthTokens', 'headers'])

/**
 * What may help after a 401, one step at a time: a stored session is reloaded, then refreshed; one of the host is asked for
 * once. A reload that finds another account ends it. Source: reference, auth 4, "401 recovery".
 */
export class UnauthorizedRecovery {
  readonly #manager: AuthManager
  readonly #refused: Snapshot
  #left: RecoveryStep['step'][]

  constructor(manager: AuthManager, refused: Snapshot) {
    this.#manager = manager
    this.#refused = refused
    this.#left = reasonOf(refused) === 'ready' && refused.state === 'signed_in' ? stepsOf(refused) : []
  }

  /** Why there is, or is not, another step. */
  get reason(): RecoveryReason {
    const first = reasonOf(this.#refused)
    if (first !== 'ready') return first
    return this.#left.length > 0 ? 'ready' : 'recovery_exhausted'
  }

  /** Undefined when nothing is left. Rejects with what the step says; a permanent failure leaves nothing. */
  async next(): Promise<RecoveryStep | undefined> {
    const step = this.#left.shift()
    if (step === undefined || this.#refused.state !== 'signed_in') return undefined
    try {
      const done =
        step === 'reload' ? await this.#manager.reload() : await this.#manager.refreshRejected(this.#refused.key)
      return { step, changed: done === 'changed' }
    } catch (error) {
      this.#left = []
      throw error
    }
  }
}

function stepsOf({ source }: SignedIn): RecoveryStep['step'][] {
  return source.kind === 'host' ? ['external_refresh'] : ['reload', 'refresh_token']
}

function reasonOf(refused: Snapshot): RecoveryReason {
  if (refused.state !== 'signed_in') return 'not_chatgpt_auth'
  const { credential, source } = refused
  if (!REFRESHABLE.has(credential.kind))
    return credential.kind === 'apiKey' ? 'not_chatgpt_auth' : 'not_refreshable_auth'
  if (source.refresh === undefined) return source.kind === 'host' ? 'no_external_auth' : 'not_refreshable_auth'
  return 'ready'
}
