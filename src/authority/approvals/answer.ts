import type { PersistOffer } from './offer.js'
import { questionId } from './prompt.js'
import { REFUSED } from './texts.js'

/** Labels of options, which come back as answers. */
export const ANSWER_LABELS = Object.freeze({
  once: 'Allow',
  session: 'Allow for this session',
  always: "Allow and don't ask me again",
  cancel: 'Cancel',
})

/** What whoever was asked said. `persist` is what was said, not yet what was offered. */
export type Answer =
  | { readonly kind: 'allowed'; readonly persist: PersistOffer | null }
  | { readonly kind: 'rejected' | 'cancelled'; readonly text: string }

const CANCELLED: Answer = Object.freeze({ kind: 'cancelled', text: REFUSED.cancelled })

/**
 * Reads the answer to a question about a call, in either form: `{action, content, _meta}` of an elicitation, or `{answers}`
 * (reference: authority, 3). Whatever is neither is taken for no answer: the call is cancelled.
 */
export function readAnswer(value: unknown, callId: string): Answer {
  if (!isRecord(value)) return CANCELLED
  if (value.action === undefined) return labelled(own(value.answers, questionId(callId)))
  switch (value.action) {
    case 'accept':
      return accepted(value, callId)
    case 'decline':
      return { kind: 'rejected', text: REFUSED.rejected }
    default:
      return CANCELLED
  }
}

function accepted({ content, _meta }: Record<string, unknown>, callId: string): Answer {
  const persist = own(_meta, 'persist')
  if (persist === 'session' || persist === 'always') return { kind: 'allowed', persist }
  const label = own(content, questionId(callId))
  return label === undefined ? { kind: 'allowed', persist: null } : labelled(label)
}

/** A label, a list with one, or `{answers: [label]}`. */
function labelled(value: unknown): Answer {
  const inner = isRecord(value) ? value.answers : value
  const label = Array.isArray(inner) && inner.length === 1 ? inner[0] : inner
  switch (label) {
    case ANSWER_LABELS.once:
      return { kind: 'allowed', persist: null }
    case ANSWER_LABELS.session:
      return { kind: 'allowed', persist: 'session' }
    case ANSWER_LABELS.always:
      return { kind: 'allowed', persist: 'always' }
    default:
      return CANCELLED
  }
}

function own(value: unknown, member: string): unknown {
  return isRecord(value) && Object.hasOwn(value, member) ? value[member] : undefined
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
