import { ProtocolViolationError } from '../../errors.js'
import { classifyExecMessage, type ExecId } from '../../protocol/index.js'
import { parseStrictJson } from './strict-json.js'

/** What a client can send (reference: executor-protocol, 3). */
export type Frame =
  | { readonly kind: 'request'; readonly id: ExecId; readonly method: string; readonly params: unknown }
  | { readonly kind: 'notification'; readonly method: string }
  | { readonly kind: 'response' }
  | { readonly kind: 'malformed'; readonly reason: string }

export type Members = Readonly<Record<string, unknown>>

/** Reads one message; never raises. */
export function readFrame(text: string): Frame {
  let value: unknown
  try {
    value = parseStrictJson(text)
  } catch (error) {
    return { kind: 'malformed', reason: error instanceof ProtocolViolationError ? error.message : 'unreadable' }
  }
  const classified = classifyExecMessage(value)
  switch (classified.kind) {
    case 'request': {
      const { id, method, params } = classified.message
      return { kind: 'request', id, method, params }
    }
    case 'notification':
      return { kind: 'notification', method: classified.message.method }
    case 'result':
    case 'error':
      return { kind: 'response' }
    case 'malformed':
      return { kind: 'malformed', reason: `the message is ${classified.reason}` }
  }
}

/** An object, not an array. */
export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A member that the sender wrote: nothing of `Object.prototype`. */
export function own(value: Members, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined
}
