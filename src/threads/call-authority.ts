import { randomUUID } from 'node:crypto'
import { type CallAuthority, executionCwd } from '../authority/index.js'
import type { PermissionAuthority } from '../catalog/index.js'
import type { ApprovalMode } from '../config/index.js'
import type { CapturedServer } from '../connections/index.js'
import { checkPolicy } from '../permissions/index.js'
import type { Profile } from './composition.js'
import type { SelectedPlace } from './selection.js'
import type { Turn } from './turn-meta.js'
import type { ThreadOptions, TurnApprovals } from './types.js'

/** What the calls of one server are issued with in a step, whichever tool they are of. Frozen. */
export type IssuedAuthority = Omit<CallAuthority, 'approval' | 'callId'>

/** How the calls of a step are approved. */
export type StepApprovals = Pick<CallAuthority, 'policy' | 'reviewer' | 'strictReview'>

/** What holds in a thread when a step is taken, or a call is made that belongs to none. */
export interface IssuingMoment {
  readonly threadId: string
  readonly turn: Turn | undefined
  readonly approvals: StepApprovals
  readonly places: readonly SelectedPlace[]
  /** Of the thread, on the host. */
  readonly threadCwd: string
}

type Server = Pick<CapturedServer, 'key' | 'config' | 'catalogRevision'>

/** Undefined where no profile governs the server: there is nothing that its calls could be issued with. */
export function issuedAuthority(
  { key, config, catalogRevision }: Server,
  judgedBy: PermissionAuthority<Profile>,
  { threadId, turn, approvals, places, threadCwd }: IssuingMoment,
): IssuedAuthority | undefined {
  if (judgedBy.kind === 'none') return undefined
  const executionEnvironment = config.environmentId
  const cwd = executionCwd(executionEnvironment, places, threadCwd)
  const place = places.find(({ id }) => id === executionEnvironment)
  return Object.freeze({
    key,
    executionEnvironment,
    profile: judgedBy.profile,
    ...(cwd !== undefined && { cwd }),
    workspaceRoots: Object.freeze(cwd === undefined ? [] : [...(place?.workspaceRoots ?? [cwd])]),
    ...approvals,
    catalogRevision: catalogRevision ?? null,
    threadId,
    turnId: turnIdOf(turn),
  })
}

/**
 * What the turn says, else the thread. Who reviews is for a thread without a reviewer always a person.
 *
 * @throws InvalidArgumentsError for a policy that is none
 */
export function stepApprovals(
  { approvalPolicy, reviewer }: Pick<ThreadOptions, 'approvalPolicy' | 'reviewer'>,
  turn: TurnApprovals = {},
): StepApprovals {
  checkPolicy(turn.policy, 'approvals.policy')
  return Object.freeze({
    policy: turn.policy ?? approvalPolicy ?? null,
    reviewer: reviewer === undefined ? 'user' : (turn.reviewer ?? 'auto_review'),
    strictReview: turn.strictReview ?? false,
  })
}

/** @param callId the model's own; absent: one of ours */
export function callAuthority(issued: IssuedAuthority, approval: ApprovalMode, callId?: string): CallAuthority {
  return Object.freeze({ ...issued, approval, callId: callId ?? randomUUID() })
}

function turnIdOf(turn: Turn | undefined): string | null {
  const id = turn?.metadata.turn_id
  return typeof id === 'string' ? id : null
}
