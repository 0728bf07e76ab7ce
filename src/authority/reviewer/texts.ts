/** What a model or server is told of a review that did not approve (reference: authority, 5); it begins as in the reference. */
export function denialText(rationale: string | null): string {
  const reason = rationale?.trim() ? rationale : 'none was given'
  return `This action was rejected due to unacceptable risk.\nReason: ${reason}\nDo not try to reach the same end by another way. Go on with something that needs no such approval, or ask the user.`
}

export const REVIEW_TIMED_OUT =
  'The automatic approval review did not end in time, so this action was not carried out. Nothing is known to be wrong with it: it may be tried again, or the user be asked.'
