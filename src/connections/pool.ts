import type { EffectiveServer } from '../catalog/index.js'
import { serialiseKey } from '../identity/index.js'
import { Connection } from './connection.js'
import type { EraMemory } from './eras/memory.js'
import type { ConnectionIdentity } from './identity.js'
import type { Inventory, InventoryCache } from './inventory.js'
import { Lease } from './lease.js'
import type { TransportOpener } from './opener.js'
import type { Debounce } from './relister.js'
import type { ConnectionRoute } from './route.js'
import { DEFAULT_STARTUP_TIMEOUT, type StoredAuthState } from './startup-failure.js'
import { systemTimers, type Timers } from './timers.js'
import type { ClientProfile } from './types.js'

export interface PoolOptions {
  readonly open: TransportOpener
  readonly timers?: Timers
  /** Gets what each server offers, after every listing. */
  readonly cache?: InventoryCache
  readonly eras?: EraMemory
  readonly authState?: (server: EffectiveServer) => StoredAuthState | undefined
  readonly debounce?: Debounce
  readonly random?: () => number
}

/** What a holder wants a connection for. */
export interface ConnectionRequest {
  readonly server: EffectiveServer
  readonly identity: ConnectionIdentity
  readonly profile: ClientProfile
  /** Where the inventory is kept; absent: nowhere. */
  readonly cacheIdentity: string | undefined
  /** Connections are shared among holders of one owner only. */
  readonly owner: string
}

/** All connections of a runtime, by owner and identity. A connection lives as long as somebody holds a lease on it. */
export class ConnectionPool {
  readonly timers: Timers
  readonly cache: InventoryCache | undefined
  readonly #options: PoolOptions
  readonly #newest = new Map<string, { readonly connection: Connection; holders: number }>()
  readonly #open = new Set<Connection>()

  constructor(options: PoolOptions) {
    this.#options = options
    this.timers = options.timers ?? systemTimers
    this.cache = options.cache
  }

  /**
   * A lease on a connection of this identity: the one that is up or starting with the same startup timeout, else a new
   * one, not started yet (reference: connections, 4 and 12). `fresh` never reuses.
   */
  acquire(request: ConnectionRequest, route: ConnectionRoute, options: { readonly fresh?: boolean } = {}): Lease {
    const slot = JSON.stringify([request.owner, request.identity.digest])
    const held = this.#newest.get(slot)
    const usable = options.fresh !== true && held !== undefined && isReusable(held.connection, request.server)
    const entry = usable ? held : { connection: this.#create(request), holders: 0 }
    this.#newest.set(slot, entry)
    entry.holders += 1
    return new Lease(entry.connection, route, (how) => {
      entry.holders -= 1
      if (entry.holders > 0) return Promise.resolve()
      if (this.#newest.get(slot) === entry) this.#newest.delete(slot)
      return this.#end(entry.connection, how)
    })
  }

  /** Closes every connection, whoever holds it. */
  async close(): Promise<void> {
    this.#newest.clear()
    await Promise.all([...this.#open].map((connection) => this.#end(connection, 'now')))
  }

  #create({ server, identity, profile, cacheIdentity }: ConnectionRequest): Connection {
    const { open, eras, authState, debounce, random } = this.#options
    const { cache } = this
    const connection = new Connection({
      server,
      identity,
      profile,
      open,
      timers: this.timers,
      ...(eras && { eras }),
      ...(cache !== undefined &&
        cacheIdentity !== undefined && {
          keep: (inventory: Inventory) => cache.put(cacheIdentity, serialiseKey(server.key), inventory),
        }),
      ...(authState && { authState }),
      ...(debounce && { debounce }),
      ...(random && { random }),
    })
    this.#open.add(connection)
    return connection
  }

  async #end(connection: Connection, how: 'drained' | 'now'): Promise<void> {
    const wanted = connection.state.state === 'ready' && how === 'drained'
    await (wanted ? connection.retire(RETIREMENT) : connection.close())
    this.#open.delete(connection)
  }
}

/** Milliseconds that work on a connection may still take when nobody holds it any more (reference: connections, 12). */
const RETIREMENT = 10_000

export function isReusable(connection: Connection, server: EffectiveServer): boolean {
  switch (connection.state.state) {
    case 'ready':
      return true
    case 'idle':
    case 'starting':
      return startupTimeout(connection.server) === startupTimeout(server)
    default:
      return false
  }
}

function startupTimeout({ config }: EffectiveServer): number {
  return config.startupTimeoutMs ?? DEFAULT_STARTUP_TIMEOUT
}
