import { type AuditSettings, maskJsonText } from '../../config/index.js'
import { AuditNotWrittenError, type ReeveError } from '../../errors.js'
import type { JsonValue } from '../../protocol/index.js'
import { AuditedCall, type AuditedFacts, type PendingRecord } from './audited-call.js'
import { sha256 } from './digest.js'
import type { AuditRecord, AuditStore } from './record.js'

/** Milliseconds that a record waits for others at most. */
const BATCH_MS = 200
/** Records, and characters of their texts, at which it waits no longer. */
const BATCH_RECORDS = 500
const BATCH_CHARACTERS = 4 * 1024 * 1024
/** Milliseconds until it is tried again after records could not be written. */
const RETRY_MS = 5000
/** Records that are held when they can't be written; older ones are given up, and counted. */
const HELD_RECORDS = 10_000
/** Records after which what is kept is measured again. */
const MEASURED_EACH = 10_000
/** Characters of arguments or of a result that are kept whole; what is longer is kept by its digest. */
export const WHOLE_CHARACTERS = 1024 * 1024

const DAY = 24 * 60 * 60 * 1000
const MEGABYTE = 1024 * 1024
const KEEP_DAYS = 90
const MAX_MB = 256

export interface AuditLogOptions {
  readonly settings: AuditSettings
  /** A fault that stops nothing: records can't be written for now, or were given up. Once until it is well again. */
  readonly onwarning?: (warning: ReeveError) => void
  readonly now?: () => number
}

/**
 * Records calls. In mode `on` records are written in batches shortly after: what was handed over to `close` is not lost.
 * In mode `strict` a result is handed over only once its record is on disk, and nothing is called while that can't be.
 *
 * @example
 * ```ts
 * const result = await log.track(facts, async (call) => {
 *   call.decided('run', 'mode')
 *   call.sending()
 *   return send()
 * })
 * ```
 */
export class AuditLog {
  readonly #store: AuditStore
  #settings: AuditSettings
  readonly #onwarning: AuditLogOptions['onwarning']
  readonly #now: () => number
  #pending: PendingRecord[] = []
  /** Digested, and not written yet. */
  #ready: AuditRecord[] = []
  #characters = 0
  #timer: NodeJS.Timeout | undefined
  #sinceMeasured = MEASURED_EACH
  #bytes = 0
  #givenUp = 0
  #toldGivenUp = 0
  #isFailing = false

  constructor(store: AuditStore, { settings, onwarning, now }: AuditLogOptions) {
    this.#store = store
    this.#settings = settings
    this.#onwarning = onwarning
    this.#now = now ?? Date.now
  }

  /** False: calls are not recorded. */
  get isOn(): boolean {
    return this.#settings.mode !== 'off'
  }

  /** What holds for the calls that end from now on. */
  configure(settings: AuditSettings): void {
    this.#settings = settings
  }

  get #isStrict(): boolean {
    return this.#settings.mode === 'strict'
  }

  /** Records that wait to be written. */
  get waiting(): number {
    return this.#ready.length + this.#pending.length
  }

  /**
   * Makes a call and records it, however it ends.
   *
   * @throws AuditNotWrittenError in mode `strict`; and whatever the call throws
   */
  async track<Result extends JsonValue>(
    facts: AuditedFacts,
    make: (call: AuditedCall) => Promise<Result>,
  ): Promise<Result> {
    if (this.#isStrict) this.#prove()
    const call = new AuditedCall(facts)
    let result: Result
    try {
      result = await make(call)
    } catch (error) {
      this.#add(call.failed(error))
      throw error
    }
    this.#add(call.answered(result))
    return result
  }

  /** Writes what waits. Never throws: what can't be written is told, and kept for the next time. */
  flush(): void {
    this.#stopWaiting()
    try {
      this.#write('soon')
    } catch (error) {
      this.#warn(error)
    }
  }

  /** The last records: written for good. */
  close(): void {
    this.#stopWaiting()
    try {
      this.#write('now')
    } catch (error) {
      this.#warn(error)
    }
  }

  #add(record: PendingRecord): void {
    this.#pending.push(record)
    this.#characters += (record.argumentText?.length ?? 0) + (record.resultText?.length ?? 0)
    if (this.#isStrict) this.#writeNow(true)
    else if (!this.#isBatchFull) this.#waitForMore()
    else if (this.#isFailing) this.#digest()
    else this.flush()
  }

  get #isBatchFull(): boolean {
    return this.#pending.length >= BATCH_RECORDS || this.#characters >= BATCH_CHARACTERS
  }

  /** A disk that is full is tried again now and then, and not with each call. */
  #waitForMore(): void {
    this.#timer ??= setTimeout(() => this.flush(), this.#isFailing ? RETRY_MS : BATCH_MS)
  }

  /** Nothing is called that could not be recorded. */
  #prove(): void {
    if (!this.#store.isDurable) throw new AuditNotWrittenError('unsent', 'its state is kept in memory alone')
    if (this.waiting > 0) this.#writeNow(false)
  }

  #writeNow(isSent: boolean): void {
    try {
      this.#write('now')
    } catch (error) {
      throw new AuditNotWrittenError(isSent ? 'sent' : 'unsent', textOf(error), error)
    }
  }

  #write(durability: 'now' | 'soon'): void {
    this.#digest()
    const records = this.#ready
    if (records.length === 0) return
    this.#store.append(records, durability)
    this.#ready = []
    this.#isFailing = false
    this.#rotate(records)
  }

  /** What waits takes little room from here on. */
  #digest(): void {
    for (const record of this.#pending) this.#ready.push(this.#digested(record))
    this.#pending = []
    this.#characters = 0
    this.#giveUpOldest()
  }

  #digested({ argumentText, resultText, ...record }: PendingRecord): AuditRecord {
    const isWhole = this.#settings.arguments === 'whole'
    return Object.assign(record, {
      argumentBytes: argumentText === undefined ? null : Buffer.byteLength(argumentText),
      resultBytes: resultText === undefined ? null : Buffer.byteLength(resultText),
      argumentDigest: argumentText === undefined ? null : sha256(argumentText),
      resultDigest: resultText === undefined ? null : sha256(resultText),
      arguments: isWhole ? whole(argumentText) : null,
      result: isWhole ? whole(resultText) : null,
    })
  }

  /** A record that is there is worth more than the room of an old one: a fault here fails no call. */
  #rotate(written: readonly AuditRecord[]): void {
    const maxBytes = (this.#settings.maxMb ?? MAX_MB) * MEGABYTE
    this.#sinceMeasured += written.length
    this.#bytes += written.reduce((sum, one) => sum + (one.arguments?.length ?? 0) + (one.result?.length ?? 0) + 512, 0)
    if (this.#sinceMeasured < MEASURED_EACH && this.#bytes <= maxBytes) return
    try {
      this.#store.prune({ before: this.#now() - (this.#settings.keepDays ?? KEEP_DAYS) * DAY, maxBytes })
      this.#bytes = this.#store.size()
      this.#sinceMeasured = 0
    } catch (error) {
      this.#onwarning?.(new AuditNotWrittenError('sent', `old records can't be removed: ${textOf(error)}`, error))
    }
  }

  #warn(error: unknown): void {
    const isNews = !this.#isFailing || this.#givenUp !== this.#toldGivenUp
    this.#isFailing = true
    this.#timer ??= setTimeout(() => this.flush(), RETRY_MS).unref()
    if (!isNews) return
    this.#toldGivenUp = this.#givenUp
    const lost = this.#givenUp === 0 ? '' : `; ${this.#givenUp} records were given up`
    this.#onwarning?.(new AuditNotWrittenError('sent', textOf(error) + lost, error))
  }

  #giveUpOldest(): void {
    const over = this.#ready.length - HELD_RECORDS
    if (over <= 0) return
    this.#givenUp += over
    this.#ready.splice(0, over)
  }

  #stopWaiting(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}

function whole(text: string | undefined): string | null {
  return text === undefined || text.length > WHOLE_CHARACTERS ? null : maskJsonText(text)
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
