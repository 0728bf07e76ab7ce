import type { AuditRecord } from './record.js'

/** Records that are held when they can't be written; older ones are given up, and counted. */
const MOST_RECORDS = 10_000
/** Characters of arguments and results that are held with them; of older ones the digests alone are. */
const MOST_CHARACTERS = 64 * 1024 * 1024

/** Records that are to be written, oldest first, in bounded room. */
export class HeldRecords {
  #records: AuditRecord[] = []
  /** Of the texts that are kept whole. */
  #characters = 0
  #givenUp = 0

  get all(): readonly AuditRecord[] {
    return this.#records
  }

  get count(): number {
    return this.#records.length
  }

  get characters(): number {
    return this.#characters
  }

  /** Records that were given up so far. */
  get givenUp(): number {
    return this.#givenUp
  }

  add(record: AuditRecord): void {
    this.#records.push(record)
    this.#characters += charactersOf(record)
    if (this.#characters > MOST_CHARACTERS) this.#dropTexts()
    // Twice as many, so that the front isn't cut off for each.
    if (this.#records.length >= 2 * MOST_RECORDS) this.giveUp()
  }

  /** Leaves no more than may be held. */
  giveUp(): void {
    const over = this.#records.length - MOST_RECORDS
    if (over <= 0) return
    this.#givenUp += over
    for (const record of this.#records.splice(0, over)) this.#characters -= charactersOf(record)
  }

  clear(): void {
    this.#records = []
    this.#characters = 0
  }

  #dropTexts(): void {
    for (const [index, record] of this.#records.entries()) {
      if (this.#characters <= MOST_CHARACTERS / 2) return
      this.#characters -= charactersOf(record)
      this.#records[index] = { ...record, arguments: null, result: null }
    }
  }
}

function charactersOf({ arguments: args, result }: AuditRecord): number {
  return (args === null ? 0 : args.length) + (result === null ? 0 : result.length)
}
