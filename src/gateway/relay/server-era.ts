import { type ServerKey, sameKey } from '../../identity/index.js'
import type { Era } from '../../protocol/index.js'
import type { Thread } from '../../threads/index.js'

/** Which era a server speaks that has just answered. One that is gone meanwhile counts as legacy: nothing is taken off. */
export function serverEra(thread: Thread, key: ServerKey): Era {
  return thread.servers().find((row) => sameKey(row.key, key))?.era ?? 'legacy'
}
