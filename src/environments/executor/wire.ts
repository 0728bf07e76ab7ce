import type { ReeveError } from '../../errors.js'

/** One connection that carries whole texts. `onmessage` is set before the first request. */
export interface Wire {
  onmessage: (text: string) => void
  /** Resolves once, with the reason; undefined when the other side just ended it. */
  readonly closed: Promise<ReeveError | undefined>
  /** Resolves when the text is on its way; rejects when it certainly is not. */
  send(text: string): Promise<void>
  /** Stops taking bytes in, so that the other side has to wait. False where that is not possible. */
  pause(): boolean
  resume(): void
  /** Ends it at once, without a word. Idempotent. */
  drop(): void
  /** Resolves when nothing of it is left. */
  close(): Promise<void>
}

/** How an executor is reached. */
export interface Connector {
  /** For error texts: a URL without query or credentials, or a program. */
  readonly place: string
  /** A lost connection can be taken up again. Not so where the executor ends with it. */
  readonly resumable: boolean
  /** What is sent crosses a network in the clear. */
  readonly isExposed?: boolean
  /** Bounded. Raises `EnvironmentError`, `CancelledError`, `LimitExceededError`. `largest` is in bytes. */
  open(options: { readonly largest: number; readonly signal?: AbortSignal }): Promise<Wire>
}

/** `data.reason` of an `EnvironmentError` where nobody listens: the machine is there, and the executor is not. */
export const REFUSED = 'refused'
