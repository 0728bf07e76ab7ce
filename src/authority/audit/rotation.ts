import type { AuditSettings } from '../../config/index.js'
import type { AuditRecord, AuditStore } from './record.js'

/** Records after which what is kept is measured again: other processes write there, too. */
const MEASURED_EACH = 10_000
/** Bytes that a record takes at most, its texts left aside. */
const RECORD_BYTES = 512

const DAY = 24 * 60 * 60 * 1000
const MEGABYTE = 1024 * 1024
const KEEP_DAYS = 90
const MAX_MB = 256

/** Removes what is too old or too much, now and then. */
export class Rotation {
  readonly #store: Pick<AuditStore, 'size' | 'prune'>
  readonly #now: () => number
  #sinceMeasured = MEASURED_EACH
  #bytes = 0

  constructor(store: Pick<AuditStore, 'size' | 'prune'>, now: () => number) {
    this.#store = store
    this.#now = now
  }

  /** @throws ReeveError `state_not_written`; it is tried again with the next records */
  written(records: readonly AuditRecord[], { keepDays = KEEP_DAYS, maxMb = MAX_MB }: AuditSettings): void {
    const maxBytes = maxMb * MEGABYTE
    this.#sinceMeasured += records.length
    for (const record of records)
      this.#bytes += (record.arguments?.length ?? 0) + (record.result?.length ?? 0) + RECORD_BYTES
    if (this.#sinceMeasured < MEASURED_EACH && this.#bytes <= maxBytes) return
    this.#store.prune({ before: this.#now() - keepDays * DAY, maxBytes })
    this.#bytes = this.#store.size()
    this.#sinceMeasured = 0
  }
}
