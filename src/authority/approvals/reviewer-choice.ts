import type { ApprovalsReviewer } from './order.js'

/** What is said about who reviews, by whom. `guardian_subagent` is the old name of `auto_review`. */
type Said = ApprovalsReviewer | 'guardian_subagent' | undefined

export interface ReviewerChoices {
  /** Managed requirements demand automatic reviews of this model. */
  readonly demandedOfModel?: boolean
  /** Of a hosted app, the nearest first. Absent for every other server. */
  readonly app?: { readonly link?: Said; readonly app?: Said; readonly byDefault?: Said; readonly allowed: boolean }
  readonly turn?: Said
  readonly thread?: Said
}

/** Who reviews a call (reference: authority, 2). A person, where nobody says. */
export function reviewerOf({ demandedOfModel, app, turn, thread }: ReviewerChoices): ApprovalsReviewer {
  if (demandedOfModel === true) return 'auto_review'
  const ofApp = app?.allowed === true ? (app.link ?? app.app ?? app.byDefault) : undefined
  const said = ofApp ?? turn ?? thread ?? 'user'
  return said === 'user' ? 'user' : 'auto_review'
}
