import type { InventoryPart } from './inventory-listing.js'
import type { Timer, Timers } from './timers.js'

/** Milliseconds. */
export interface Debounce {
  /** After the last notification. */
  readonly quiet: number
  /** After the first one at the latest. */
  readonly atMost: number
  /** `quiet` doubles up to this while the lists come back unchanged: some servers notify whenever they are asked. */
  readonly calm: number
}

export const DEFAULT_DEBOUNCE: Debounce = { quiet: 50, atMost: 1_000, calm: 5_000 }

interface PartState {
  quiet: number
  since: number | undefined
  ranAt: number
  timer: Timer | undefined
  running: boolean
}

/** Turns bursts of `list_changed` into few listings, one at a time for each part of an inventory. */
export class Relister {
  readonly #timers: Timers
  readonly #debounce: Debounce
  readonly #relist: (part: InventoryPart) => Promise<boolean>
  readonly #parts = new Map<InventoryPart, PartState>()
  #stopped = false

  /** `relist` resolves to whether anything changed, and never rejects. */
  constructor(
    timers: Timers,
    relist: (part: InventoryPart) => Promise<boolean>,
    debounce: Debounce = DEFAULT_DEBOUNCE,
  ) {
    this.#timers = timers
    this.#relist = relist
    this.#debounce = debounce
  }

  changed(part: InventoryPart): void {
    if (this.#stopped) return
    const state = this.#part(part)
    const now = this.#timers.now()
    state.since ??= now
    if (state.running) return
    if (now - state.ranAt > 2 * this.#debounce.calm) state.quiet = this.#debounce.quiet
    this.#schedule(part, state, now)
  }

  stop(): void {
    this.#stopped = true
    for (const state of this.#parts.values()) state.timer?.cancel()
  }

  #part(part: InventoryPart): PartState {
    const known = this.#parts.get(part)
    if (known !== undefined) return known
    const state = { quiet: this.#debounce.quiet, since: undefined, ranAt: 0, timer: undefined, running: false }
    this.#parts.set(part, state)
    return state
  }

  #schedule(part: InventoryPart, state: PartState, now: number): void {
    state.timer?.cancel()
    const latest = (state.since ?? now) + Math.max(this.#debounce.atMost, state.quiet) - now
    const wait = Math.max(0, Math.min(state.quiet, latest))
    state.timer = this.#timers.after(wait, () => void this.#run(part, state), { background: true })
  }

  async #run(part: InventoryPart, state: PartState): Promise<void> {
    state.timer = undefined
    state.since = undefined
    state.running = true
    const changed = await this.#relist(part)
    state.running = false
    state.ranAt = this.#timers.now()
    state.quiet = changed ? this.#debounce.quiet : Math.min(state.quiet * 2, this.#debounce.calm)
    if (state.since !== undefined && !this.#stopped) this.#schedule(part, state, this.#timers.now())
  }
}
