import { AuthContext, type AuthHttp, type AuthRuntime, BackendClient, type RuntimeAuthMode } from '../auth/index.js'
import { FirstPartyAuthError } from '../errors.js'
import type { ThreadOptions } from './types.js'

/** The process's parts of first-party auth; who is signed in is none of them. */
export interface FirstPartyParts {
  readonly runtime: AuthRuntime
  readonly http: AuthHttp
}

/**
 * First-party auth of the thread that a piece of work is done for: its own manager and its mode, fixed when it began
 * (reference: auth, 3, "Thread ownership"). There is no other one to fall back to.
 */
export interface OwningAuth {
  readonly context: AuthContext
  readonly http: AuthHttp
  /** The thread's client of the backend; always the same. */
  clientFor(): BackendClient
}

/** What a thread of these options owns; undefined when it was given no manager. */
export function owningAuthOf(
  { runtime, http }: FirstPartyParts,
  { auth, runtimeAuthMode }: ThreadOptions,
  configured: RuntimeAuthMode,
): OwningAuth | undefined {
  if (auth === undefined) return undefined
  const context = new AuthContext(runtime, auth, runtimeAuthMode ?? configured)
  let client: BackendClient | undefined
  return Object.freeze({
    context,
    http,
    clientFor: () => {
      client ??= new BackendClient(context, http)
      return client
    },
  })
}

/**
 * The auth that this work has to be done with.
 *
 * @param work what is done, for the message: `app discovery`
 * @throws FirstPartyAuthError `no_owning_context` when the thread has none
 */
export function requireOwning(auth: OwningAuth | undefined, work: string): OwningAuth {
  if (auth !== undefined) return auth
  throw new FirstPartyAuthError('no_owning_context', `${work} needs the first-party auth of its thread, which has none`)
}
