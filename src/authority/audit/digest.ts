import { hash } from 'node:crypto'
import type { CallAuthority } from '../types.js'

export function sha256(text: string): string {
  return `sha256:${hash('sha256', text)}`
}

/** A call's authority without what tells one call from another. */
export type DigestedAuthority = Omit<CallAuthority, 'threadId' | 'turnId' | 'callId'>

/** Two calls have the same one when they may do the same, and are decided about in the same way. */
export function authorityDigest(authority: DigestedAuthority): string {
  const { key, executionEnvironment, profile, cwd, workspaceRoots } = authority
  const { policy, approval, reviewer, strictReview, catalogRevision } = authority
  return sha256(
    JSON.stringify([
      [key.name, key.environment, executionEnvironment],
      [profile, cwd ?? null, workspaceRoots],
      [policy, approval, reviewer, strictReview],
      catalogRevision,
    ]),
  )
}
