import type { ApprovalMode } from '../../config/index.js'
import { type ApprovalPolicy, hasFullDiskWrite, type PermissionProfile } from '../../permissions/index.js'
import type { ApprovalsReviewer } from '../types.js'
import { needsApproval, type ToolHints } from './modes.js'
import { REFUSED } from './texts.js'

/** What the hooks said to a call that needs approval. `unasked`: they have not run yet. */
export type PermissionHookOutcome =
  | { readonly kind: 'unasked' | 'none' | 'allow' }
  | { readonly kind: 'deny'; readonly message: string }

/** Everything that decides whether a call runs. */
export interface CallFacts {
  /** `strict_auto_review` of the turn. */
  readonly strictReview: boolean
  readonly policy: ApprovalPolicy
  /** Of the environment that owns the server. */
  readonly permissions: PermissionProfile
  readonly mode: ApprovalMode
  readonly hints: ToolHints
  /** Which memory holds this very call, with the tool and its server as they are now. */
  readonly remembered: 'session' | 'always' | null
  readonly hook: PermissionHookOutcome
  readonly reviewer: ApprovalsReviewer
}

export type DecisionStep =
  | { readonly do: 'run'; readonly by: 'full_access' | 'mode' | 'session_memory' | 'durable_memory' | 'hook' }
  | { readonly do: 'reject'; readonly by: 'hook' | 'policy'; readonly text: string }
  | { readonly do: 'ask_hooks' | 'ask_user' }
  | { readonly do: 'review'; readonly strict: boolean }

type Rule = (facts: CallFacts) => DecisionStep | undefined

/**
 * The order of decisions (reference: authority, 2). The first row that applies decides; `ask_hooks` comes back here with
 * what they said. Unlike the reference, hooks are heard before a remembered approval counts (known-quirks, 38).
 */
const ORDER: readonly Rule[] = [
  ({ strictReview }) => (strictReview ? { do: 'review', strict: true } : undefined),
  ({ policy, permissions }) => (neverAsksFully(policy, permissions) ? { do: 'run', by: 'full_access' } : undefined),
  ({ mode, hints }) => (needsApproval(mode, hints) ? undefined : { do: 'run', by: 'mode' }),
  ({ hook }) => (hook.kind === 'unasked' ? { do: 'ask_hooks' } : undefined),
  ({ hook }) => (hook.kind === 'deny' ? { do: 'reject', by: 'hook', text: hook.message } : undefined),
  ({ remembered }) => (remembered === 'session' ? { do: 'run', by: 'session_memory' } : undefined),
  ({ remembered }) => (remembered === 'always' ? { do: 'run', by: 'durable_memory' } : undefined),
  ({ hook }) => (hook.kind === 'allow' ? { do: 'run', by: 'hook' } : undefined),
  ({ policy, reviewer }) => (routesToReviewer(policy, reviewer) ? { do: 'review', strict: false } : undefined),
  ({ policy }) => (policy === 'never' ? { do: 'reject', by: 'policy', text: REFUSED.never } : undefined),
]

export function nextStep(facts: CallFacts): DecisionStep {
  for (const rule of ORDER) {
    const step = rule(facts)
    if (step !== undefined) return step
  }
  return { do: 'ask_user' }
}

/** Nobody is to be asked, and nothing is out of reach anyway (reference: authority, 6.4). The network does not matter. */
export function neverAsksFully(policy: ApprovalPolicy, permissions: PermissionProfile): boolean {
  return policy === 'never' && hasFullDiskWrite(permissions)
}

/** An automatic reviewer stands in for a person where a person would be asked on request. */
export function routesToReviewer(policy: ApprovalPolicy, reviewer: ApprovalsReviewer): boolean {
  return reviewer === 'auto_review' && (policy === 'on-request' || typeof policy === 'object')
}
