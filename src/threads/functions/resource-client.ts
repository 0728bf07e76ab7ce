import {
  type CapturedServer,
  DEFAULT_TOOL_TIMEOUT,
  type ListMethod,
  type ReadyClient,
} from '../../connections/index.js'
import { NotConnectedError, ProtocolViolationError, ReeveError } from '../../errors.js'
import { compareKeys, type ServerKey, ServerKeyMap } from '../../identity/index.js'
import type { JsonObject, JsonValue } from '../../protocol/index.js'
import { allPages, hasCapability, type ListKind, pageOf } from '../server-pages.js'
import type { CallOptions, ListPage } from '../types.js'
import { type Asked, failed, unavailable } from './failures.js'
import type { LeftOut } from './left-out.js'

/** What a function may say about its requests. */
export type RequestLimits = Pick<CallOptions, 'signal' | 'timeoutMs' | 'onProgress' | 'origin' | 'logLevel'>

export interface ResourceClientHost {
  /** A server of the thread, up; waits for its startup. */
  ready(key: ServerKey, signal: AbortSignal | undefined): Promise<ReadyClient>
  readonly leftOut: LeftOut
}

/**
 * Resources over the clients that a step captured (reference: tool-calls, 9.7). Requests about one server use its
 * captured client, else wait for the server; those about all use the captured connections, as far as they are up by then,
 * and wait for none.
 */
export class ResourceClient {
  readonly #servers: ServerKeyMap<CapturedServer>
  readonly #host: ResourceClientHost

  constructor(servers: readonly CapturedServer[], host: ResourceClientHost) {
    this.#servers = new ServerKeyMap(servers.map((server) => [server.key, server] as const))
    this.#host = host
  }

  /** @throws ResourceFunctionError */
  async listPage(
    list: ListMethod,
    key: ServerKey,
    cursor: string | undefined,
    limits: RequestLimits,
  ): Promise<ListPage> {
    const params: JsonObject = cursor === undefined ? {} : { cursor }
    return this.#ask({ method: list.method, key }, params, limits, (result) => {
      const page = pageOf(key, list, result)
      refuseUnwritable(page.items, key, list.method)
      return page
    })
  }

  /** @throws ResourceFunctionError */
  async read(key: ServerKey, uri: string, limits: RequestLimits): Promise<readonly JsonValue[]> {
    return this.#ask({ method: 'resources/read', key, uri }, { uri }, limits, (result) => contentsOf(key, result))
  }

  /** By name, then environment. Servers that can't be asked or fail are left out, and told of. */
  async listAll(kind: ListKind, limits: RequestLimits): Promise<readonly ListPage[]> {
    const servers = this.#servers.values().sort((a, b) => compareKeys(a.key, b.key))
    const listed = await Promise.all(servers.map((server) => this.#listed(server, kind, limits)))
    return listed.filter((page) => page !== undefined)
  }

  async #listed(server: CapturedServer, kind: ListKind, limits: RequestLimits): Promise<ListPage | undefined> {
    const { key, error } = server
    const { method } = kind.list
    try {
      const client = server.client ?? server.clientNow()
      if (client === undefined) throw error ?? new NotConnectedError(key)
      if (!hasCapability(client, kind.capability)) return undefined
      const outage = server.outage()
      if (outage !== undefined) throw outage
      const page = await allPages(key, client, kind.list, requestOptions(limits))
      refuseUnwritable(page.items, key, method)
      this.#host.leftOut.isWell(key, method)
      return { key, ...page }
    } catch (cause) {
      if (limits.signal?.aborted === true || !(cause instanceof ReeveError)) throw cause
      this.#host.leftOut.report(key, method, cause)
      return undefined
    }
  }

  async #ask<T>(asked: Asked, params: JsonObject, limits: RequestLimits, read: (result: JsonObject) => T): Promise<T> {
    const client = await this.#client(asked, limits)
    try {
      return read(await client.request(asked.method, params, this.#options(asked.key, limits)))
    } catch (error) {
      throw limits.signal?.aborted !== true && error instanceof ReeveError ? failed(asked, error) : error
    }
  }

  async #client(asked: Asked, { signal }: RequestLimits): Promise<ReadyClient> {
    const captured = this.#servers.get(asked.key)?.client
    if (captured !== undefined) return captured
    try {
      return await this.#host.ready(asked.key, signal)
    } catch (error) {
      throw signal?.aborted !== true && error instanceof ReeveError ? unavailable(asked, error) : error
    }
  }

  #options(key: ServerKey, limits: RequestLimits): RequestLimits {
    const own = this.#servers.get(key)?.config.toolTimeoutMs ?? DEFAULT_TOOL_TIMEOUT
    const { timeoutMs = own } = limits
    return { ...requestOptions(limits), timeoutMs: Math.min(own, timeoutMs) }
  }
}

/** Input that a server asks for is answered below, and nothing of the caller's goes out with the request. */
function requestOptions({ signal, onProgress = ignore, origin, logLevel }: RequestLimits) {
  return { signal, onProgress, origin, ...(logLevel !== undefined && { logLevel }) }
}

/** Each request carries a progress token, as in the reference (tool-calls, 5.3). */
function ignore(): void {
  // Nobody asked.
}

function contentsOf(key: ServerKey, { contents }: JsonObject): readonly JsonValue[] {
  const place = 'resources/read'
  if (!Array.isArray(contents)) throw new ProtocolViolationError(`${place} answered without 'contents'`, { key, place })
  refuseUnwritable(contents, key, place)
  return contents
}

/** What is nested without end can be read, but not written again. */
function refuseUnwritable(answer: readonly JsonValue[], key: ServerKey, place: string): void {
  try {
    JSON.stringify(answer)
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    throw new ProtocolViolationError(`${place} answered with what is nested too deep`, { key, place, cause })
  }
}
