import type { CallAuthority } from '../authority/index.js'
import type { FromServer } from '../connections/index.js'

/**
 * A tool's call as the origin of all that its server sends meanwhile, so that a question is judged by the authority of the
 * call that caused it.
 */
export class IssuedCall {
  readonly authority: CallAuthority
  /** Of whoever made the call. */
  readonly origin: unknown

  constructor(authority: CallAuthority, origin: unknown) {
    this.authority = authority
    this.origin = origin
    Object.freeze(this)
  }
}

/** What a server sent, with the origin that the caller gave, and the authority of the call where it is known. */
export function causeOf(message: FromServer): { readonly message: FromServer; readonly issued?: CallAuthority } {
  const { origin } = message
  if (!(origin instanceof IssuedCall)) return { message }
  return { message: { ...message, origin: origin.origin }, issued: origin.authority }
}
