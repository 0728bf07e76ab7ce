import type { Combination } from './combinations.js'

/** A cell, or all cells that agree in the members given, that the protocol leaves no way for. */
export interface Refusal extends Partial<Combination> {
  readonly feature: string
  /** What the client is told; a cell that fails in another way fails the run. */
  readonly answer: { readonly code?: number; readonly message?: RegExp }
  readonly reason: string
  /** Revision and section of the specification. */
  readonly spec: string
}

const TO_NEW = { client: 'new', server: 'old' } as const
const TO_OLD = { client: 'old', server: 'new' } as const

/** Everything else must be green. A cell that is listed here and comes out green fails the run too. */
export const REFUSALS: readonly Refusal[] = [
  {
    ...TO_NEW,
    feature: 'question outside any request',
    answer: { message: /elicitation\/create: -326\d\d/ },
    reason: 'a server of this era asks in the results of three requests, and nowhere else',
    spec: '2026-07-28, Multi Round-Trip Requests, Supported Requests',
  },
  {
    ...TO_NEW,
    feature: 'question during a completion',
    answer: { code: -32601 },
    reason: 'a completion is not among the requests that can be answered with questions',
    spec: '2026-07-28, Multi Round-Trip Requests, Supported Requests',
  },
  {
    ...TO_NEW,
    feature: 'log outside any request',
    answer: { message: /for 1 notifications\/message/ },
    reason: 'a log message belongs to a request that asked for it',
    spec: '2026-07-28, Key Changes, major 5',
  },
  {
    ...TO_NEW,
    feature: 'unknown notification outside any request',
    answer: { message: /for 1 notifications\/com.example\/news/ },
    reason: 'a subscription carries the four kinds of changes, and everything else belongs to a request',
    spec: '2026-07-28, Streamable HTTP, Receiving Messages',
  },
  {
    ...TO_NEW,
    feature: 'word that a visit is over',
    answer: { message: /for 1 notifications\/elicitation\/complete/ },
    reason: 'the notification was removed: the client learns the outcome from the request that it repeats',
    spec: '2026-07-28, Key Changes, minor 11',
  },
  {
    ...TO_OLD,
    feature: 'word that roots changed',
    answer: { message: /notifications\/roots\/list_changed/ },
    reason: 'the notification was removed: the server asks for the roots when it needs them',
    spec: '2026-07-28, Key Changes, major 5',
  },
  {
    ...TO_OLD,
    feature: 'structured output that is no object',
    answer: { message: /structuredContent/ },
    reason: 'structured content was an object; the text beside it says the same',
    spec: '2025-11-25, Tools, Structured Content; 2026-07-28, Key Changes, minor 10',
  },
]

export function refusalOf(combination: Combination, feature: string): Refusal | undefined {
  return REFUSALS.find(
    (refusal) =>
      refusal.feature === feature &&
      MEMBERS.every((member) => refusal[member] === undefined || refusal[member] === combination[member]),
  )
}

const MEMBERS = ['client', 'server', 'downstream', 'upstream'] as const
