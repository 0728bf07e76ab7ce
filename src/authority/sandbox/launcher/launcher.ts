import { stat } from 'node:fs/promises'
import { type ProgramFile, programFile } from './file-identity.js'
import type { Fault, LauncherFinding, LauncherSource } from './finding.js'
import type { LauncherTrials } from './trials.js'

/** `auto`: the first of the named places that is there now. `none`: no launcher. Else an absolute path. */
export type LauncherSetting = 'auto' | 'none' | (string & {})

/**
 * The program that servers may run commands through. Which file that is gets decided once, at start-up; at a call it is
 * only seen whether it still is the file that was tried out. A file is tried out once, bad ones too, when first needed.
 *
 * @example
 * ```ts
 * const trials = new LauncherTrials({ host, variables: process.env })
 * const launcher = await Launcher.open('auto', codexPlaces(homedir()), trials)
 * const found = await launcher.current()
 * if (found.is === 'ready') console.log(found.path)
 * ```
 */
export class Launcher {
  readonly #start: Candidate | LauncherFinding
  readonly #trials: LauncherTrials

  private constructor(start: Candidate | LauncherFinding, trials: LauncherTrials) {
    this.#start = start
    this.#trials = trials
  }

  /** Runs nothing. */
  static async open(setting: LauncherSetting, places: readonly string[], trials: LauncherTrials): Promise<Launcher> {
    return new Launcher(await startOf(setting, places), trials)
  }

  /** Reeve's own command line, by its absolute path. Runs nothing. */
  static own(commandLine: string, trials: LauncherTrials): Launcher {
    return new Launcher({ named: commandLine, source: 'own' }, trials)
  }

  /** What there is now. Never raises; takes as long as two bounded runs when the file has not been tried out. */
  async current(): Promise<LauncherFinding> {
    const start = this.#start
    if ('is' in start) return start
    const file = await programFile(start.named)
    if ('fault' in file) return refused(start, file)
    const isKnown = this.#trials.isKnown(file)
    const fault = (await this.#trials.faultOf(file)) ?? (isKnown ? undefined : await changeSince(start.named, file))
    return fault === undefined
      ? Object.freeze({ is: 'ready', named: start.named, path: file.path, source: start.source })
      : refused(start, fault)
  }
}

interface Candidate {
  readonly named: string
  readonly source: LauncherSource
}

async function startOf(setting: LauncherSetting, places: readonly string[]): Promise<Candidate | LauncherFinding> {
  if (setting === 'none') return Object.freeze({ is: 'off' })
  if (setting !== 'auto') return { named: setting, source: 'configuration' }
  for (const place of places) if (await isThere(place)) return { named: place, source: 'auto' }
  return Object.freeze({ is: 'absent', looked: Object.freeze([...places]) })
}

/** Between the look at the file and the end of its trial another may have come in its place. */
async function changeSince(named: string, tried: ProgramFile): Promise<Fault | undefined> {
  const now = await programFile(named)
  if ('fault' in now) return now
  return now.identity === tried.identity
    ? undefined
    : { fault: 'changed', reason: `${named} is another file than the one that was tried out` }
}

function refused({ named, source }: Candidate, { fault, reason }: Fault): LauncherFinding {
  return Object.freeze({ is: 'refused', named, source, fault, reason })
}

function isThere(place: string): Promise<boolean> {
  return stat(place).then(
    () => true,
    () => false,
  )
}
