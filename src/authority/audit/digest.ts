import { hash } from 'node:crypto'
import type { ServerKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import type { CallAuthority } from '../types.js'

export function sha256(text: string): string {
  return `sha256:${hash('sha256', text)}`
}

/** As much of a call's authority as is known where it is recorded. */
export type DigestedAuthority = {
  readonly key: ServerKey
  readonly executionEnvironment: string
  /** In its wire shape; null: none was handed over. */
  readonly profile: JsonObject | null
} & Partial<Pick<CallAuthority, 'cwd' | 'policy' | 'catalogRevision'>>

/** Two calls have the same one when they may do the same. */
export function authorityDigest(authority: DigestedAuthority): string {
  const { key, executionEnvironment, profile, cwd, policy, catalogRevision } = authority
  return sha256(
    JSON.stringify([
      key.name,
      key.environment,
      executionEnvironment,
      profile,
      cwd ?? null,
      policy ?? null,
      catalogRevision ?? null,
    ]),
  )
}
