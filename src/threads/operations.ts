import type { AuditRecord } from '../authority/index.js'
import { InvalidArgumentsError } from '../errors.js'
import type { JsonObject } from '../protocol/index.js'
import { listing } from './listing.js'
import { callersMeta } from './meta.js'
import { type ListingHost, PROMPTS, RESOURCES, TEMPLATES } from './server-pages.js'
import type { CallOptions, Prompts, Resources, ServerSelector } from './types.js'

/** Milliseconds for a read, a prompt, a completion (reference: README, constants). */
export const OPERATION_TIMEOUT = 300_000

/** A request that calls no tool. */
export interface Operation {
  readonly kind: Exclude<AuditRecord['operation'], 'tool' | 'function'>
  readonly method: string
  /** What it is recorded as. */
  readonly name: string
  readonly params: JsonObject
}

/** Makes a request of one server, once that is up, and has it recorded. */
export type Requester = (selector: ServerSelector, operation: Operation, options: CallOptions) => Promise<JsonObject>

type AtUri = ServerSelector & { readonly uri: string; readonly _meta?: JsonObject }

export function resourcesOf(host: ListingHost, request: Requester): Resources {
  const send = async (
    method: string,
    { uri, _meta, ...selector }: AtUri,
    { params: more, ...options }: CallOptions = {},
  ) => {
    const params = { ...more, uri, ...(_meta && { _meta: callersMeta(_meta) }) }
    return request(selector, { kind: 'resource', method, name: method, params }, options)
  }
  return Object.freeze({
    ...listing(host, RESOURCES),
    templates: listing(host, TEMPLATES),
    read: async (at: AtUri, options?: CallOptions) => {
      refuseReserved(at._meta)
      return send('resources/read', at, options)
    },
    subscribe: async (at: AtUri, options?: CallOptions) => {
      await send('resources/subscribe', at, options)
    },
    unsubscribe: async (at: AtUri, options?: CallOptions) => {
      await send('resources/unsubscribe', at, options)
    },
  })
}

/** What says on whose behalf a request is made is never the caller's to say. */
function refuseReserved(meta: JsonObject | undefined): void {
  if (meta === undefined || !Object.hasOwn(meta, THREAD_ID)) return
  throw new InvalidArgumentsError(`reserved resource read metadata key: ${THREAD_ID}`, {
    place: 'resources/read _meta',
  })
}

const THREAD_ID = 'threadId'

export function promptsOf(host: ListingHost, request: Requester): Prompts {
  return Object.freeze({
    ...listing(host, PROMPTS),
    get: async (
      { name, arguments: args, _meta, ...selector }: Parameters<Prompts['get']>[0],
      { params: more, ...options }: CallOptions = {},
    ) => {
      const params = { ...more, name, ...(args && { arguments: args }), ...(_meta && { _meta: callersMeta(_meta) }) }
      return request(selector, { kind: 'prompt', method: 'prompts/get', name, params }, options)
    },
  })
}
