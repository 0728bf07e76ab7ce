import type { ProgramFile } from './file-identity.js'
import type { Fault } from './finding.js'
import { launcherFault, type ProbeOptions } from './probe.js'

/** As many files as there can have been, before the oldest is tried out again. */
const REMEMBERED = 16

interface Trial {
  readonly fault: Promise<Fault | undefined>
  state: 'running' | 'ended'
}

/** What is known of files that were tried out: once each, for as long as they stay the same. */
export class LauncherTrials {
  readonly #probe: ProbeOptions
  readonly #trials = new Map<string, Trial>()

  constructor(probe: ProbeOptions) {
    this.#probe = probe
  }

  /** Whether the file was tried out, so that `faultOf` takes no time. */
  isKnown({ identity }: ProgramFile): boolean {
    return this.#trials.get(identity)?.state === 'ended'
  }

  /** Undefined: it is a launcher. Never raises. */
  faultOf(file: ProgramFile): Promise<Fault | undefined> {
    const { fault } = this.#trials.get(file.identity) ?? this.#begin(file)
    return fault
  }

  #begin({ path, identity }: ProgramFile): Trial {
    const fault = launcherFault(path, this.#probe).catch((error: unknown): Fault => {
      // The trial itself could not be made: no temporary folder, say. That is no fact about the file.
      this.#trials.delete(identity)
      return { fault: 'not_started', reason: error instanceof Error ? error.message : String(error) }
    })
    const trial: Trial = { fault, state: 'running' }
    void fault.then(() => {
      trial.state = 'ended'
    })
    this.#trials.set(identity, trial)
    const [oldest] = this.#trials.keys()
    if (this.#trials.size > REMEMBERED && oldest !== undefined) this.#trials.delete(oldest)
    return trial
  }
}
