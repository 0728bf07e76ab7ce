/** Everything that is being closed in the background, so that a shutdown can wait for it. */
export class Closings {
  readonly #open = new Set<Promise<unknown>>()
  readonly #onError: (error: unknown) => void

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  add(work: Promise<unknown>): void {
    const settled = work.catch(this.#onError).finally(() => this.#open.delete(settled))
    this.#open.add(settled)
  }

  /** Resolves when nothing is left, also of what is added meanwhile. */
  async all(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open)
  }
}
