/** The token that somebody came to us with. It is shown to whoever issued it, and to nobody else. */
export interface SubjectToken {
  readonly token: string
  /** Who issued it. */
  readonly issuer: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

/** Principals whose tokens are kept. */
const KEPT = 4096

/**
 * The newest token of each principal that came with one, in memory alone. A principal's clients may have several; the one
 * that lasts longest counts.
 */
export class SubjectTokens {
  readonly #tokens = new Map<string, SubjectToken>()

  put(principal: string, token: SubjectToken): void {
    const known = this.#tokens.get(principal)
    if (known !== undefined && known.expiresAt > token.expiresAt) return
    // The principal that was here last stays longest.
    this.#tokens.delete(principal)
    this.#tokens.set(principal, Object.freeze({ ...token }))
    if (this.#tokens.size <= KEPT) return
    const [oldest] = this.#tokens.keys()
    if (oldest !== undefined) this.#tokens.delete(oldest)
  }

  /** Undefined where none came, or none that is still good. */
  get(principal: string, now: number): SubjectToken | undefined {
    const known = this.#tokens.get(principal)
    if (known === undefined || now < known.expiresAt) return known
    this.#tokens.delete(principal)
    return undefined
  }
}
