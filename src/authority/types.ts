import type { ApprovalMode } from '../config/index.js'
import type { ServerKey } from '../identity/index.js'
import type { ApprovalPolicy } from '../permissions/index.js'
import type { JsonObject } from '../protocol/index.js'

/** Who reviews what has to be approved: a person, or an automatic reviewer. */
export type ApprovalsReviewer = 'user' | 'auto_review'

/**
 * What a call is issued with (design, invariant 2), as one value: what decides about it, what its server is told and what
 * is recorded are all read from here. Made once, of what its step captured, and frozen: nothing that happens later changes
 * it, and whatever does not match it is refused.
 */
export interface CallAuthority {
  readonly key: ServerKey
  /** Where the server's process runs, or its HTTP requests start. */
  readonly executionEnvironment: string
  /**
   * Of the environment that owns the server, in its wire shape: its own object, unknown members included. Null: none was
   * handed over, and the runtime's own holds.
   */
  readonly profile: JsonObject | null
  /** Of the execution environment in this turn: absolute, in its style. Absent: it is not selected. */
  readonly cwd?: string
  /** The same; none where there is no `cwd`. */
  readonly workspaceRoots: readonly string[]
  /** Of the turn, else of the thread. Null: neither has one, and nothing is asked for that nobody has configured. */
  readonly policy: ApprovalPolicy | null
  /** The mode that holds for the tool: as configured, overlays applied. */
  readonly approval: ApprovalMode
  /** Who judges what would be asked on request. */
  readonly reviewer: ApprovalsReviewer
  /** The turn wants every call reviewed. */
  readonly strictReview: boolean
  /** Of the server's tools, as the call was bound in them. Null: they were only known from the cache. */
  readonly catalogRevision: number | null
  readonly threadId: string
  readonly turnId: string | null
  /** The model's own, where it has one. */
  readonly callId: string
}
