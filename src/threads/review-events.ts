import type { ReviewSettings } from '../authority/index.js'
import type { JsonObject } from '../protocol/index.js'
import type { ThreadEvent, ThreadOptions } from './types.js'

/** How the reviews of one thread go: its host hears of each. */
export function reviewSettings(
  { compatibility = false, reviewTimeoutMs: timeoutMs }: Pick<ThreadOptions, 'compatibility' | 'reviewTimeoutMs'>,
  tell: (event: ThreadEvent) => void,
): ReviewSettings {
  return Object.freeze({
    compatibility,
    ...(timeoutMs !== undefined && { timeoutMs }),
    report: (method: string, params: JsonObject) => tell({ type: 'review', method, params }),
  })
}
