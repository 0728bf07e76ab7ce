import type { ServerKey } from '../identity/index.js'
import type { ApprovalPolicy, PermissionProfile } from '../permissions/index.js'
import type { JsonObject } from '../protocol/index.js'

/**
 * What a call is issued with (design, invariant 2). Made once, when its step is, and frozen: nothing that happens later
 * changes it, and whatever does not match it is refused.
 */
export interface CallAuthority {
  readonly key: ServerKey
  /** Where the server's process runs, or its HTTP requests start. */
  readonly executionEnvironment: string
  /** Of the environment that owns the server; its own object, unknown members included. */
  readonly profile: JsonObject
  /** The same, read. */
  readonly permissions: PermissionProfile
  /** Of the execution environment in this turn: absolute, in its style. Absent: it is not selected. */
  readonly cwd?: string
  readonly policy: ApprovalPolicy
  /** Identity of the catalog that the call was bound in. */
  readonly catalogRevision: string
  readonly threadId: string
  readonly turnId: string | null
  readonly callId: string
}
