import type { JsonObject } from '../../../protocol/index.js'
import type {
  AllPages,
  CallOptions,
  ListAllOptions,
  Listing,
  ListPage,
  Prompts,
  Resources,
} from '../../../threads/index.js'
import type { ListKind, WireListAll } from '../wire/thread-shapes.js'
import type { RemoteCalls } from './remote-calls.js'

/** Resources of a thread that lives in the broker. */
export function remoteResources(calls: RemoteCalls): Resources {
  const done = async (action: Promise<unknown>): Promise<void> => {
    await action
  }
  return Object.freeze({
    ...remoteListing(calls, 'resources'),
    templates: remoteListing(calls, 'templates'),
    read: (at: Parameters<Resources['read']>[0], options?: CallOptions) =>
      calls.request<JsonObject>('resources/read', at, options),
    subscribe: (at: Parameters<Resources['subscribe']>[0], options?: CallOptions) =>
      done(calls.request('resources/subscribe', at, options)),
    unsubscribe: (at: Parameters<Resources['unsubscribe']>[0], options?: CallOptions) =>
      done(calls.request('resources/unsubscribe', at, options)),
  })
}

/** Prompts of a thread that lives in the broker. */
export function remotePrompts(calls: RemoteCalls): Prompts {
  return Object.freeze({
    ...remoteListing(calls, 'prompts'),
    get: (at: Parameters<Prompts['get']>[0], options?: CallOptions) =>
      calls.request<JsonObject>('prompts/get', at, options),
  })
}

function remoteListing(calls: RemoteCalls, kind: ListKind): Listing {
  return Object.freeze({
    list: (at: Parameters<Listing['list']>[0], options?: CallOptions) =>
      calls.request<ListPage>('list/page', { ...at, kind }, options),
    listAll: ({ wait, withinMs, ...options }: ListAllOptions = {}) => {
      const how: WireListAll = { kind, ...(wait && { wait }), ...(withinMs !== undefined && { withinMs }) }
      return calls.request<AllPages>('list/all', how, options)
    },
  })
}
