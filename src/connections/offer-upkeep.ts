import type { ServerKey } from '../identity/index.js'
import type { JsonObject } from '../protocol/index.js'
import type { Inventory } from './inventory.js'
import { type InventoryPart, type ListingContext, listingFailed } from './inventory-listing.js'
import { type Debounce, Relister } from './relister.js'
import { ServerOffer } from './server-offer.js'
import type { Session } from './session.js'
import type { StartedSession } from './startup.js'
import type { ConnectionState } from './state.js'
import type { Timers } from './timers.js'

/** What keeping a server's offer up to date needs of its connection. */
export interface UpkeepPorts {
  readonly key: ServerKey
  readonly overHttp: boolean
  readonly timers: Timers
  readonly debounce?: Debounce | undefined
  /** Keeps what the server offers beyond this process. */
  readonly keep?: ((inventory: Inventory) => void) | undefined
  /** Told before the tools are listed. */
  readonly began?: (() => void) | undefined
  /** Fires when the connection is closed. */
  readonly lifetime: AbortSignal
  session(): Session | undefined
  /** How things are once no startup is under way. */
  settled(): Promise<ConnectionState>
  /** Sends a request of a listing. */
  send(method: string, params: JsonObject): Promise<JsonObject>
  warn(warning: unknown): void
  /** A part differs from before, and that is not told with the end of a startup. */
  onChanged(part: InventoryPart): void
}

const LIST_CHANGED: ReadonlyMap<string, InventoryPart> = new Map([
  ['notifications/tools/list_changed', 'tools'],
  ['notifications/resources/list_changed', 'resources'],
  ['notifications/prompts/list_changed', 'prompts'],
])

/** Keeps what is known of a server's offer as the server has it: after its start, and whenever it says that it changed. */
export class OfferUpkeep {
  readonly offer: ServerOffer
  readonly #ports: UpkeepPorts
  readonly #relister: Relister
  /** What a start changed, until it is ready. */
  readonly #untold = new Set<InventoryPart>()
  #marking: Promise<boolean> | undefined
  /** Listings that were asked for, one after the other. */
  #asked: Promise<unknown> = Promise.resolve()

  constructor(ports: UpkeepPorts) {
    const { key, timers, debounce } = ports
    this.#ports = ports
    this.offer = new ServerOffer(key, timers, {
      onPublished: (inventory) => this.#kept(inventory),
      onChanged: (part) => ports.onChanged(part),
    })
    this.#relister = new Relister(timers, (part) => this.#relist(part), debounce)
  }

  /** After a start. Resolves to what takes in the rest, once the server counts as ready. */
  async publish(started: StartedSession): Promise<() => void> {
    for (const part of await this.offer.publish(started.inventory)) this.#untold.add(part)
    return () => {
      for (const warning of started.warnings) this.#ports.warn(warning)
      void this.#takeLate(started)
    }
  }

  /** What starts changed, each told once. */
  takeUntold(): readonly InventoryPart[] {
    const parts = [...this.#untold]
    this.#untold.clear()
    return parts
  }

  /** Whether a notification says that a part changed, which is listed anew then. */
  heard(method: string): boolean {
    const part = LIST_CHANGED.get(method)
    if (part !== undefined) this.#relister.changed(part)
    return part !== undefined
  }

  /** Lists these anew, in the background. */
  renew(parts: Iterable<InventoryPart>): void {
    for (const part of parts) this.#relister.changed(part)
  }

  /** Lists anew, in the background, what is out of date by the server's own word and would not be told of. */
  renewExpired(): void {
    const session = this.#ports.session()
    if (session === undefined) return
    this.renew(this.offer.takeExpired().filter((part) => !session.announces(part)))
  }

  /** Lists the tools anew, for which arguments are mirrored in headers may have changed; once for all who ask meanwhile. */
  async remark(): Promise<void> {
    this.#marking ??= this.#relist('tools').finally(() => {
      this.#marking = undefined
    })
    await this.#marking
  }

  /** Lists the tools anew, now. Rejects with what that failed with; then nothing changed. */
  refreshTools(): Promise<void> {
    const refreshed = this.#asked.then(async () => {
      const failures: unknown[] = []
      await this.#relist('tools', (error) => failures.push(error))
      if (failures.length > 0) throw failures[0]
    })
    this.#asked = refreshed.catch(() => undefined)
    return refreshed
  }

  stop(): void {
    this.#relister.stop()
  }

  async #takeLate({ session, late }: StartedSession): Promise<void> {
    if (late === undefined) return
    const { resources, prompts, warnings } = await late
    if (this.#ports.session() !== session) return
    for (const warning of warnings) this.#ports.warn(warning)
    await this.offer.merge('resources', resources)
    await this.offer.merge('prompts', prompts)
  }

  async #relist(part: InventoryPart, onFailure?: (error: unknown) => void): Promise<boolean> {
    const { key, overHttp, lifetime, settled, send, warn, began } = this.#ports
    // Said during a startup, it may concern a page that was listed before.
    const outcome = await settled()
    if (outcome.state !== 'ready') return false
    const { handshake } = outcome
    const context: ListingContext = { key, handshake, overHttp, send, warn, evenUndeclared: true }
    if (part === 'tools') began?.()
    return this.offer.refresh(part, context, (error) => {
      const failure = listingFailed(key, `${part}/list`, error)
      if (onFailure !== undefined) onFailure(failure)
      else if (!lifetime.aborted) warn(failure)
    })
  }

  #kept(inventory: Inventory): void {
    try {
      this.#ports.keep?.(inventory)
    } catch (error) {
      this.#ports.warn(error)
    }
  }
}
