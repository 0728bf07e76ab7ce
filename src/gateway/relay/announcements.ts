import type { FromServer } from '../../connections/index.js'
import type { JsonObject, Peer } from '../../protocol/index.js'
import type { ThreadEvent } from '../../threads/index.js'
import { isRequestId } from './client-requests.js'
import type { Relay } from './relay.js'

type Changed = Extract<ThreadEvent, { type: 'inventory_changed' }>['what']

/** Changes of one kind that come together are told together. */
const TOGETHER_MS = 100
/** Kept for a client that is not ready yet; of more, the oldest are dropped. */
const HELD = 256

type Announcing = Pick<Relay, 'told'>

/** Tells a client what its servers announce: changed listings, updated resources, log messages, whatever else. */
export class Announcements {
  readonly #peer: Peer
  readonly #onFault: (error: unknown) => void
  readonly #changed = new Map<Changed, NodeJS.Timeout>()
  #state: { kind: 'held'; waiting: FromServer[] } | { kind: 'open'; relay: Announcing } | { kind: 'ended' } = {
    kind: 'held',
    waiting: [],
  }

  constructor(peer: Peer, onFault: (error: unknown) => void) {
    this.#peer = peer
    this.#onFault = onFault
  }

  /** The client has finished its handshake: what was held goes out. */
  begin(relay: Announcing): void {
    if (this.#state.kind !== 'held') return
    const { waiting } = this.#state
    this.#state = { kind: 'open', relay }
    for (const notification of waiting) this.#tell(notification, relay)
  }

  end(): void {
    this.#state = { kind: 'ended' }
    for (const timer of this.#changed.values()) clearTimeout(timer)
    this.#changed.clear()
  }

  /** Nothing to tell before the client is ready: it has listed nothing yet. */
  listChanged(what: Changed): void {
    if (this.#state.kind !== 'open' || this.#changed.has(what)) return
    const tell = () => {
      this.#changed.delete(what)
      this.#send(`notifications/${what}/list_changed`, undefined, undefined)
    }
    this.#changed.set(what, setTimeout(tell, TOGETHER_MS))
  }

  notification(notification: FromServer): void {
    if (this.#state.kind === 'open') this.#tell(notification, this.#state.relay)
    if (this.#state.kind !== 'held') return
    this.#state.waiting.push(notification)
    if (this.#state.waiting.length > HELD) this.#state.waiting.shift()
  }

  #tell(notification: FromServer, relay: Announcing): void {
    if (ANSWERED_BELOW.has(notification.method)) return
    const params = relay.told(notification)
    if (params !== undefined) this.#send(notification.method, params, notification.origin)
  }

  #send(method: string, params: JsonObject | undefined, origin: unknown): void {
    this.#peer.notify(method, params, isRequestId(origin) ? { relatedTo: origin } : undefined).catch(this.#onFault)
  }
}

/** Changed listings come as events; progress and cancellation belong to requests and are matched with them. */
const ANSWERED_BELOW: ReadonlySet<string> = new Set([
  'notifications/tools/list_changed',
  'notifications/resources/list_changed',
  'notifications/prompts/list_changed',
  'notifications/progress',
  'notifications/cancelled',
])
