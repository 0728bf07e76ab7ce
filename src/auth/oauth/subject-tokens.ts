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
 * that lasts longest counts, unless its issuer takes it no longer.
 */
export class SubjectTokens {
  readonly #tokens = new Map<string, SubjectToken>()
  /** Of those that are kept: refused by their issuer, so that any other one is better. */
  readonly #refused = new WeakSet<SubjectToken>()

  put(principal: string, token: SubjectToken): void {
    const known = this.#tokens.get(principal)
    if (known !== undefined && !this.#isBetter(token, known)) return
    // The principal that was here last stays longest.
    this.#tokens.delete(principal)
    this.#tokens.set(principal, Object.freeze({ ...token }))
    if (this.#tokens.size <= KEPT) return
    const [oldest] = this.#tokens.keys()
    if (oldest !== undefined) this.#tokens.delete(oldest)
  }

  /** The issuer does not take this token, however long it says that it lasts. */
  refuse(principal: string, token: string): void {
    const known = this.#tokens.get(principal)
    if (known?.token === token) this.#refused.add(known)
  }

  /** Undefined where none came, or none that is still good. */
  get(principal: string, now: number): SubjectToken | undefined {
    const known = this.#tokens.get(principal)
    if (known === undefined || now < known.expiresAt) return known
    this.#tokens.delete(principal)
    return undefined
  }

  #isBetter(token: SubjectToken, known: SubjectToken): boolean {
    return this.#refused.has(known) ? token.token !== known.token : token.expiresAt >= known.expiresAt
  }
}
