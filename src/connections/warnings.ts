import { ProtocolViolationError, ReeveError } from '../errors.js'
import type { ServerKey } from '../identity/index.js'

/** Different warnings of one connection that are passed on. */
const KEPT = 100

/** Passes each warning of a server on once, and not without end: some servers break a rule with every message. */
export class Warnings {
  readonly #key: ServerKey
  readonly #pass: (warning: ReeveError) => void
  readonly #seen = new Set<string>()

  constructor(key: ServerKey, pass: (warning: ReeveError) => void) {
    this.#key = key
    this.#pass = pass
  }

  add(fault: unknown): void {
    const warning = this.#named(fault)
    const text = `${warning.code} ${warning.message}`
    if (this.#seen.size > KEPT || this.#seen.has(text)) return
    this.#seen.add(text)
    if (this.#seen.size <= KEPT) this.#pass(warning)
    else this.#pass(this.#named(new Error(`more than ${KEPT} different warnings; the rest is left out`)))
  }

  #named(fault: unknown): ReeveError {
    if (fault instanceof ReeveError && fault.key !== undefined) return fault
    const message = `MCP server '${this.#key.name}': ${fault instanceof Error ? fault.message : String(fault)}`
    const facts = { key: this.#key, cause: fault }
    if (!(fault instanceof ReeveError)) return new ProtocolViolationError(message, facts)
    return new ReeveError(fault.code, message, {
      ...facts,
      ...(fault.place !== undefined && { place: fault.place }),
      ...(fault.data && { data: fault.data }),
    })
  }
}
