import { LimitExceededError, ProtocolViolationError } from '../../errors.js'
import { EXEC_LIMITS } from '../../protocol/index.js'

export type ProcessEvent =
  | { readonly kind: 'output'; readonly seq: number; readonly stream: 'stdout' | 'stderr'; readonly bytes: Buffer }
  | { readonly kind: 'exited'; readonly seq: number; readonly code: number }
  | { readonly kind: 'closed'; readonly seq: number }

/**
 * Puts the events of one process in order: one counter from 1 over output, exit and close (reference: executor-protocol,
 * 6.2). What was delivered is ignored when it comes again; what waits for an earlier number is bounded.
 */
export class EventSequence {
  readonly #what: string
  readonly #waiting = new Map<number, ProcessEvent>()
  #bytes = 0
  #last = 0
  #exit: number | undefined
  #close: number | undefined
  /** Looser while a replay is on its way: what is live comes before what fills the hole. */
  replaying = false

  constructor(what: string) {
    this.#what = what
  }

  /** The number of the last event delivered. */
  get last(): number {
    return this.#last
  }

  get hasGap(): boolean {
    return this.#waiting.size > 0
  }

  /** The executor has said that the process exited, delivered or not. */
  get exitKnown(): boolean {
    return this.#exit !== undefined
  }

  /** What can be delivered now. Raises `ProtocolViolationError` and `LimitExceededError`. */
  accept(event: ProcessEvent): readonly ProcessEvent[] {
    const { seq } = event
    if (!Number.isSafeInteger(seq) || seq < 1) throw this.#lie('a sequence number that is none')
    if (seq <= this.#last || this.#waiting.has(seq)) return []
    this.#check(event)
    this.#waiting.set(seq, event)
    this.#bytes += sizeOf(event)
    const ready = this.#take()
    this.#checkRoom()
    return ready
  }

  /** How many numbers up to `through` have not come, and the first of them. */
  missing(through: number): { readonly count: number; readonly first: number } {
    let come = 0
    for (const seq of this.#waiting.keys()) if (seq <= through) come += 1
    let first = this.#last + 1
    while (this.#waiting.has(first)) first += 1
    return { count: Math.max(0, through - this.#last - come), first }
  }

  #check({ kind, seq }: ProcessEvent): void {
    if (this.#close !== undefined && seq > this.#close) throw this.#lie('an event after the last one')
    if (kind === 'exited') {
      if (this.#exit !== undefined) throw this.#lie('two exits')
      this.#exit = seq
    }
    if (kind !== 'closed') return
    if (this.#close !== undefined) throw this.#lie('two ends')
    for (const other of this.#waiting.keys()) if (other > seq) throw this.#lie('an event after the last one')
    this.#close = seq
  }

  #take(): readonly ProcessEvent[] {
    const ready: ProcessEvent[] = []
    for (let next = this.#waiting.get(this.#last + 1); next !== undefined; next = this.#waiting.get(this.#last + 1)) {
      this.#waiting.delete(next.seq)
      this.#bytes -= sizeOf(next)
      this.#last = next.seq
      ready.push(next)
    }
    return ready
  }

  #checkRoom(): void {
    const times = this.replaying ? 16 : 1
    const what = `what ${this.#what} sent out of order`
    if (this.#waiting.size > EXEC_LIMITS.reorderEvents * times)
      throw new LimitExceededError(`${what}, in events,`, EXEC_LIMITS.reorderEvents * times)
    if (this.#bytes > EXEC_LIMITS.reorderBytes * times)
      throw new LimitExceededError(`${what}, in bytes,`, EXEC_LIMITS.reorderBytes * times)
  }

  #lie(what: string): ProtocolViolationError {
    return new ProtocolViolationError(`the executor reports ${what} for ${this.#what}`)
  }
}

function sizeOf(event: ProcessEvent): number {
  return event.kind === 'output' ? event.bytes.length : 0
}
