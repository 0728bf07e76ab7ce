import { abortError } from './abort.js'
import type { Timers } from './timers.js'

/** Released once; a second time does nothing. */
export interface ReadLease {
  release(): void
}

interface Waiting {
  readonly kind: 'read' | 'write'
  grant(): void
}

/**
 * A fair read/write lock: calls read, a publication writes. Whoever comes first is served first, so that neither a
 * stream of calls starves a publication, nor the other way round.
 *
 * A publication waits for the running calls, but not for ever: a call may run for minutes, and may even wait for another
 * call of the same server, which queues behind the publication. After its patience it goes ahead. That takes nothing
 * from the running calls: they were checked when they got their lease, and what they captured does not change.
 */
export class CatalogLock {
  readonly #timers: Timers
  readonly #queue: Waiting[] = []
  #readers = 0

  constructor(timers: Timers) {
    this.#timers = timers
  }

  /** At once when nobody waits; else in turn, or rejects when the signal fires first. */
  async read(signal?: AbortSignal): Promise<ReadLease> {
    if (signal?.aborted) throw abortError(signal)
    if (this.#queue.length === 0) return this.#lease()
    return new Promise<ReadLease>((resolve, reject) => {
      const waiting: Waiting = {
        kind: 'read',
        grant: () => {
          signal?.removeEventListener('abort', onAbort)
          resolve(this.#lease())
        },
      }
      const onAbort = () => {
        this.#leave(waiting)
        this.#advance()
        if (signal !== undefined) reject(abortError(signal))
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#queue.push(waiting)
    })
  }

  /** Runs `publish` alone, or beside the calls that still run after `patienceMs`. Resolves when it ran. */
  write(publish: () => void, patienceMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const run = () => {
        try {
          resolve(publish())
        } catch (error) {
          reject(error)
        }
      }
      if (this.#readers === 0 && this.#queue.length === 0) return run()
      const waiting: Waiting = {
        kind: 'write',
        grant: () => {
          patience.cancel()
          run()
        },
      }
      const patience = this.#timers.after(patienceMs, () => {
        this.#leave(waiting)
        run()
        this.#advance()
      })
      this.#queue.push(waiting)
    })
  }

  #lease(): ReadLease {
    this.#readers += 1
    let held = true
    return {
      release: () => {
        if (!held) return
        held = false
        this.#readers -= 1
        this.#advance()
      },
    }
  }

  #leave(waiting: Waiting): void {
    const index = this.#queue.indexOf(waiting)
    if (index >= 0) this.#queue.splice(index, 1)
  }

  #advance(): void {
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      if (next.kind === 'write' && this.#readers > 0) return
      this.#queue.shift()
      next.grant()
    }
  }
}
