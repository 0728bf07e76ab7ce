import type { JsonObject, JsonValue } from '../../../../src/protocol/index.js'
import { type Era, RefusedError } from '../clients/client.js'

/** How one request is answered. */
export interface Exchange {
  /** Sends a notification that belongs to the request. */
  notify(method: string, params: JsonObject): void
  /** Asks the client; old servers only, new ones answer with their questions. */
  ask(method: string, params: JsonObject): Promise<JsonObject>
  /** Sends a notification to those who listen. */
  announce(method: string, params: JsonObject): void
}

export interface Script {
  /** The members of the introduction beside the revision. */
  readonly hello: JsonObject
  respond(method: string, params: JsonObject, exchange: Exchange): Promise<Outcome>
}

export type Outcome = { readonly result: JsonObject } | { readonly error: JsonObject }

/** Where the answer to a message goes: a pipe, or the stream of one HTTP request. */
export type Send = (message: JsonObject) => void

interface Listener {
  readonly send: Send
  /** Of the request that listens; undefined for old clients, who just hear. */
  readonly subscription: JsonValue | undefined
}

const OWN = 'io.modelcontextprotocol/'
const CACHEABLE = /^(server\/discover|(tools|prompts|resources|resources\/templates)\/list|resources\/read)$/

/** A server of either era whose every word the test has written, without any library that could lose one. */
export class ScriptedServer {
  /** Everything that came, as it came. */
  readonly received: { readonly method: string; readonly params: JsonObject }[] = []
  readonly era: Era
  readonly #script: Script
  readonly #listeners = new Set<Listener>()
  readonly #asked = new Map<JsonValue, (answer: JsonObject) => void>()
  #last = 0

  constructor(era: Era, script: Script) {
    this.era = era
    this.#script = script
  }

  /** The params of the last message of this method. */
  last(method: string): JsonObject | undefined {
    return this.received.findLast((message) => message.method === method)?.params
  }

  /** Resolves when the message needs nothing more. */
  async receive(message: JsonObject, send: Send): Promise<void> {
    const { id, method, params = {} } = message
    if (typeof method !== 'string') return this.#asked.get(id ?? null)?.(message)
    this.received.push({ method, params: params as JsonObject })
    if (id === undefined) return
    if (method === 'subscriptions/listen') return this.#listen(id, params as JsonObject, send)
    send({ jsonrpc: '2.0', id, ...(await this.#answer(method, params as JsonObject, send)) })
  }

  /** Adds one who hears announcements. Returns how to take it away. */
  listen(send: Send, subscription?: JsonValue): () => void {
    const listener = { send, subscription }
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** What a question was refused with is what its request comes to. */
  async #respond(method: string, params: JsonObject, exchange: Exchange): Promise<Outcome> {
    try {
      return await this.#script.respond(method, params, exchange)
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error
      return { error: error.body }
    }
  }

  /** Asks whoever listens, outside any request; old servers only. */
  askListener(method: string, params: JsonObject): Promise<JsonObject> {
    const [listener, more] = this.#listeners
    if (listener === undefined || more !== undefined) throw new Error(`${this.#listeners.size} listen`)
    return this.#ask(method, params, listener.send)
  }

  /** Tells all who listen. */
  announce(method: string, params: JsonObject): void {
    for (const { send, subscription } of this.#listeners) {
      const _meta = { ...(params._meta as JsonObject | undefined), [`${OWN}subscriptionId`]: subscription ?? null }
      send({ jsonrpc: '2.0', method, params: subscription === undefined ? params : { ...params, _meta } })
    }
  }

  async #answer(method: string, params: JsonObject, send: Send): Promise<Outcome> {
    if (method === (this.era === 'old' ? 'initialize' : 'server/discover')) return { result: this.#hello() }
    if (method === 'initialize' || method === 'server/discover' || method === 'ping') return NO_METHOD
    const outcome = await this.#respond(method, params, {
      notify: (notified, sent) => send({ jsonrpc: '2.0', method: notified, params: sent }),
      ask: (asked, sent) => this.#ask(asked, sent, send),
      announce: (announced, sent) => this.announce(announced, sent),
    })
    if (this.era === 'old' || 'error' in outcome) return outcome
    return { result: { ...outcome.result, resultType: outcome.result.resultType ?? 'complete', ...cacheHint(method) } }
  }

  #hello(): JsonObject {
    if (this.era === 'old') return { protocolVersion: '2025-11-25', ...this.#script.hello }
    const { serverInfo, _meta, ...hello } = this.#script.hello
    const meta = { ...(_meta as JsonObject | undefined), [`${OWN}serverInfo`]: serverInfo ?? {} }
    return {
      supportedVersions: ['2026-07-28'],
      ...hello,
      _meta: meta,
      resultType: 'complete',
      ...cacheHint('server/discover'),
    }
  }

  #ask(method: string, params: JsonObject, send: Send): Promise<JsonObject> {
    this.#last += 1
    const id = `ask-${this.#last}`
    send({ jsonrpc: '2.0', id, method, params })
    return new Promise((resolve, reject) => {
      this.#asked.set(id, ({ result, error }) =>
        result === undefined ? reject(new RefusedError(method, error as JsonObject)) : resolve(result as JsonObject),
      )
    })
  }

  #listen(id: JsonValue, { notifications }: JsonObject, send: Send): void {
    this.listen(send, id)
    const params = { notifications: notifications ?? {}, _meta: { [`${OWN}subscriptionId`]: id } }
    send({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params })
  }
}

const NO_METHOD = { error: { code: -32601, message: 'Method not found' } } as const

function cacheHint(method: string): JsonObject {
  return CACHEABLE.test(method) ? { ttlMs: 0, cacheScope: 'private' } : {}
}
