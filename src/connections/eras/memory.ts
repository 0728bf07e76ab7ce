import type { Era } from '../../protocol/index.js'

/** What was found out about a server, and when (milliseconds since the epoch). */
export interface RememberedEra {
  readonly era: Era
  readonly protocolVersion: string
  readonly foundAt: number
}

/**
 * Which era each server speaks, beyond this process; handed down from the store. `identity` is the digest of how the
 * server is launched or reached: a changed command, argument, variable, header or URL is another entry.
 */
export interface EraMemory {
  get(identity: string): RememberedEra | undefined
  put(identity: string, serverKey: string, found: Omit<RememberedEra, 'foundAt'>): void
  forget(identity: string): void
}
