import { neverAsksFully } from '../approvals/order.js'
import { acceptEmpty, DECLINE, fixedDecline } from './answers.js'
import type { Elicitation, ElicitationAuthority } from './authority.js'
import { type ElicitationAnswer, isEmptyForm, isFilledForm, metaOf } from './request.js'

/** What becomes of a question. `reason`: for the log and the audit. */
export type ElicitationRoute =
  | { readonly to: 'answer'; readonly answer: ElicitationAnswer; readonly reason: AutoReason }
  /** Only an automatic review can answer. */
  | { readonly to: 'strict_review' }
  /** The reviewer first, then a person. */
  | { readonly to: 'review' }
  /** A person, and no reviewer. */
  | { readonly to: 'user' }

export type AutoReason =
  | 'declines_all'
  | 'tool_suggestion'
  | 'no_authority'
  | 'strict_malformed'
  | 'strict_denied_by_policy'
  | 'auto_approved'
  | 'policy'

/** The chain of the runtime up to where somebody has to be asked (reference: authority, 6.1). */
export function routeElicitation(
  { key, params, toolMode }: Elicitation,
  authority: ElicitationAuthority | undefined,
): ElicitationRoute {
  if (authority?.declinesAll) return answer(DECLINE, 'declines_all')
  if (metaOf(params, 'codex_approval_kind') === 'tool_suggestion') return answer(DECLINE, 'tool_suggestion')
  const permissions = authority?.permissionsOf(key)
  if (authority === undefined || permissions === undefined) return answer(DECLINE, 'no_authority')
  const { policy } = authority
  const declines = typeof policy === 'object' && !policy.granular.mcp_elicitations
  const strict = metaOf(params, 'codex_strict_auto_review')
  if (strict !== undefined && typeof strict !== 'boolean') return answer(fixedDecline(), 'strict_malformed')
  if (strict === true) return declines ? answer(fixedDecline(), 'strict_denied_by_policy') : { to: 'strict_review' }
  const approved = toolMode === 'approve' || neverAsksFully(policy, permissions)
  if (approved && isEmptyForm(params)) return answer(acceptEmpty(), 'auto_approved')
  const isPlain = metaOf(params, 'codex_approval_kind') === undefined
  if (authority.formsReachUser && approved && isFilledForm(params) && isPlain) return { to: 'user' }
  return policy === 'never' || declines ? answer(DECLINE, 'policy') : { to: 'review' }
}

function answer(value: ElicitationAnswer, reason: AutoReason): ElicitationRoute {
  return { to: 'answer', answer: value, reason }
}
