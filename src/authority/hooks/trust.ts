import { createHash } from 'node:crypto'
import type { HookEntry, HookState } from '../../config/index.js'
import type { HookTrust } from './types.js'

/** `sha256:…` of everything that decides what a hook does and when: any change of it is another hook. */
export function hookHash({ event, matcher, server, environment, handler }: HookEntry): string {
  const what = JSON.stringify([event, matcher ?? null, server ?? null, environment ?? null, handler])
  return `sha256:${createHash('sha256').update(what).digest('hex')}`
}

/**
 * Whether a hook of a file may run (reference: authority, 7.1). The user's own file is trusted as it stands, unless a hash
 * is noted for the hook; hooks of a project, or of a file that was named by hand, need the hash.
 */
export function trustOf({ origin, handler }: HookEntry, hash: string, state: HookState | undefined): HookTrust {
  // What a broken hook of the user's own was trusted as, nobody can tell: it stands in for that.
  if (handler.type === 'broken' && origin.layer === 'user') return 'trusted'
  if (state?.trustedHash !== undefined) return state.trustedHash === hash ? 'trusted' : 'modified'
  return origin.layer === 'user' ? 'trusted' : 'untrusted'
}
