import { createHash } from 'node:crypto'
import { type AuthContext, type AuthIdentity, authIdentity } from '../auth/index.js'
import type { AnalyticsPlace } from './settings.js'

/** As whom an event is told, and what its row in the queue says of that. */
export interface AnalyticsBinding {
  readonly identity: AuthIdentity
  /** Lower-case hex: account, user, kind of source, mode and endpoint; no token and nothing that a refresh changes. */
  readonly digest: string
}

/** Undefined: nobody is signed in, so there is nobody to tell it as. */
export function bindingOf({ manager, mode }: AuthContext, { url }: AnalyticsPlace): AnalyticsBinding | undefined {
  const snapshot = manager.current()
  if (snapshot.state !== 'signed_in') return undefined
  const identity = authIdentity(mode, snapshot)
  const parts = [identity.mode, identity.source, identity.account, url]
  return { identity, digest: createHash('sha256').update(JSON.stringify(parts)).digest('hex') }
}
