import type {
  ApprovalsReviewer,
  ElicitationAnswer,
  PauseState,
  PersistOffer,
  PromptFacts,
  RememberedApproval,
  SurfacedElicitation,
} from '../authority/index.js'
import type { ServerKey } from '../identity/index.js'
import type { ApprovalPolicy } from '../permissions/index.js'
import type { JsonObject } from '../protocol/index.js'

/** A call that somebody is asked about. `promptParams` and `fallbackPromptParams` put it in the words of the reference. */
export interface ApprovalRequest extends Omit<PromptFacts, 'arguments' | 'connector'> {
  readonly arguments: JsonObject | undefined
  /** What can be answered beside `approve` and `decline`: more than was offered comes to the most that was. */
  readonly offers: readonly PersistOffer[]
}

/** What is approved, and as what. */
export interface ApprovalTarget extends Pick<RememberedApproval, 'subject' | 'binding'> {
  /** Requirements, by their files, that have every call of it asked about: until they change such an approval does not count. */
  readonly demandedBy: readonly string[]
}

export type ApprovalAnswer = 'approve' | 'approve_for_session' | 'approve_always' | 'decline'

/** What one turn says of approvals, over what the thread says (reference: authority, 2). */
export interface TurnApprovals {
  readonly policy?: ApprovalPolicy
  /** `user`: a person is asked although the thread has a reviewer. */
  readonly reviewer?: ApprovalsReviewer
  /** Every call is judged by the thread's reviewer, whatever its mode; refused where there is none. */
  readonly strictReview?: boolean
}

/** How servers' questions are put to the host of a thread. */
export interface ElicitationOptions {
  /**
   * Told of each question that a person has to answer, under an id of ours, in place of `onRequest`; `Thread.elicitations`
   * takes the answer. Servers may use equal ids of their own. `withdrawn` fires when no answer is wanted any more.
   */
  readonly onQuestion?: (question: SurfacedElicitation, withdrawn: AbortSignal) => void
  /** All are declined, whatever the policy. Default false. */
  readonly declineAll?: boolean
  /**
   * Forms with fields reach the person although the policy is `never`, where nothing restricts the server's environment:
   * for a host with a person at hand (reference: authority, 6.1). Default false.
   */
  readonly formsReachUser?: boolean
}

/** The questions of a thread that wait, for hosts that are told of them by `ElicitationOptions.onQuestion`. */
export interface ThreadElicitations {
  /** How many wait. */
  readonly waiting: number
  /** @throws ReeveError `unknown_elicitation` when no such question of that server waits */
  resolve(key: ServerKey, id: string, answer: ElicitationAnswer): void
}

/**
 * For a host that asks somebody something that no server knows of: the time of calls stands still while any such question
 * is open (reference: authority, 6.6: `thread/increment_elicitation` and its counterpart).
 */
export interface ThreadPauses {
  increment(): PauseState
  /** @throws RpcError when none is open */
  decrement(): PauseState
}
