import type { CapabilityRoot } from '../environments/index.js'
import type { SelectedPlace } from './selection.js'

/** What is kept of a thread, so that it can be taken up again as it was (reference: known-quirks, 21). */
export interface ThreadRecord {
  /** In order, also of environments that are not there any more. */
  readonly environments: readonly SelectedPlace[]
  /** The thread's own. */
  readonly capabilityRoots: readonly CapabilityRoot[]
}

/** Records by thread id, durable: what `put` returned from is there after a crash. Raises `ReeveError` when it can't be. */
export interface ThreadMemory {
  get(id: string): ThreadRecord | undefined
  put(id: string, record: ThreadRecord): void
  forget(id: string): void
}
