import type { EnvironmentState, Environments } from '../environments/index.js'
import { LOCAL_ENVIRONMENT } from '../identity/index.js'
import type { ThreadEvent } from './types.js'

type EnvironmentEvent = Extract<ThreadEvent, { readonly type: 'environment' }>

/**
 * Tells of the selected environments when one is connected, and when it no longer is: transitions only. The host is always
 * there, and not told of.
 */
export class EnvironmentWatch {
  readonly #environments: Environments
  readonly #told: (event: EnvironmentEvent) => void
  readonly #onReady: (id: string) => void
  /** What was told last of each that is selected. */
  readonly #status = new Map<string, EnvironmentEvent['status'] | undefined>()
  readonly #end: () => void

  constructor(environments: Environments, told: (event: EnvironmentEvent) => void, onReady: (id: string) => void) {
    this.#environments = environments
    this.#told = told
    this.#onReady = onReady
    this.#end = environments.onstate((id, state) => this.#changed(id, state))
  }

  /** From now on these; those that stay are not told of again. */
  select(ids: readonly string[]): void {
    const selected = new Set<string>(ids.filter((id) => id !== LOCAL_ENVIRONMENT))
    for (const id of this.#status.keys()) if (!selected.has(id)) this.#status.delete(id)
    for (const id of selected) {
      if (this.#status.has(id)) continue
      this.#status.set(id, undefined)
      const state = this.#environments.get(id)?.environment.state
      if (state !== undefined) this.#changed(id, state)
    }
  }

  close(): void {
    this.#status.clear()
    this.#end()
  }

  #changed(id: string, state: EnvironmentState): void {
    if (!this.#status.has(id)) return
    if (state.is === 'ready') {
      this.#tell({ type: 'environment', environment: id, status: 'connected' })
      this.#onReady(id)
    } else if (state.is === 'recovering' || state.is === 'failed') {
      this.#tell({ type: 'environment', environment: id, status: 'disconnected', error: state.error.message })
    } else if (state.is === 'closed' && this.#status.get(id) === 'connected') {
      this.#tell({ type: 'environment', environment: id, status: 'disconnected' })
    }
  }

  #tell(event: EnvironmentEvent): void {
    if (this.#status.get(event.environment) === event.status) return
    this.#status.set(event.environment, event.status)
    this.#told(event)
  }
}
