import type { Clock } from '../clock.js'
import type { Credential } from '../sources/credential.js'
import type { CredentialSource } from '../sources/credential-source.js'

/** How long all sessions together may take to end before the authority is told, milliseconds. */
const ENDING_MS = 5000

/** What a logout does besides forgetting. Nothing here can keep it from happening. */
export class Leaving {
  readonly #clock: Clock
  readonly #report: (problem: unknown) => void
  readonly #ends = new Set<(limit: AbortSignal) => Promise<void>>()

  constructor(clock: Clock, report: (problem: unknown) => void) {
    this.#clock = clock
    this.#report = report
  }

  add(end: (limit: AbortSignal) => Promise<void>): () => void {
    this.#ends.add(end)
    return () => this.#ends.delete(end)
  }

  /** Resolves when every session ended, or the limit passed; a session that did not end says so to its own log. */
  async endSessions(): Promise<void> {
    if (this.#ends.size === 0) return
    const limit = new AbortController()
    let passed: () => void = () => undefined
    const over = new Promise<void>((resolve) => {
      passed = resolve
    })
    const cancel = this.#clock.after(ENDING_MS, () => {
      limit.abort()
      passed()
    })
    const all = [...this.#ends].map((end) => end(limit.signal).catch(this.#report))
    await Promise.race([Promise.all(all), over])
    cancel()
  }

  async revoke(source: CredentialSource, credential: Credential): Promise<void> {
    await source.revoke?.(credential).catch(this.#report)
  }
}
