import type { ConfigProblem } from '../config/index.js'
import type { ThreadOptions } from '../threads/index.js'

export interface SessionOptions
  extends Pick<ThreadOptions, 'only' | 'permissions' | 'onApproval' | 'onEvent' | 'enforceRequired'> {
  /** Servers that are started for this alone, whatever the broker runs. */
  readonly fresh?: boolean
}

/**
 * A verb's thread: names as clients of the gateway see them, and tools that are meant for apps too. It connects to no
 * environment that it does not need.
 */
export function threadOptions({ fresh: _, ...options }: SessionOptions): ThreadOptions {
  return { naming: 'readable', appTools: true, warm: false, ...options }
}

/** Part of the configuration could not be used; the rest is there. */
export function isIncomplete(problems: readonly ConfigProblem[]): boolean {
  return problems.some(({ severity }) => severity === 'error')
}
