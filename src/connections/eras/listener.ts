import { OperationTimeoutError, RpcError, TransportClosedError } from '../../errors.js'
import type { ServerKey } from '../../identity/index.js'
import { type JsonObject, MODERN_META, type ReceivedOn, type RequestId, RPC } from '../../protocol/index.js'
import { orAborted } from '../abort.js'
import { Backoff } from '../backoff.js'
import type { InventoryPart } from '../inventory-listing.js'
import type { ServerMessage } from '../session.js'
import type { Timers } from '../timers.js'
import { CatchUp } from './catch-up.js'
import { Changes } from './changes.js'
import { type Opened, type OpenSubscription, Subscription } from './subscription.js'
import { announcedLists, isEmptyFilter, isWithin, type SubscriptionFilter } from './subscription-filter.js'

export interface ListenerPorts {
  readonly key: ServerKey
  readonly timers: Timers
  readonly open: OpenSubscription
  /** The resources that callers subscribed to. */
  readonly subscribedUris: () => readonly string[]
  /** The listings that may have changed while nobody listened. */
  readonly onMissed: (lists: ReadonlySet<InventoryPart>) => void
  readonly warn: (error: unknown) => void
}

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'
/** Milliseconds that an acknowledgement may take. */
const PATIENCE = 30_000

interface Live {
  readonly stream: Subscription
  readonly honoured: SubscriptionFilter
}

/**
 * Listens to a modern server with one subscription for everything that is wanted of it. When more or less is wanted, a
 * new one takes the place of the old one once it is acknowledged, so that nothing is missed. When it ends, another one
 * is opened after a pause that grows.
 */
export class Listener {
  readonly #ports: ListenerPorts
  readonly #backoff: Backoff
  readonly #catchUp: CatchUp
  readonly #changes = new Changes()
  /** Resources that callers wait to be subscribed to. */
  readonly #asking = new Map<string, Set<(opened: Opened) => void>>()
  /** Acknowledged for a caller, and not yet among the subscribed ones. */
  readonly #included = new Set<string>()
  #lists: ReadonlySet<InventoryPart> = new Set()
  #live: Live | undefined
  #opening: Subscription | undefined
  #attempts = 0
  #state: 'new' | 'running' | 'stopped' = 'new'

  constructor(ports: ListenerPorts) {
    this.#ports = ports
    this.#backoff = new Backoff(ports.timers)
    this.#catchUp = new CatchUp(ports.timers, ports.onMissed)
  }

  start(capabilities: JsonObject): void {
    if (this.#state !== 'new') return
    this.#state = 'running'
    this.#lists = announcedLists(capabilities)
    void this.#run()
  }

  /** The session ended, and with it whatever was open. */
  stop(): void {
    this.#state = 'stopped'
    this.#catchUp.stop()
    this.#changes.tell()
  }

  /** What callers subscribed to changed. */
  changed(): void {
    for (const uri of this.#ports.subscribedUris()) this.#included.delete(uri)
    this.#changes.tell()
  }

  /** Whether the server would say now that this listing changed. */
  hears(list: InventoryPart): boolean {
    return this.#live !== undefined && !this.#live.stream.isOver && this.#live.honoured.lists.has(list)
  }

  /**
   * Resolves once the server tells the changes of this resource.
   *
   * @throws {RpcError} the server does not, or refused; or as the request ended
   */
  async include(uri: string, signal: AbortSignal | undefined): Promise<void> {
    if (this.#live !== undefined && !this.#live.stream.isOver && this.#live.honoured.uris.has(uri)) {
      this.#included.add(uri)
      return
    }
    const opened = await this.#asked(uri, signal)
    if (opened.is === 'failed') throw opened.error
    if (!opened.honoured.uris.has(uri)) {
      throw new RpcError(RPC.invalidParams, `the server does not tell the changes of ${uri}`, { uri }, this.#ports.key)
    }
  }

  /** A notification as callers are to hear it; undefined for what only this listener has to know. */
  take(message: ServerMessage, on: ReceivedOn): ServerMessage | undefined {
    const { method, params, caller } = message
    const tag = subscriptionOf(params)
    const id = tag ?? on.relatedTo
    const stream = [this.#live?.stream, this.#opening].find((candidate) => candidate?.isCalled(id))
    const isCallers = stream === undefined && message.isCertain === true
    if (isCallers && tag !== undefined) return { ...message, params: withoutTag(params) }
    if (method === ACKNOWLEDGED) {
      stream?.acknowledged(params)
      return undefined
    }
    if (stream === undefined) return tag === undefined ? message : undefined
    if (stream !== this.#speaker) return undefined
    return { method, params: withoutTag(params), caller }
  }

  async #run(): Promise<void> {
    while (this.#state === 'running') {
      const seen = this.#changes.count
      const wanted = this.#wanted()
      if (this.#isLost()) await this.#pause(seen)
      else if (isEmptyFilter(wanted)) await this.#rest(seen)
      else if (this.#covers(wanted)) await this.#listen(seen)
      else await this.#open(wanted, seen)
    }
    const error = new TransportClosedError('Transport closed', { key: this.#ports.key, sent: true })
    this.#tell({ is: 'failed', error }, this.#wanted())
  }

  /** Until the new one is acknowledged, the old one says it all. */
  get #speaker(): Subscription | undefined {
    const { stream } = this.#live ?? {}
    if (this.#opening?.isAcknowledged === true) return this.#opening
    return stream === undefined || stream.isOver ? this.#opening : stream
  }

  #wanted(): SubscriptionFilter {
    const uris = new Set([...this.#ports.subscribedUris(), ...this.#included, ...this.#asking.keys()])
    return { lists: this.#lists, uris }
  }

  /** It ended by itself, and had something to say. */
  #isLost(): boolean {
    return this.#live?.stream.isOver === true && !isEmptyFilter(this.#live.honoured)
  }

  /** What was asked for and not honoured would not be honoured now; a caller that asks again gets another answer. */
  #covers(wanted: SubscriptionFilter): boolean {
    if (this.#live === undefined) return false
    const { stream, honoured } = this.#live
    return (
      isWithin(wanted, stream.asked) &&
      isWithin(honoured, wanted) &&
      [...this.#asking.keys()].every((uri) => honoured.uris.has(uri))
    )
  }

  async #rest(seen: number): Promise<void> {
    this.#live?.stream.close()
    this.#live = undefined
    await this.#changes.since(seen)
  }

  async #listen(seen: number): Promise<void> {
    const change = this.#changes.since(seen)
    const { stream, honoured } = this.#live ?? {}
    await (stream === undefined || honoured === undefined || isEmptyFilter(honoured)
      ? change
      : Promise.race([change, stream.over]))
  }

  async #pause(seen: number): Promise<void> {
    if (this.#live?.stream.isOver === true) this.#live = undefined
    await this.#changes.sinceOrAfter(seen, this.#ports.timers, this.#backoff.next())
  }

  async #open(wanted: SubscriptionFilter, seen: number): Promise<void> {
    const stream = new Subscription(wanted, this.#ports.open)
    this.#opening = stream
    this.#attempts += 1
    const opened = await this.#inTime(stream)
    this.#opening = undefined
    if (this.#state !== 'running') return
    this.#tell(opened, wanted)
    if (opened.is === 'acknowledged') return this.#replaceBy({ stream, honoured: opened.honoured })
    this.#ports.warn(opened.error)
    if (isMethodNotFound(opened.error)) this.#lists = new Set()
    await this.#pause(seen)
  }

  #replaceBy(live: Live): void {
    const before = this.#live
    this.#live = live
    before?.stream.close()
    // A server may keep a stream open on which it will never say anything.
    if (isEmptyFilter(live.honoured)) live.stream.close()
    this.#backoff.ready()
    if (before === undefined && this.#attempts > 1) this.#catchUp.on(live.honoured.lists)
  }

  #asked(uri: string, signal: AbortSignal | undefined): Promise<Opened> {
    let tell: (opened: Opened) => void = () => {}
    const outcome = new Promise<Opened>((resolve) => {
      tell = resolve
    })
    const waiting = this.#asking.get(uri) ?? new Set()
    this.#asking.set(uri, waiting.add(tell))
    this.#changes.tell()
    return orAborted(outcome, signal).finally(() => {
      waiting.delete(tell)
      if (waiting.size === 0 && this.#asking.get(uri) === waiting) this.#asking.delete(uri)
    })
  }

  /** Those that ask meanwhile were not in it, and wait for the next one. */
  #tell(opened: Opened, { uris }: SubscriptionFilter): void {
    for (const [uri, waiting] of [...this.#asking]) {
      if (!uris.has(uri)) continue
      this.#asking.delete(uri)
      if (opened.is === 'acknowledged' && opened.honoured.uris.has(uri)) this.#included.add(uri)
      for (const tell of waiting) tell(opened)
    }
  }

  async #inTime(stream: Subscription): Promise<Opened> {
    const { timers, key } = this.#ports
    return new Promise((resolve) => {
      const timer = timers.after(
        PATIENCE,
        () => {
          stream.close()
          resolve({ is: 'failed', error: new OperationTimeoutError('subscriptions/listen', PATIENCE, key) })
        },
        { background: true },
      )
      void stream.opened.then(resolve).finally(() => timer.cancel())
    })
  }
}

function isMethodNotFound(error: unknown): boolean {
  return error instanceof RpcError && error.rpcCode === RPC.methodNotFound
}

/** The id of the `subscriptions/listen` request that a notification belongs to, as the server gives it back. */
export function subscriptionOf(params: JsonObject | undefined): RequestId | undefined {
  const meta = params?._meta
  const tag =
    typeof meta === 'object' && meta !== null && !Array.isArray(meta) ? meta[MODERN_META.subscriptionId] : undefined
  return typeof tag === 'string' || typeof tag === 'number' ? tag : undefined
}

/** As a legacy server would have sent it. */
function withoutTag(params: JsonObject | undefined): JsonObject | undefined {
  if (params === undefined || subscriptionOf(params) === undefined) return params
  const { _meta, ...rest } = params
  const meta = Object.entries(_meta as JsonObject).filter(([member]) => member !== MODERN_META.subscriptionId)
  if (meta.length > 0) return { ...rest, _meta: Object.fromEntries(meta) }
  return Object.keys(rest).length > 0 ? rest : undefined
}
