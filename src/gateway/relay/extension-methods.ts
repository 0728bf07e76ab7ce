import type { ReadyClient, ServerStatus } from '../../connections/index.js'
import { RpcError } from '../../errors.js'
import { compareSerialised, type ServerKey } from '../../identity/index.js'
import { type JsonObject, type JsonValue, LIMITS, RPC } from '../../protocol/index.js'
import type { Thread } from '../../threads/index.js'
import type { ResultForm } from '../bridge/index.js'
import { TASKS_EXTENSION } from '../tasks/index.js'
import type { OwnedUri } from '../uris.js'
import { outgoingMeta } from './call-meta.js'
import { qualifyEveryUri } from './content.js'
import { APPS_EXTENSION } from './handshake.js'
import { isObject, optionalObject } from './params.js'
import { callOptionsOf, type RelayOptions } from './relay-options.js'
import type { ResourcesRelay } from './resources.js'

const REQUEST_TIMEOUT = 300_000

/** Extensions whose methods have a place of their own. */
const KNOWN: readonly string[] = [TASKS_EXTENSION, APPS_EXTENSION]

/**
 * Methods of extensions that nobody here knows. One that names a resource goes to the server of that resource, under the
 * server's own URI; what remains goes to the only server that has extensions at all, and a listing to all that have, as
 * one. URIs in what comes back are qualified, for the client will give them back.
 */
export class ExtensionMethods {
  readonly #thread: Thread
  readonly #resources: ResourcesRelay
  readonly #form: ResultForm

  constructor(thread: Thread, resources: ResourcesRelay, form: ResultForm) {
    this.#thread = thread
    this.#resources = resources
    this.#form = form
  }

  /** @throws RpcError -32601 when no server has extensions, or several have and none is named */
  async answer(method: string, params: JsonObject, options: RelayOptions): Promise<JsonObject> {
    const servers = this.#thread
      .servers()
      .filter(hasExtensions)
      .map(({ key }) => key)
    if (servers.length === 0) throw methodNotFound(method, 'no server here has it')
    const [only, ...others] = servers
    const isOnly = only !== undefined && others.length === 0
    if (typeof params.uri === 'string') {
      const owned = await this.#owned(method, params.uri, options)
      if (!(owned instanceof RpcError)) return this.#send(owned.key, method, { ...params, uri: owned.uri }, options)
      if (!isOnly) throw owned
    }
    if (isOnly) return this.#send(only, method, params, options)
    if (!method.endsWith('/list'))
      throw methodNotFound(method, 'several servers can have it, and none is named by a URI')
    return this.#listAll(servers.sort(compareSerialised), method, params, options)
  }

  /** Whose the URI is, or why the method has no server: it need not be the URI of a resource. */
  async #owned(method: string, uri: string, options: RelayOptions): Promise<OwnedUri | RpcError> {
    try {
      return await this.#resources.ownerOf(uri, callOptionsOf(options))
    } catch (error) {
      if (!(error instanceof RpcError) || error.rpcCode !== RPC.invalidParams) throw error
      return methodNotFound(method, error.message, error.rpcData)
    }
  }

  async #send(key: ServerKey, method: string, params: JsonObject, options: RelayOptions): Promise<JsonObject> {
    const { client } = await this.#thread.client({ server: key.name, environment: key.environment }, options)
    await options.onBound?.(key)
    const result = await request(client, method, params, options)
    return this.#form.relayed(client.era, method, qualifyEveryUri(key, result))
  }

  /** Lists of one name joined, in the order of the servers; what else a result holds is the first one's. */
  async #listAll(
    servers: readonly ServerKey[],
    method: string,
    params: JsonObject,
    options: RelayOptions,
  ): Promise<JsonObject> {
    const { cursor: _, ...first } = params
    const listed = await Promise.allSettled(servers.map((key) => this.#everyPage(key, method, first, options)))
    options.signal?.throwIfAborted()
    const results = listed.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    const [failed] = listed.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
    if (results.length === 0) throw failed ?? methodNotFound(method, 'no server here has it')
    return results.reduce(joinLists)
  }

  async #everyPage(key: ServerKey, method: string, params: JsonObject, options: RelayOptions): Promise<JsonObject> {
    let whole: JsonObject = {}
    const seen = new Set<JsonValue | undefined>()
    for (let cursor: JsonValue | undefined; seen.size < LIMITS.listPages; ) {
      const { nextCursor, ...page } = await this.#send(
        key,
        method,
        { ...params, ...(cursor !== undefined && { cursor }) },
        options,
      )
      whole = joinLists(whole, page)
      if (typeof nextCursor !== 'string' || seen.has(nextCursor)) break
      seen.add(nextCursor)
      cursor = nextCursor
    }
    return whole
  }
}

function request(client: ReadyClient, method: string, params: JsonObject, options: RelayOptions): Promise<JsonObject> {
  const { _meta, ...rest } = params
  const meta = outgoingMeta(optionalObject(params, '_meta'))
  const { params: _, ...requestOptions } = callOptionsOf(options)
  const sent = { ...rest, ...(meta && { _meta: meta }) }
  return client.request(method, sent, { timeoutMs: REQUEST_TIMEOUT, ...requestOptions })
}

function hasExtensions({ status, capabilities }: ServerStatus): boolean {
  const extensions = capabilities?.extensions
  if (status !== 'connected' || !isObject(extensions)) return false
  return Object.keys(extensions).some((name) => !KNOWN.includes(name))
}

function joinLists(first: JsonObject, second: JsonObject): JsonObject {
  const joined = { ...second, ...first }
  for (const [member, list] of Object.entries(second)) {
    const before = first[member]
    if (Array.isArray(before) && Array.isArray(list)) joined[member] = [...before, ...list]
  }
  return joined
}

function methodNotFound(method: string, why: string, data?: unknown): RpcError {
  return new RpcError(RPC.methodNotFound, `Method not found: ${method.slice(0, 200)}: ${why}`, data)
}
