import type { Sender } from './turns.js'

/** Milliseconds that a request which was given up counts as under way, for a server that says nothing more. */
const LINGERING = 10_000

const NOBODY: readonly Sender[] = Object.freeze([])

/** The requests that were given up, as long as their server was not heard of since. */
export class Lingering {
  readonly #quiet: () => Promise<void>
  readonly #now: () => number
  /** Since when, oldest first. */
  readonly #since = new Map<Sender, number>()
  #settling = false

  /** `quiet` resolves when the server has read what it was sent by now. `now` in milliseconds. */
  constructor(quiet: () => Promise<void>, now: () => number) {
    this.#quiet = quiet
    this.#now = now
  }

  add(sender: Sender): void {
    this.#forget()
    this.#since.set(sender, this.#now())
  }

  all(): readonly Sender[] {
    if (this.#since.size === 0) return NOBODY
    this.#forget()
    return [...this.#since.keys()]
  }

  /** Finds out whether the server is past them, and then calls `onSettled`. */
  settle(onSettled: () => void): void {
    if (this.#since.size === 0 || this.#settling) return
    const before = [...this.#since.keys()]
    this.#settling = true
    void this.#quiet().then(() => {
      this.#settling = false
      for (const sender of before) this.#since.delete(sender)
      onSettled()
    })
  }

  #forget(): void {
    for (const [sender, since] of this.#since) {
      if (this.#now() - since < LINGERING) return
      this.#since.delete(sender)
    }
  }
}
