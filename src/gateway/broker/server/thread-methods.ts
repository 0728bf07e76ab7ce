import type { InboundRequest, JsonObject, JsonValue, Peer } from '../../../protocol/index.js'
import type { CallOptions, Listing, ServerSelector, Thread } from '../../../threads/index.js'
import { callOptions } from '../../relay/call-options.js'
import { optionalObject } from '../../relay/params.js'
import {
  fromWire,
  type ListKind,
  statusToWire,
  stepToWire,
  type ThreadMethod,
  toWire,
  type WireCallOptions,
  type WireListAll,
} from '../wire/thread-shapes.js'
import { StepShelf } from './step-shelf.js'

/** `call` is the first argument of the thread's own method; the second comes as `options`. */
export type WireMethod = (call: JsonObject, options: CallOptions) => Promise<JsonObject>

type Selected<Given> = ServerSelector & Given

/** What one client may ask of its thread, once it is started. */
export function threadMethods(thread: Thread): ReadonlyMap<string, WireMethod> {
  const steps = new StepShelf()
  const { resources, prompts } = thread
  const listing = (call: JsonObject): Listing => {
    const listings: Record<ListKind, Listing> = { resources, templates: resources.templates, prompts }
    return listings[fromWire<ListKind>(call.kind)]
  }
  const clientOf = (call: JsonObject, { signal }: CallOptions) =>
    thread.client(fromWire<ServerSelector>(call), signal === undefined ? {} : { signal })
  const methods: Record<Exclude<ThreadMethod, 'thread/start'>, WireMethod> = {
    'thread/step': async ({ wait }, { signal }) => {
      const how = wait === undefined ? {} : { wait: fromWire<'grace' | 'none' | 'all'>(wait) }
      const step = await thread.step({ ...how, ...(signal && { signal }) })
      return toWire(stepToWire(steps.add(step), step, thread.servers()))
    },
    'step/call': async ({ step, ...call }, options) => steps.get(step).call(fromWire(call), options),
    'step/callFlat': async ({ step, flat, arguments: args, _meta }, options) =>
      steps.get(step).callFlat(fromWire(flat), args, { ...options, ...(_meta && { _meta: fromWire(_meta) }) }),
    'thread/callTool': (call, options) => thread.callTool(fromWire<Selected<{ tool: string }>>(call), options),
    'thread/approvalOf': async (call, { signal }) =>
      toWire(await thread.approvalOf(fromWire<Selected<{ tool: string }>>(call), signal ? { signal } : {})),
    'thread/complete': (call, options) => thread.complete(fromWire<Selected<{ params: JsonObject }>>(call), options),
    'thread/setLogLevel': ({ level }) => done(thread.setLogLevel(fromWire(level))),
    'thread/rootsChanged': () => done(thread.rootsChanged()),
    'thread/client': async (call, options) => {
      const { key, client } = await clientOf(call, options)
      const { era, protocolVersion, serverInfo, capabilities, instructions, further } = client
      const servers = thread.servers().map(statusToWire)
      return toWire({ key, era, protocolVersion, serverInfo, capabilities, instructions, further, servers })
    },
    'client/request': async ({ at, method, params }, options) => {
      const { client } = await clientOf(fromWire(at), options)
      return client.request(fromWire(method), fromWire(params), options)
    },
    'client/notify': async ({ at, method, params }, options) => {
      const { client } = await clientOf(fromWire(at), options)
      return done(client.notify(fromWire(method), fromWire(params)))
    },
    'list/page': async (call, options) => toWire(await listing(call).list(fromWire<ServerSelector>(call), options)),
    'list/all': async (call, options) => {
      const { wait, withinMs } = fromWire<WireListAll>(call)
      const how = { ...(wait && { wait }), ...(withinMs !== undefined && { withinMs }) }
      return toWire(await listing(call).listAll({ ...options, ...how }))
    },
    'resources/read': (call, options) => resources.read(fromWire<Selected<{ uri: string }>>(call), options),
    'resources/subscribe': (call, options) =>
      done(resources.subscribe(fromWire<Selected<{ uri: string }>>(call), options)),
    'resources/unsubscribe': (call, options) =>
      done(resources.unsubscribe(fromWire<Selected<{ uri: string }>>(call), options)),
    'prompts/get': (call, options) => prompts.get(fromWire<Selected<{ name: string }>>(call), options),
  }
  return new Map(Object.entries(methods))
}

/** What goes along with a client's request: its own options, its cancellation, its progress, its number as the origin. */
export function wireOptions(
  peer: Peer,
  params: JsonObject,
  request: InboundRequest,
  onFault: (error: unknown) => void,
): CallOptions {
  const given = fromWire<WireCallOptions | undefined>(optionalObject(params, 'options'))
  return { ...given, ...callOptions(peer, params, request, onFault) }
}

async function done(action: Promise<void>): Promise<{ [member: string]: JsonValue }> {
  await action
  return {}
}
