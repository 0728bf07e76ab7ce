import type { ReadyClient, ServerStatus } from '../../../connections/index.js'
import type { ServerKey } from '../../../identity/index.js'
import type { JsonObject, JsonValue } from '../../../protocol/index.js'
import type {
  CallOptions,
  ListAllOptions,
  Namespace,
  Step,
  StepTool,
  ThreadEvent,
  ThreadOptions,
} from '../../../threads/index.js'
import { errorFromWire, errorToWire } from './remote-errors.js'

/**
 * What a thread gives and takes, as JSON between the broker and its clients. Both ends are halves of one protocol version
 * and have proved themselves to each other, so shapes are taken as they come.
 */

/** What a thread can be asked, by JSON-RPC method. */
export type ThreadMethod =
  | 'thread/start'
  | 'thread/step'
  | 'thread/callTool'
  | 'thread/approvalOf'
  | 'thread/complete'
  | 'thread/client'
  | 'thread/setLogLevel'
  | 'thread/rootsChanged'
  | 'step/call'
  | 'step/callFlat'
  | 'list/page'
  | 'list/all'
  | 'resources/read'
  | 'resources/subscribe'
  | 'resources/unsubscribe'
  | 'prompts/get'
  | 'client/request'
  | 'client/notify'

/** What the broker asks and tells its client. */
export const ASK = 'thread/ask'
export const APPROVE = 'thread/approve'
export const EVENT = 'thread/event'

export type ListKind = 'resources' | 'templates' | 'prompts'

/** Options of a call that cross the socket; its signal, progress and origin are told by the frames themselves. */
export type WireCallOptions = Pick<CallOptions, 'timeoutMs' | 'inputRequired' | 'params' | 'logLevel'>

/** How long a listing over all servers waits. */
export type WireListAll = { readonly kind: ListKind } & Pick<ListAllOptions, 'wait' | 'withinMs'>

/** Thread options without functions, and whether the client has these. */
export interface WireStart
  extends Omit<
    ThreadOptions,
    'onRequest' | 'onEvent' | 'onApproval' | 'reviewer' | 'hooks' | 'onHook' | 'elicitations'
  > {
  readonly answers: boolean
  readonly approves: boolean
}

export interface WireStarted {
  readonly id: string
  readonly servers: readonly WireStatus[]
}

export type WireStatus = Omit<ServerStatus, 'error'> & { readonly error?: JsonObject }

export interface WireStep {
  readonly step: number
  readonly tools: readonly StepTool[]
  /** `tools` are places in the step's. */
  readonly namespaces: readonly (Omit<Namespace, 'tools'> & { readonly tools: readonly number[] })[]
  readonly cacheHint: Step['cacheHint']
  readonly servers: readonly WireStatus[]
}

export interface WireClient extends Omit<ReadyClient, 'request' | 'notify'> {
  readonly key: ServerKey
  readonly servers: readonly WireStatus[]
}

/** `origin` of a notification is the number of the request that it belongs to. */
export interface WireEvent {
  readonly event: ThreadEvent
  /** As things are after the event, where it changed them. */
  readonly servers?: readonly WireStatus[]
}

export function toWire(value: object): JsonObject {
  return value as JsonObject
}

export function fromWire<Shape>(value: JsonValue | undefined): Shape {
  return value as Shape
}

export function stepToWire(number: number, step: Step, servers: readonly ServerStatus[]): WireStep {
  const places = new Map(step.tools.map((tool, place) => [tool, place]))
  return {
    step: number,
    tools: step.tools,
    namespaces: step.namespaces.map(({ tools, ...namespace }) => ({
      ...namespace,
      tools: tools.flatMap((tool) => places.get(tool) ?? []),
    })),
    cacheHint: step.cacheHint,
    servers: servers.map(statusToWire),
  }
}

export function statusToWire({ error, ...row }: ServerStatus): WireStatus {
  return { ...row, ...(error && { error: errorToWire(error) }) }
}

export function statusFromWire({ error, ...row }: WireStatus): ServerStatus {
  return Object.freeze({ ...row, ...(error && { error: errorFromWire(error) }) })
}
