import type { AuditSettings } from '../../config/index.js'
import { AuditNotWrittenError, type ReeveError } from '../../errors.js'
import type { JsonValue } from '../../protocol/index.js'
import { AuditedCall, type AuditedFacts } from './audited-call.js'
import { HeldRecords } from './held-records.js'
import { digested, type PendingRecord } from './pending-record.js'
import type { AuditStore } from './record.js'
import { Rotation } from './rotation.js'
import { WriteGroup } from './write-group.js'

/** Milliseconds that a record waits for others at most. */
const BATCH_MS = 200
/** Records, and characters of their texts, at which it waits no longer. */
const BATCH_RECORDS = 500
const BATCH_CHARACTERS = 4 * 1024 * 1024
/** Milliseconds until it is tried again after records could not be written. */
const RETRY_MS = 5000

export interface AuditLogOptions {
  readonly settings: AuditSettings
  /** A fault that stops nothing: records can't be written for now, or were given up. Once until it is well again. */
  readonly onwarning?: (warning: ReeveError) => void
  readonly now?: () => number
}

type Durability = 'now' | 'soon'

/**
 * Records calls. In mode `on` records are digested once the result is on its way, and written in batches shortly after:
 * what was handed over to `close` is not lost. In mode `strict` a result is handed over only once its record is on disk,
 * and nothing is called while that can't be; results of one turn of the event loop wait for the disk together.
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
  readonly #rotation: Rotation
  /** Not digested yet. */
  #pending: PendingRecord[] = []
  #pendingCharacters = 0
  /** Not written yet. */
  readonly #held = new HeldRecords()
  /** Results that wait for their records. */
  #group: WriteGroup | undefined
  #timer: NodeJS.Timeout | undefined
  #turn: NodeJS.Immediate | undefined
  #isFailing = false
  #isClosed = false
  /** What was told of the fault that lasts: records given up by then. */
  #told: number | undefined

  constructor(store: AuditStore, { settings, onwarning, now }: AuditLogOptions) {
    this.#store = store
    this.#settings = settings
    this.#onwarning = onwarning
    this.#rotation = new Rotation(store, now ?? Date.now)
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
    return this.#held.count + this.#pending.length
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
      const written = this.#add(call.failed(error))
      if (written !== undefined) await written
      throw error
    }
    const written = this.#add(call.answered(result))
    if (written !== undefined) await written
    return result
  }

  /** Writes what waits. Never throws: what can't be written is told, and kept for the next time. */
  flush(): void {
    this.#write('soon')
  }

  /** The last records: written for good. What still ends later is written at once. */
  close(): void {
    this.#isClosed = true
    this.#write('now')
  }

  /** @returns what its result has to wait for */
  #add(record: PendingRecord): Promise<void> | undefined {
    this.#pending.push(record)
    this.#pendingCharacters += (record.argumentText?.length ?? 0) + (record.resultText?.length ?? 0)
    if (this.#isStrict) {
      this.#group ??= new WriteGroup()
      this.#turn ??= setImmediate(() => this.#endTurn())
      return this.#group.written
    }
    if (this.#isClosed) this.flush()
    else if (this.waiting >= BATCH_RECORDS || this.#pendingCharacters >= BATCH_CHARACTERS) this.#digest()
    else this.#turn ??= setImmediate(() => this.#endTurn())
    return undefined
  }

  /** Work that no result waits for, unless it has to. */
  #endTurn(): void {
    this.#turn = undefined
    if (this.#group === undefined) this.#digest()
    else this.#write('now')
  }

  /** What waits takes little room from here on. */
  #digest(): void {
    this.#digestPending()
    const isFull = this.#held.count >= BATCH_RECORDS || this.#held.characters >= BATCH_CHARACTERS
    if (isFull && !this.#isFailing) this.flush()
    else if (this.#held.count > 0) this.#waitForMore()
  }

  #digestPending(): void {
    const isWhole = this.#settings.arguments === 'whole'
    for (const record of this.#pending) this.#held.add(digested(record, isWhole))
    this.#pending = []
    this.#pendingCharacters = 0
  }

  /** A disk that is full is tried again now and then, and not with each call; that keeps no process alive. */
  #waitForMore(): void {
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => this.flush(), this.#isFailing ? RETRY_MS : BATCH_MS)
    if (this.#isFailing) this.#timer.unref()
  }

  /** Nothing is called that could not be recorded. */
  #prove(): void {
    if (!this.#store.isDurable) throw new AuditNotWrittenError('unsent', 'its state is kept in memory alone')
    if (!this.#isFailing) return
    const failure = this.#append('now')
    if (failure !== undefined) throw new AuditNotWrittenError('unsent', textOf(failure.error), failure.error)
  }

  #write(durability: Durability): void {
    const group = this.#group
    this.#group = undefined
    const failure = this.#append(group === undefined ? durability : 'now')
    if (failure === undefined) group?.succeed()
    else if (group !== undefined) group.fail(new AuditNotWrittenError('sent', textOf(failure.error), failure.error))
    else this.#warn(failure.error)
  }

  #append(durability: Durability): { readonly error: unknown } | undefined {
    this.#stopWaiting()
    this.#digestPending()
    const records = this.#held.all
    if (records.length === 0) return undefined
    try {
      this.#store.append(records, durability)
    } catch (error) {
      this.#isFailing = true
      this.#held.giveUp()
      return { error }
    }
    this.#held.clear()
    this.#isFailing = false
    this.#told = undefined
    this.#rotate(records)
    return undefined
  }

  /** A record that is there is worth more than the room of an old one: a fault here fails no call. */
  #rotate(written: Parameters<Rotation['written']>[0]): void {
    try {
      this.#rotation.written(written, this.#settings)
    } catch (error) {
      this.#onwarning?.(new AuditNotWrittenError('sent', `old records can't be removed: ${textOf(error)}`, error))
    }
  }

  #warn(error: unknown): void {
    this.#waitForMore()
    const { givenUp } = this.#held
    if (this.#told === givenUp) return
    this.#told = givenUp
    const lost = givenUp === 0 ? '' : `; ${givenUp} records were given up`
    this.#onwarning?.(new AuditNotWrittenError('sent', textOf(error) + lost, error))
  }

  #stopWaiting(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
