/** Counts what is going on, so that something can wait for it to be over. */
export class Activity {
  readonly #waiters: (() => void)[] = []
  #running = 0

  /** Returns what ends it; a second time does nothing. */
  begin(): () => void {
    this.#running += 1
    let over = false
    return () => {
      if (over) return
      over = true
      this.#running -= 1
      if (this.#running === 0) for (const resolve of this.#waiters.splice(0)) resolve()
    }
  }

  /** Resolves when nothing runs, at once if so already. */
  idle(): Promise<void> {
    return this.#running === 0 ? Promise.resolve() : new Promise((resolve) => this.#waiters.push(resolve))
  }
}
