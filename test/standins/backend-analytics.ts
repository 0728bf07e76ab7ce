import type { BackendModel, SeenRequest } from './backend-model.js'

export const EVENTS_PATH = '/backend-api/codex/analytics-events/events'
export const EVENTS = `POST ${EVENTS_PATH}`

/** An event as it was delivered, and whose auth it came with. */
export interface DeliveredEvent {
  readonly account: string | null
  readonly params: Readonly<Record<string, unknown>>
}

/** Requests that tell of calls, in order. */
export function deliveriesIn({ requests }: BackendModel): readonly SeenRequest[] {
  return requests.filter(({ path }) => path.endsWith('/codex/analytics-events/events'))
}

export function eventsOf(requests: readonly SeenRequest[]): readonly DeliveredEvent[] {
  return requests.flatMap(({ account, body }) => {
    const { events }: { events: { event_params: Readonly<Record<string, unknown>> }[] } = JSON.parse(body)
    return events.map(({ event_params: params }) => ({ account, params }))
  })
}
