import type { ProgramFile } from './file-identity.js'
import type { Fault } from './finding.js'
import { launcherFault, type ProbeOptions } from './probe.js'

/** As many files as there can have been, before the oldest is tried out again. */
const REMEMBERED = 16

/** What is known of files that were tried out: once each, for as long as they stay the same. */
export class LauncherTrials {
  readonly #probe: ProbeOptions
  readonly #tried = new Map<string, Promise<Fault | undefined>>()

  constructor(probe: ProbeOptions) {
    this.#probe = probe
  }

  /** Undefined: it is a launcher. Never raises. */
  faultOf({ path, identity }: ProgramFile): Promise<Fault | undefined> {
    const known = this.#tried.get(identity)
    if (known !== undefined) return known
    const trial = launcherFault(path, this.#probe).catch((error: unknown): Fault => {
      // The trial itself could not be made: no temporary folder, say. That is no fact about the file.
      this.#tried.delete(identity)
      return { fault: 'not_started', reason: error instanceof Error ? error.message : String(error) }
    })
    this.#tried.set(identity, trial)
    const [oldest] = this.#tried.keys()
    if (this.#tried.size > REMEMBERED && oldest !== undefined) this.#tried.delete(oldest)
    return trial
  }
}
