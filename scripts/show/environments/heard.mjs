const PATIENCE_MS = 60_000

/** What a thread has told, and how to wait for more of it. */
export class Heard {
  #events = []
  #waiting = new Set()

  take(event) {
    this.#events.push(event)
    for (const look of this.#waiting) look()
  }

  /** The place in the story from which `until` looks. */
  get now() {
    return this.#events.length
  }

  /** Resolves with the first event after `since` that fits; rejects after a minute. */
  until(what, fits, since) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(look)
        reject(new Error(`not within a minute: ${what}`))
      }, PATIENCE_MS)
      const look = () => {
        const event = this.#events.slice(since).find(fits)
        if (event === undefined) return
        clearTimeout(timer)
        this.#waiting.delete(look)
        resolve(event)
      }
      this.#waiting.add(look)
      look()
    })
  }
}
