import type { Timers } from '../timers.js'

/** Counts changes, so that one who looks and then waits misses none in between. */
export class Changes {
  #count = 0
  #next: { readonly come: Promise<void>; readonly tell: () => void } | undefined

  get count(): number {
    return this.#count
  }

  tell(): void {
    this.#count += 1
    this.#next?.tell()
    this.#next = undefined
  }

  /** Resolves when there was a change since the count was `seen`. */
  since(seen: number): Promise<void> {
    if (seen !== this.#count) return Promise.resolve()
    if (this.#next === undefined) {
      let tell = () => {}
      const come = new Promise<void>((resolve) => {
        tell = resolve
      })
      this.#next = { come, tell }
    }
    return this.#next.come
  }

  /** The same, or after `ms` without a change. */
  async sinceOrAfter(seen: number, timers: Timers, ms: number): Promise<void> {
    let cancel = () => {}
    const passed = new Promise<void>((resolve) => {
      const timer = timers.after(ms, resolve, { background: true })
      cancel = () => timer.cancel()
    })
    await Promise.race([this.since(seen), passed])
    cancel()
  }
}
