/**
 * One permit, handed out in the order of asking. It is not re-entrant: who holds it calls the variants that say so in
 * their names (`…Held`), so that nobody waits for itself.
 */
export class Permit {
  #last: Promise<void> = Promise.resolve()

  /** Runs `work` alone. A failure of `work` is the caller's and does not keep the next one waiting. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work)
    this.#last = mine.then(
      () => undefined,
      () => undefined,
    )
    return mine
  }

  /** Resolves when nobody has it or waits for it any more. Never rejects. */
  async idle(): Promise<void> {
    for (let last: Promise<void> | undefined; last !== this.#last; ) {
      last = this.#last
      await last
    }
  }
}
