import { type OwningAuth, requireOwning } from '../owning-auth.js'

/** What of a thread, beside its auth, decides what the backend is asked. */
export interface RuntimeContext {
  readonly threadId: string
  readonly baseUrl: string
  readonly productSku: string
  readonly originator: string | undefined
  /** Of this program, as HTTP has it. */
  readonly userAgent: string
}

/**
 * The thread that a request to the backend is made for. Discovery, connector metadata and trusted access are given it by
 * whoever owns the call; there is no other to fall back to (reference: auth, 3, "Thread ownership").
 */
export interface OwningThread {
  readonly auth: OwningAuth
  readonly runtimeContext: RuntimeContext
}

/** @throws FirstPartyAuthError `no_owning_context` when the thread has no auth of its own */
export function owningThread(auth: OwningAuth | undefined, runtimeContext: RuntimeContext, work: string): OwningThread {
  return Object.freeze({ auth: requireOwning(auth, work), runtimeContext })
}
