import type { ServerKey } from '../../identity/index.js'
import type { PermissionProfile } from '../../permissions/index.js'
import type { JsonObject } from '../../protocol/index.js'

/** What a reviewer is to judge (reference: authority, 5). */
export interface ReviewRequest {
  readonly reviewId: string
  /** A call id, or `mcp_elicitation:<server>:<request id>`. */
  readonly targetItemId: string
  readonly threadId: string
  readonly turnId: string | null
  readonly key: ServerKey
  /** What is planned, as JSON with its members in order. Untrusted where it holds what a server or model wrote. */
  readonly action: JsonObject
  /** Descriptions of tool and connector: text of others, to be read with distrust. */
  readonly untrusted: readonly string[]
  /** The environment whose permissions apply: the server's own, else the primary one; null where there is none. */
  readonly contextEnvironment: string | null
  /** Of that environment. */
  readonly permissions: PermissionProfile
  /** Must be judged before anything else goes on (`codex_sensitive_action`). */
  readonly synchronous: boolean
}

export type RiskLevel = 'low' | 'medium' | 'high' | 'critical'
export type UserAuthorization = 'unknown' | 'low' | 'medium' | 'high'

export interface Verdict {
  readonly outcome: 'allow' | 'deny'
  readonly riskLevel: RiskLevel | null
  readonly userAuthorization: UserAuthorization | null
  readonly rationale: string | null
}

/**
 * Judges in a person's place: one method, whose answer is read by {@link readVerdict}. It should work read-only and ask
 * nobody. A throw fails the request that it was asked for.
 */
export interface Reviewer {
  review(request: ReviewRequest, signal: AbortSignal): Promise<unknown>
}

const RISKS = ['low', 'medium', 'high', 'critical'] as const
const AUTHORIZATIONS = ['unknown', 'low', 'medium', 'high'] as const
const OUTCOMES = ['allow', 'deny'] as const

/** The JSON Schema of a reviewer's answer. */
export function reviewSchema(): JsonObject {
  return {
    type: 'object',
    properties: {
      risk_level: { type: 'string', enum: [...RISKS] },
      user_authorization: { type: 'string', enum: [...AUTHORIZATIONS] },
      outcome: { type: 'string', enum: [...OUTCOMES] },
      rationale: { type: 'string' },
    },
    required: ['outcome'],
    additionalProperties: false,
  }
}

/** A reviewer's answer; `undefined` for anything that does not say `allow` or `deny` in the schema's terms. */
export function readVerdict(value: unknown): Verdict | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { outcome, risk_level, user_authorization, rationale } = value as Partial<Record<string, unknown>>
  const read = oneOf(OUTCOMES, outcome)
  return read === undefined
    ? undefined
    : Object.freeze({
        outcome: read,
        riskLevel: oneOf(RISKS, risk_level) ?? null,
        userAuthorization: oneOf(AUTHORIZATIONS, user_authorization) ?? null,
        rationale: typeof rationale === 'string' ? rationale : null,
      })
}

function oneOf<T extends string>(allowed: readonly T[], value: unknown): T | undefined {
  return allowed.find((one) => one === value)
}
