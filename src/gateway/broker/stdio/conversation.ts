import { BrokerError } from '../../../errors.js'
import { type JsonObject, type JsonValue, MODERN_META } from '../../../protocol/index.js'
import { GOODBYE, type GoodbyeReason, goodbyeReason } from '../wire/session-frames.js'
import { type ClientFrame, isObject, isRequest, isResponse } from './client-frame.js'
import { type FrameHead, frameHead } from './frame-head.js'
import { OpenedSession } from './opened-session.js'
import { cancelledQuestion, isSafeToRepeat, lostAnswer, STAYS_OPEN } from './repeating.js'

/** What happens to a frame of the broker. */
export type Passing =
  | { readonly kind: 'pass' }
  /** Something else goes to the client in its place, or nothing. */
  | { readonly kind: 'instead'; readonly lines: readonly string[] }
  | { readonly kind: 'goodbye'; readonly reason: GoodbyeReason }

/** A request of the client that has no answer yet. */
interface Open {
  readonly method: string
  readonly params: JsonObject
  /** As it came; absent in a batch, which is not repeated. */
  readonly line: Buffer | undefined
}

const PASS: Passing = { kind: 'pass' }
const SWALLOW: Passing = { kind: 'instead', lines: [] }

/**
 * What has to be known of a session to carry it on with another broker: what is still to be answered, by either side,
 * and how the session was opened. Frames pass unchanged; a broker's are read no further than their heads.
 */
export class Conversation {
  readonly #session = new OpenedSession()
  readonly #open = new Map<JsonValue, Open>()
  /** Questions of this broker that the client has not answered. */
  readonly #asked = new Set<JsonValue>()
  /** The same of brokers that ended: nobody waits for these answers. */
  readonly #forgotten = new Set<JsonValue>()
  /** Requests that carry the session on, and their methods; the answers are not the client's. */
  readonly #own = new Map<JsonValue, string>()
  /** Streams that were opened again: their client had its acknowledgement. */
  readonly #reopened = new Set<JsonValue>()
  #lastOwn = 0
  #leaving = false

  /** Requests that the broker is working on. */
  get unanswered(): number {
    return [...this.#open.values()].filter(({ method }) => method !== STAYS_OPEN).length + this.#own.size
  }

  /** A frame of the client is about to be sent. False when it must not be: nobody asked for it any more. */
  sending({ line, messages, batch }: ClientFrame): boolean {
    for (const message of messages) this.#note(message, batch ? undefined : line)
    const [only] = messages
    return only === undefined || batch || !isResponse(only) || !this.#forgotten.delete(only.id ?? null)
  }

  /**
   * A frame of the broker has come.
   * @throws BrokerError `broker_incompatible` when the session can't be carried on with this broker
   */
  received(line: Buffer): Passing {
    return this.#receive(frameHead(line), () => objectIn(line))
  }

  /**
   * The broker is gone. `tell` goes to the client: requests that will not be answered, questions that are not to be.
   * `again` is for the next broker, behind what opens the session.
   */
  lost(): { readonly tell: readonly string[]; readonly again: readonly Buffer[] } {
    this.#leaving = false
    const tell = [...this.#asked].map(cancelledQuestion)
    for (const id of this.#asked) this.#forgotten.add(id)
    this.#asked.clear()
    this.#own.clear()
    const again: Buffer[] = []
    for (const [id, { method, line }] of this.#open) {
      if (line !== undefined && isSafeToRepeat(method)) {
        again.push(line)
        if (method === STAYS_OPEN) this.#reopened.add(id)
      } else {
        tell.push(lostAnswer(id, method))
        this.#open.delete(id)
      }
    }
    return { tell, again }
  }

  /** Frames that open the session with another broker. */
  reopening(): readonly string[] {
    return this.#session.again().map(({ method, params, request }) => {
      const message = { method, ...(params && { params }) }
      if (!request) return JSON.stringify({ jsonrpc: '2.0', ...message })
      this.#lastOwn += 1
      const id = `reeve/resumed/${this.#lastOwn}`
      this.#own.set(id, method)
      return JSON.stringify({ jsonrpc: '2.0', id, ...message })
    })
  }

  /** What the client is told once the session goes on. */
  news(): readonly string[] {
    return this.#session.news()
  }

  #note(message: JsonObject, line: Buffer | undefined): void {
    const { id, method } = message
    const params = isObject(message.params) ? message.params : {}
    if (isResponse(message)) this.#asked.delete(id ?? null)
    else if (isRequest(message)) this.#open.set(id ?? null, { method: String(method), params, line })
    else if (method === 'notifications/initialized') this.#session.initialized()
    // It is answered no more.
    else if (method === 'notifications/cancelled') this.#open.delete(params.requestId ?? null)
  }

  #receive(head: FrameHead, whole: () => JsonObject): Passing {
    switch (head.kind) {
      case 'response':
        return this.#answered(head.id, head.failed, whole)
      case 'request':
        this.#asked.add(head.id)
        return PASS
      case 'notification':
        return this.#notified(head.method, whole)
      case 'batch':
        for (const each of head.heads) if (each.kind === 'response') this.#open.delete(each.id)
        return PASS
      case 'other':
        return PASS
    }
  }

  #answered(id: JsonValue, failed: boolean, whole: () => JsonObject): Passing {
    const result = () => (isObject(whole().result) ? (whole().result as JsonObject) : {})
    const own = this.#own.get(id)
    if (own !== undefined) {
      this.#own.delete(id)
      if (own === 'initialize' && (failed || !this.#session.agreesWith(result()))) throw otherSession()
      return SWALLOW
    }
    const open = this.#open.get(id)
    // It ends with this broker, and will go on with the next one.
    if (open?.method === STAYS_OPEN && this.#leaving) return SWALLOW
    this.#open.delete(id)
    this.#reopened.delete(id)
    if (open !== undefined && !failed) this.#session.answered(open.method, open.params, result)
    return PASS
  }

  #notified(method: string, whole: () => JsonObject): Passing {
    const params = () => (isObject(whole().params) ? (whole().params as JsonObject) : {})
    if (method === GOODBYE) {
      this.#leaving = true
      return { kind: 'goodbye', reason: goodbyeReason(params()) }
    }
    if (method === 'notifications/cancelled') this.#asked.delete(params().requestId ?? null)
    if (method !== 'notifications/subscriptions/acknowledged' || this.#reopened.size === 0) return PASS
    const meta = isObject(params()._meta) ? params()._meta : undefined
    const id = isObject(meta) ? (meta[MODERN_META.subscriptionId] ?? null) : null
    return this.#reopened.delete(id) ? { kind: 'instead', lines: streamNews(id, params().notifications) } : PASS
  }
}

/** What a stream may have missed while it was broken, told as if it had happened now. */
function streamNews(id: JsonValue, agreed: JsonValue | undefined): readonly string[] {
  if (!isObject(agreed)) return []
  const { resourceSubscriptions: uris } = agreed
  const lists = ['tools', 'resources', 'prompts'].filter((what) => agreed[`${what}ListChanged`] === true)
  const tagged = (method: string, params: JsonObject = {}) =>
    JSON.stringify({ jsonrpc: '2.0', method, params: { ...params, _meta: { [MODERN_META.subscriptionId]: id } } })
  return [
    ...lists.map((what) => tagged(`notifications/${what}/list_changed`)),
    ...(Array.isArray(uris) ? uris.map((uri) => tagged('notifications/resources/updated', { uri })) : []),
  ]
}

function objectIn(line: Buffer): JsonObject {
  const value = JSON.parse(line.toString('utf8')) as JsonValue
  return isObject(value) ? value : {}
}

function otherSession(): BrokerError {
  return new BrokerError('broker_incompatible', "the broker can't carry this session on as it was agreed")
}
