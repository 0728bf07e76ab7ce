import type { AuthContext } from '../auth/index.js'
import type { EffectiveServer } from '../catalog/index.js'
import type { Environment, PlacedEnvironment } from '../environments/index.js'
import { serialiseKey } from '../identity/index.js'
import { Connection } from './connection.js'
import type { EraMemory } from './eras/memory.js'
import { Accounts } from './first-party.js'
import type { ConnectionIdentity } from './identity.js'
import type { Inventory, InventoryCache, InventorySlot } from './inventory.js'
import { Lease } from './lease.js'
import type { PlacedOpener } from './opener.js'
import { DEFAULT_PATIENCE } from './placement.js'
import type { Debounce } from './relister.js'
import type { ConnectionRoute } from './route.js'
import type { Holding } from './seat.js'
import type { Standstill } from './standstill.js'
import { DEFAULT_STARTUP_TIMEOUT, type StoredAuthState } from './startup-failure.js'
import type { StoredLogins } from './stored-logins.js'
import { systemTimers, type Timers } from './timers.js'
import type { ClientProfile } from './types.js'

export interface PoolOptions {
  readonly open: PlacedOpener
  readonly timers?: Timers
  /** Gets what each server offers, after every listing. */
  readonly cache?: InventoryCache
  /** Which era each server was found to speak. */
  readonly eras?: EraMemory
  readonly authState?: (server: EffectiveServer) => StoredAuthState | undefined
  /** Absent: nobody logs in anywhere. */
  readonly logins?: StoredLogins
  readonly debounce?: Debounce
  readonly random?: () => number
  /** Milliseconds that a server which nobody holds any more is kept up for the next holder. Default 0. */
  readonly idleMs?: number
  /**
   * Milliseconds that a holder waits for its turn at a shared server before it gets one of its own, when it left nothing
   * behind on the shared one. Default 250.
   */
  readonly patienceMs?: number
}

/** What a holder wants a connection for. */
export interface ConnectionRequest {
  readonly server: EffectiveServer
  readonly identity: ConnectionIdentity
  readonly profile: ClientProfile
  /** Working directory of a local server that has none; part of the identity where it counts. */
  readonly fallbackCwd: string
  /** Where the server runs; null where there is no environment of that id. Absent: wherever the opener has it. */
  readonly environment?: PlacedEnvironment | null
  /** Where the inventory is kept; absent: nowhere. */
  readonly cacheIdentity: string | undefined
  /** Where it is kept instead. */
  readonly slot?: InventorySlot
  /** Connections are shared among holders of one owner only. */
  readonly owner: string
  /** For whom; absent: the local user. */
  readonly principal?: string
  /** Holders that know nothing of each other have this owner. */
  readonly shared: boolean
  /** First-party auth of who asks, where the server uses it: no other's is ever used on the connection. */
  readonly auth?: AuthContext
  /** Which calls stand still with those on this connection. */
  readonly standstill?: Standstill
}

/** A connection that anybody with the same owner and identity may come to hold. */
interface Slot {
  readonly connection: Connection
  /** Others may come to hold it. */
  readonly shared: boolean
  holders: number
  /** Ends the time without holders, while there is such a time. */
  resume: (() => void) | undefined
}

/**
 * All connections of a runtime, by owner and identity. A connection lives as long as somebody holds it, and for a while
 * longer where the options say so.
 */
export class ConnectionPool {
  readonly timers: Timers
  readonly cache: InventoryCache | undefined
  readonly logins: StoredLogins | undefined
  readonly #options: PoolOptions
  readonly #slots = new Map<string, Slot>()
  readonly #open = new Set<Connection>()
  /** Two environments of one definition are still two: what runs in one ends with it. */
  readonly #places = new WeakMap<Environment, number>()
  #lastPlace = 0
  readonly #accounts = new Accounts()
  #closed = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.timers = options.timers ?? systemTimers
    this.cache = options.cache
    this.logins = options.logins
  }

  /**
   * A lease on a connection of this identity: the one that is up or starting with the same startup timeout, else a new
   * one, not started yet (reference: connections, 4 and 12). One that is down and that others hold is had with them, or
   * it would come up twice. `fresh` never reuses.
   */
  acquire(request: ConnectionRequest, holder: ConnectionRoute, options: { readonly fresh?: boolean } = {}): Lease {
    const name = JSON.stringify([
      request.owner,
      request.identity.digest,
      this.#placeOf(request),
      this.#accounts.of(request.auth),
    ])
    const known = options.fresh === true ? undefined : this.#slots.get(name)
    const slot = known !== undefined && isUsable(known, request) ? known : this.#slot(request)
    this.#slots.set(name, slot)
    return new Lease({
      holder,
      shared: this.#hold(name, slot),
      own: () => this.#own(request),
      timers: this.timers,
      patienceMs: this.#options.patienceMs ?? DEFAULT_PATIENCE,
      ...(request.standstill && { standstill: request.standstill }),
    })
  }

  /** Closes every connection, whoever holds it. */
  async close(): Promise<void> {
    this.#closed = true
    for (const { resume } of this.#slots.values()) resume?.()
    this.#slots.clear()
    await Promise.all([...this.#open].map((connection) => this.#end(connection)))
  }

  #placeOf({ environment }: ConnectionRequest): number {
    if (environment === undefined || environment === null) return 0
    const known = this.#places.get(environment.environment)
    if (known !== undefined) return known
    this.#lastPlace += 1
    this.#places.set(environment.environment, this.#lastPlace)
    return this.#lastPlace
  }

  #slot(request: ConnectionRequest): Slot {
    return { connection: this.#create(request), shared: request.shared, holders: 0, resume: undefined }
  }

  #hold(name: string, slot: Slot): Holding {
    slot.resume?.()
    slot.resume = undefined
    slot.holders += 1
    const { connection } = slot
    return {
      connection,
      release: async (route) => {
        slot.holders -= 1
        const kept = slot.holders > 0 || this.#park(name, slot)
        if (!kept) {
          if (this.#slots.get(name) === slot) this.#slots.delete(name)
          await this.#end(connection)
        }
        connection.leave(route)
      },
      retire: () => {
        if (!slot.shared && this.#slots.get(name) === slot) this.#slots.delete(name)
      },
    }
  }

  /** A connection for one holder, whatever else is there. */
  #own(request: ConnectionRequest): Holding {
    const connection = this.#create(request)
    return {
      connection,
      release: async (route) => {
        await this.#end(connection)
        connection.leave(route)
      },
      retire: () => {},
    }
  }

  /** Keeps a server up that nobody holds, for a while. False when it is not to be kept. */
  #park(name: string, slot: Slot): boolean {
    const { idleMs = 0 } = this.#options
    const { connection, shared } = slot
    if (this.#closed || idleMs <= 0 || !shared || this.#slots.get(name) !== slot) return false
    if (connection.state.state !== 'ready') return false
    const unpark = connection.park()
    const end = () => {
      if (this.#slots.get(name) === slot) this.#slots.delete(name)
      void this.#end(connection)
    }
    const timer = this.timers.after(idleMs, end, { background: true })
    slot.resume = () => {
      timer.cancel()
      unpark()
    }
    return true
  }

  #create(request: ConnectionRequest): Connection {
    const { server, identity, profile, fallbackCwd, environment, cacheIdentity, auth, principal } = request
    const fetcher = request.slot?.fetcher()
    const { open, eras, logins, debounce, random } = this.#options
    const authState = this.#options.authState ?? (logins && ((of: EffectiveServer) => logins.state(of, principal)))
    const { cache } = this
    const standsFor = {}
    const connection = new Connection({
      server,
      identity,
      profile,
      open: (opened, options) =>
        open(opened, {
          ...options,
          cwd: fallbackCwd,
          connection: standsFor,
          ...(auth && { auth }),
          ...(principal !== undefined && { principal }),
          ...(environment !== undefined && { environment: environment?.environment ?? null }),
        }),
      ...(environment && { environment: environment.environment }),
      ...(auth && { auth }),
      timers: this.timers,
      ...(fetcher && {
        keep: (inventory: Inventory) => fetcher.put(inventory),
        began: () => fetcher.began(),
      }),
      ...(fetcher === undefined &&
        cache !== undefined &&
        cacheIdentity !== undefined && {
          keep: (inventory: Inventory) => cache.put(cacheIdentity, serialiseKey(server.key), inventory),
        }),
      ...(eras && { eras }),
      ...(authState && { authState }),
      ...(principal !== undefined && { principal }),
      ...(debounce && { debounce }),
      ...(random && { random }),
    })
    this.#open.add(connection)
    return connection
  }

  async #end(connection: Connection): Promise<void> {
    await connection.close()
    this.#open.delete(connection)
  }
}

function isUsable({ connection, holders }: Slot, { server, shared }: ConnectionRequest): boolean {
  if (isReusable(connection, server)) return true
  const { state } = connection.state
  return shared && holders > 0 && state !== 'closed' && startupTimeout(connection.server) === startupTimeout(server)
}

/** Up or starting as this server would be started. */
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
