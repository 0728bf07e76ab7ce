import { underManagedMode } from '../authority/index.js'
import type { ApprovalMode, ServerConfig } from '../config/index.js'

/** What requirements demand of calls of one tool. */
export interface ManagedRule {
  /** Absent: they say nothing of it. */
  readonly mode?: ApprovalMode
  readonly strictReview: boolean
  /** The files that demand something, for people. */
  readonly sources: readonly string[]
}

/** All files together: what the strictest of them says (reference: authority, 1). */
export function managedRule({ managed = [] }: Pick<ServerConfig, 'managed'>, tool: string): ManagedRule {
  let mode: ApprovalMode | undefined
  let strictReview = false
  const sources: string[] = []
  for (const { source, strictReview: strict, defaultMode, tools } of managed) {
    const own = (Object.hasOwn(tools, tool) ? tools[tool] : undefined) ?? defaultMode
    if (own !== undefined) mode = underManagedMode(mode ?? 'approve', own)
    strictReview ||= strict
    if (strict || (own !== undefined && own !== 'approve')) sources.push(source)
  }
  return { ...(mode && { mode }), strictReview, sources }
}

/** Whether every call of the tool is to be asked about: then nothing that was allowed beforehand counts. */
export function asksEachTime({ mode, strictReview }: Partial<Pick<ManagedRule, 'mode' | 'strictReview'>>): boolean {
  return strictReview === true || mode === 'prompt' || mode === 'writes'
}
