import { HOSTED_APPS_NAME, keyText, type ServerKey } from '../../identity/index.js'
import { type ApprovalBinding, sameBinding } from './binding.js'

/** Which tool an approval is for, exactly (reference: authority, 4). */
export interface ApprovalSubject {
  readonly key: ServerKey
  /** Root id, or `plugin@marketplace`. */
  readonly pluginId: string | null
  readonly connectorId: string | null
  readonly linkId: string | null
  /** The raw name. */
  readonly tool: string
}

/** An injective text of a subject, for maps and tables. */
export function subjectText({ key, pluginId, connectorId, linkId, tool }: ApprovalSubject): string {
  return JSON.stringify([keyText(key), pluginId, connectorId, linkId, tool])
}

/** Whether approvals of a subject can be remembered: not of a hosted app that does not say which one it is. */
export function canBeRemembered({ key, connectorId }: ApprovalSubject): boolean {
  return key.name !== HOSTED_APPS_NAME || connectorId !== null
}

/** What one conversation was allowed. */
export class SessionMemory {
  readonly #approved = new Map<string, ApprovalBinding>()

  has(subject: ApprovalSubject, binding: ApprovalBinding): boolean {
    const approved = this.#approved.get(subjectText(subject))
    return approved !== undefined && sameBinding(approved, binding)
  }

  add(subject: ApprovalSubject, binding: ApprovalBinding): void {
    this.#approved.set(subjectText(subject), binding)
  }

  clear(): void {
    this.#approved.clear()
  }
}

/** A decision that outlives its conversation. */
export interface RememberedApproval {
  readonly subject: ApprovalSubject
  readonly binding: ApprovalBinding
  /** `answer`: somebody said "always" when asked. `operator`: it was given beforehand, by `reeve approvals allow`. */
  readonly origin: 'answer' | 'operator'
  /** Milliseconds since the epoch. */
  readonly givenAt: number
  /** Who gave it; absent: the local user. */
  readonly principal?: string
}

/**
 * Where decisions are kept for good: in the state of the home, never in a file of the user's. There is no limit to
 * them. Each method is done when it returns: what was put is on disk. One principal's decisions are nobody else's; absent,
 * the local user is meant.
 */
export interface DurableApprovals {
  /** What is remembered of a subject, whatever it is bound to. */
  get(subject: ApprovalSubject, principal?: string): RememberedApproval | undefined
  /** Replaces what was remembered of the subject. @throws when it can't be kept */
  put(approval: RememberedApproval): void
  /** Of all principals, oldest first. */
  list(): readonly RememberedApproval[]
  /** Whether there was one. */
  revoke(subject: ApprovalSubject, principal?: string): boolean
}
