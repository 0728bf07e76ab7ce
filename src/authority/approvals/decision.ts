import type { ApprovalBinding } from './binding.js'
import type { ApprovalSubject } from './memory.js'
import type { PersistOffer } from './offer.js'

/** Who, or what, decided. `nobody`: whoever had to be asked could not be, or gave no answer. */
export type DecidedBy =
  | 'full_access'
  | 'mode'
  | 'session_memory'
  | 'durable_memory'
  | 'operator'
  | 'hook'
  | 'policy'
  | 'reviewer'
  | 'user'
  | 'nobody'

/** What a decision allows beyond its own call. */
export interface Grant {
  readonly subject: ApprovalSubject
  readonly binding: ApprovalBinding
  readonly persist: PersistOffer
}

/** Frozen. */
export type ApprovalDecision =
  | { readonly outcome: 'run'; readonly by: DecidedBy; readonly grant: Grant | null }
  | {
      readonly outcome: 'rejected' | 'cancelled'
      readonly by: DecidedBy
      /** What the model is told. */
      readonly text: string
      readonly grant: null
    }

export function run(by: DecidedBy, grant: Grant | null = null): ApprovalDecision {
  return Object.freeze({ outcome: 'run', by, grant })
}

export function refused(by: DecidedBy, text: string): ApprovalDecision {
  return Object.freeze({ outcome: 'rejected', by, text, grant: null })
}

export function cancelled(by: DecidedBy, text: string): ApprovalDecision {
  return Object.freeze({ outcome: 'cancelled', by, text, grant: null })
}
