import { CancelledError } from '../../errors.js'

interface Entry {
  readonly text: string
  readonly settle: (error?: Error) => void
  /** Waits for as long as the queue lives. */
  readonly isPatient: boolean
  state: 'queued' | 'writing' | 'settled'
}

export interface WriteQueueOptions {
  /** Resolves when the bytes were taken; rejects when nobody will take them any more. */
  readonly write: (text: string) => Promise<void>
  /** Whether a write failed without anything having been taken, so that a later one may succeed. */
  readonly isTurnedAway?: (error: unknown) => error is Error
  /** The error of an entry that will not be written; `sent` when some of it may have left. */
  readonly lost: (sent: boolean) => Error
  /** Called once, when a write failed for good; must lead to `end`. Until then everything waits. */
  readonly onfault: () => void
}

/**
 * Writes texts in order, one write at a time: what is queued during a write goes out together in the next one. So a
 * text that was given up while it waited certainly never left, and a reader that is slow holds back its writers only.
 */
export class WriteQueue {
  readonly #options: WriteQueueOptions
  #entries: Entry[] = []
  #writing: readonly Entry[] = []
  #state: 'idle' | 'busy' | 'ended' = 'idle'

  constructor(options: WriteQueueOptions) {
    this.#options = options
  }

  /**
   * Resolves when the text was taken. Rejects with `CancelledError` when the signal fires first, after calling
   * `onhalfway` if the text was already being written; with `lost` when the queue ends; with the error of a write that was
   * turned away, unless the text is `patient`: then it is written again.
   */
  push(text: string, signal: AbortSignal | undefined, onhalfway: () => void, isPatient = false): Promise<void> {
    if (this.#state === 'ended') return Promise.reject(this.#options.lost(false))
    if (signal?.aborted) return Promise.reject(new CancelledError())
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        if (entry.state === 'writing') onhalfway()
        entry.settle(new CancelledError())
      }
      const entry: Entry = {
        text,
        isPatient,
        state: 'queued',
        settle: (error) => {
          if (entry.state === 'settled') return
          entry.state = 'settled'
          signal?.removeEventListener('abort', onAbort)
          if (error === undefined) resolve()
          else reject(error)
        },
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#entries.push(entry)
      if (this.#state === 'idle') void this.#drain()
    })
  }

  /** Nothing more will be written. */
  end(): void {
    if (this.#state === 'ended') return
    this.#state = 'ended'
    for (const entry of this.#writing) entry.settle(this.#options.lost(true))
    for (const entry of this.#entries) entry.settle(this.#options.lost(false))
    this.#entries = []
  }

  async #drain(): Promise<void> {
    this.#state = 'busy'
    for (let batch = this.#take(); batch.length > 0; batch = this.#take()) {
      this.#writing = batch
      try {
        await this.#options.write(batch.map((entry) => entry.text).join(''))
      } catch (error) {
        if (this.#options.isTurnedAway?.(error) === true) {
          this.#turnedAway(error)
          continue
        }
        // The owner learns why first, then ends the queue: an exit code says more than a broken pipe.
        this.#options.onfault()
        return
      }
      for (const entry of batch) entry.settle()
      this.#writing = []
    }
    if (this.#state === 'busy') this.#state = 'idle'
  }

  /** What waited behind it would wait as long once more, so it is turned away with it. */
  #turnedAway(error: Error): void {
    const all = [...this.#writing, ...this.#entries]
    this.#writing = []
    this.#entries = all.filter((entry) => entry.isPatient && entry.state !== 'settled')
    for (const entry of this.#entries) entry.state = 'queued'
    for (const entry of all) if (!entry.isPatient) entry.settle(error)
  }

  #take(): readonly Entry[] {
    const batch: Entry[] = []
    let length = 0
    let taken = 0
    for (const entry of this.#entries) {
      if (length > BATCH_LENGTH) break
      taken += 1
      if (entry.state !== 'queued') continue
      entry.state = 'writing'
      length += entry.text.length
      batch.push(entry)
    }
    this.#entries = taken === this.#entries.length ? [] : this.#entries.slice(taken)
    return batch
  }
}

/** Characters after which a batch is full. */
const BATCH_LENGTH = 64 * 1024
