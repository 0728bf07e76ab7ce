import type { Environment } from '../environments/index.js'
import { EnvironmentError, type ReeveError } from '../errors.js'
import type { ServerKey } from '../identity/index.js'
import { withEnvironmentKey, withKey } from './error-key.js'

/** Whether a server's environment lets anything through to it. */
export class Reach {
  readonly #key: ServerKey
  readonly #environment: Environment | undefined
  readonly #isProcess: boolean

  constructor(key: ServerKey, environment: Environment | undefined, isProcess: boolean) {
    this.#key = key
    this.#environment = environment
    this.#isProcess = isProcess
  }

  /** Its environment is on its way back. */
  get isRecovering(): boolean {
    return this.#environment?.state.is === 'recovering'
  }

  /** Why requests wait now: its environment is on its way back. */
  outage(): ReeveError | undefined {
    const state = this.#environment?.state
    if (state?.is !== 'recovering') return undefined
    return state.error instanceof EnvironmentError ? withEnvironmentKey(state.error, this.#key) : state.error
  }

  /**
   * An HTTP server whose executor was given up: its session may still be there, but nothing gets to it. A process says
   * itself when it is lost.
   */
  get isOut(): boolean {
    const state = this.#environment?.state.is
    return (state === 'failed' || state === 'connecting') && !this.#isProcess
  }

  /** Tries, in the background, to get to it again. */
  again(): void {
    // Whoever uses it is told why that fails.
    if (this.isOut) this.#environment?.info().catch(() => {})
  }

  /** While the environment is recovering: resolves when it is back, rejects with `EnvironmentError` in bounded time. */
  away(): Promise<void> | undefined {
    const environment = this.#environment
    return environment?.state.is === 'recovering' ? this.#back(environment) : undefined
  }

  async #back(environment: Environment): Promise<void> {
    try {
      await environment.info()
    } catch (error) {
      throw withKey(error, this.#key, 'initialize', undefined)
    }
  }
}
