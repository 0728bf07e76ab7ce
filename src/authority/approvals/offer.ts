import type { ApprovalMode } from '../../config/index.js'
import { type ApprovalSubject, canBeRemembered } from './memory.js'

/** For how long whoever is asked may allow a call, beside this once. */
export type PersistOffer = 'session' | 'always'

export interface OfferFacts {
  readonly subject: ApprovalSubject
  readonly mode: ApprovalMode
  /** There is a memory that outlives the conversation. */
  readonly durable: boolean
  /** As the reference does: nothing of a server that an environment contributed outlives the conversation. */
  readonly compatibility: boolean
}

/**
 * What can be offered (reference: authority, 4): nothing in the modes `prompt` and `writes`, which ask every time. Servers
 * of environments are remembered for good too, since what is remembered holds their environment, command and definition
 * (known-quirks, 37).
 */
export function persistOffers({ subject, mode, durable, compatibility }: OfferFacts): readonly PersistOffer[] {
  if (mode !== 'auto' || !canBeRemembered(subject)) return []
  const always = durable && (subject.key.environment === null || !compatibility)
  return always ? ['session', 'always'] : ['session']
}

/** What an answer comes to: never more than what was offered. */
export function granted(asked: PersistOffer | null, offered: readonly PersistOffer[]): PersistOffer | null {
  if (asked === null || offered.includes(asked)) return asked
  return offered.includes('session') ? 'session' : null
}
