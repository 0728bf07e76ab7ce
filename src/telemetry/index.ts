export type { AnalyticsTiming } from './actor-analytics.js'
export { Analytics, type AnalyticsOptions } from './analytics.js'
export { type AnalyticsPlace, analyticsPlace } from './settings.js'
export { type EventClient, toolCallEvent } from './tool-call-event.js'
