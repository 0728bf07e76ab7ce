import { createHash } from 'node:crypto'
import { ReeveHost } from '../../../reeve.js'
import type { Variables } from './client-variables.js'

/** One user's part in a host. The host ends when the last one lets go of it; letting go twice is letting go once. */
export interface HostLease {
  readonly host: ReeveHost
  release(): Promise<void>
}

export interface RuntimeHostsOptions {
  /** Absolute. */
  readonly home: string
  /** Milliseconds that a server is kept up for the next client. */
  readonly idleMs: number
  /** Reeve's own command line, which servers may be told of as a launcher; absolute. */
  readonly commandLine?: string
}

/** The processes and connections of a broker: one set for all clients with the same values of variables. */
export class RuntimeHosts {
  readonly #options: RuntimeHostsOptions
  readonly #hosts = new Map<string, { readonly host: ReeveHost; users: number }>()

  constructor(options: RuntimeHostsOptions) {
    this.#options = options
  }

  lease(env: Variables): HostLease {
    const digest = digestOf(env)
    const entry = this.#hosts.get(digest) ?? { host: new ReeveHost({ ...this.#options, env }), users: 0 }
    this.#hosts.set(digest, entry)
    entry.users += 1
    let held = true
    return {
      host: entry.host,
      release: async () => {
        if (!held) return
        held = false
        entry.users -= 1
        if (entry.users > 0) return
        this.#hosts.delete(digest)
        await entry.host.close()
      },
    }
  }
}

/** The values may be secrets, so they are kept as a digest only. */
export function digestOf(env: Variables): string {
  const sorted = Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex')
}
