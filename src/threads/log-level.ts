import type { ConnectionManager, ReadyClient } from '../connections/index.js'
import type { ServerKey } from '../identity/index.js'
import { OPERATION_TIMEOUT } from './operations.js'
import { hasCapability } from './server-pages.js'

/** The log level that a thread wants of its servers: told to those that are up, and to each that comes up later. */
export class LogLevel {
  readonly #manager: ConnectionManager
  readonly #warn: (key: ServerKey, error: unknown) => void
  #level: string | undefined

  constructor(manager: ConnectionManager, warn: (key: ServerKey, error: unknown) => void) {
    this.#manager = manager
    this.#warn = warn
  }

  async set(level: string): Promise<void> {
    this.#level = level
    const servers = await this.#manager.capture({ wait: 'none' })
    await Promise.all(servers.map(({ key, client }) => client && this.#tell(key, client)))
  }

  /** A server came up. */
  async cameUp(key: ServerKey): Promise<void> {
    if (this.#level === undefined) return
    try {
      await this.#tell(key, await this.#manager.ready(key))
    } catch (error) {
      this.#warn(key, error)
    }
  }

  async #tell(key: ServerKey, client: ReadyClient): Promise<void> {
    if (this.#level === undefined || !hasCapability(client, 'logging')) return
    try {
      await client.request('logging/setLevel', { level: this.#level }, { timeoutMs: OPERATION_TIMEOUT })
    } catch (error) {
      this.#warn(key, error)
    }
  }
}
