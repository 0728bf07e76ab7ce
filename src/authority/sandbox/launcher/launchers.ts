import type { LauncherPaths } from '../meta.js'
import type { LauncherFinding } from './finding.js'
import { Launcher, type LauncherSetting } from './launcher.js'
import { codexPlaces } from './named-places.js'
import type { LauncherTrials } from './trials.js'

export interface LaunchersOptions {
  readonly setting: LauncherSetting
  /** Of the user, for the places that `auto` looks at. */
  readonly home: string | undefined
  /** Absolute path of Reeve's own command line, which has the same verb; absent: it is not offered. */
  readonly commandLine?: string | undefined
  readonly trials: LauncherTrials
}

/** What there is of each kind; `reeve` is absent where no command line was named. */
export interface LauncherFindings {
  readonly codex: LauncherFinding
  readonly reeve?: LauncherFinding
}

/** Codex's launcher and our own, each by its own merits: neither takes the place of the other. `none` switches off both. */
export class Launchers {
  readonly #codex: Launcher
  readonly #reeve: Launcher | undefined

  private constructor(codex: Launcher, reeve: Launcher | undefined) {
    this.#codex = codex
    this.#reeve = reeve
  }

  /** Runs nothing. */
  static async open({ setting, home, commandLine, trials }: LaunchersOptions): Promise<Launchers> {
    const own = setting === 'none' ? undefined : commandLine
    return new Launchers(
      await Launcher.open(setting, codexPlaces(home), trials),
      own === undefined ? undefined : Launcher.own(own, trials),
    )
  }

  /** What was found, and why not. Tries out what has not been. */
  async findings(): Promise<LauncherFindings> {
    const [codex, reeve] = await Promise.all([this.#codex.current(), this.#reeve?.current()])
    return Object.freeze({ codex, ...(reeve && { reeve }) })
  }

  /** For `codex/sandbox-launcher`; undefined: there is none. */
  async paths(): Promise<LauncherPaths | undefined> {
    const { codex, reeve } = await this.findings()
    const paths = {
      ...(codex.is === 'ready' && { codexExecutable: codex.path }),
      ...(reeve?.is === 'ready' && { reeveExecutable: reeve.path }),
    }
    return Object.keys(paths).length === 0 ? undefined : Object.freeze(paths)
  }
}
