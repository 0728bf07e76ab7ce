export { type ApprovalRequestReading, readApprovalRequest } from './approval-request.js'
export type { Elicitation, ElicitationAuthority, ElicitationReview } from './authority.js'
export { answerElicitation, type DecidedElicitation, type ElicitationDecider } from './chain.js'
export { clientRequestParams } from './client-request.js'
export { OutOfBandPauses, type Pausable, type PauseState } from './pauses.js'
export type { ElicitationAnswer, ElicitationParams } from './request.js'
export { type ReviewingOptions, type ReviewingTurn, reviewOfTurn, reviewTarget } from './reviewing.js'
export { type AutoReason, type ElicitationRoute, routeElicitation } from './route.js'
export {
  type ElicitationChannel,
  type ElicitationListener,
  ElicitationRouter,
  type SurfacedElicitation,
  type WaitingElicitation,
} from './router.js'
