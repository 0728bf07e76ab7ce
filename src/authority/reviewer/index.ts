export * from './contract.js'
export {
  type ActionOptions,
  contextEnvironment,
  type PlannedCall,
  plannedAction,
  reportedAction,
} from './planned-action.js'
export * from './review.js'
export { denialText, REVIEW_TIMED_OUT } from './texts.js'
