import type { IncomingMessage, ServerResponse } from 'node:http'
import { RpcError } from '../../errors.js'
import {
  isNotification,
  isRequest,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type JsonValue,
  MODERN_REVISION,
  MODERN_RPC,
  namedRevision,
  RPC,
} from '../../protocol/index.js'
import { isModern, isServed, unsupportedRevision } from '../eras.js'
import { encodeAnswer, errorAnswer } from '../inbound.js'
import { type ModernRequest, requireEnvelope } from '../modern/request.js'
import { REFUSALS, type Refusal } from './answers.js'
import type { Principal } from './authentication.js'
import type { HttpLimits } from './limits.js'
import { ModernExchange } from './modern-exchange.js'
import { checkHeaders, checkParameters, REVISION_HEADER } from './modern-headers.js'
import { SESSION_HEADER } from './session-transport.js'

/** Answers modern requests. @throws RpcError and nothing else */
export type ModernAnswerer = (request: ModernRequest) => Promise<ModernRequest['params']>

export interface ModernEndpoint {
  readonly limits: HttpLimits
  readonly answerModern: ModernAnswerer
  readonly modernInFlight: InFlight
}

/** How many requests of each principal are being answered. */
export class InFlight {
  readonly #counts = new Map<string, number>()

  of(principal: string): number {
    return this.#counts.get(principal) ?? 0
  }

  add(principal: string): void {
    this.#counts.set(principal, this.of(principal) + 1)
  }

  delete(principal: string): void {
    const left = this.of(principal) - 1
    if (left > 0) this.#counts.set(principal, left)
    else this.#counts.delete(principal)
  }
}

/**
 * Whether a POST is of the modern era: its header or its message names a revision without handshake, or it is of no
 * session and no legacy client sends such a message. A revision that nobody knows counts as modern where the message says
 * so itself.
 */
export function isModernPost(request: IncomingMessage, message: JsonRpcMessage): boolean {
  if (isModernHeader(request)) return true
  if (!('method' in message)) return false
  return namedRevision(message.params) !== undefined || (!namesSession(request) && isModern(message))
}

function namesSession({ headers }: IncomingMessage): boolean {
  return headers[SESSION_HEADER] !== undefined
}

/** Whether a request without a body is one of the modern era. */
export function isModernHeader({ headers }: IncomingMessage): boolean {
  return headers[REVISION_HEADER] === MODERN_REVISION
}

/** One modern POST: a request by itself, without any session. Returns why it was refused, if it was. */
export function handleModernPost(
  request: IncomingMessage,
  response: ServerResponse,
  message: JsonRpcMessage,
  principal: Principal,
  endpoint: ModernEndpoint,
): Refusal | undefined {
  // None is defined for this transport; what others invented is none of ours.
  if (isNotification(message)) {
    response.writeHead(202).end()
    return undefined
  }
  if (!isRequest(message)) return REFUSALS.response
  void serve(request, response, message, principal, endpoint)
  return undefined
}

async function serve(
  { headers }: IncomingMessage,
  response: ServerResponse,
  message: JsonRpcRequest,
  principal: Principal,
  { limits, answerModern, modernInFlight }: ModernEndpoint,
): Promise<void> {
  const exchange = new ModernExchange(response, { plainMs: limits.plainMs, sse: limits })
  modernInFlight.add(principal.id)
  try {
    if (modernInFlight.of(principal.id) > limits.inFlight) throw tooManyRequests()
    checkHeaders(headers, message)
    const envelope = readEnvelope(message)
    const { id, method, params = {} } = message
    const result = await answerModern({
      id,
      method,
      params,
      envelope,
      principal: principal.id,
      signal: exchange.signal,
      notify: (notification, sent) => exchange.notify(notification, sent),
      checkParameters: (inputSchema, args) => checkParameters(headers, inputSchema, args),
    })
    exchange.answer(encodeAnswer({ jsonrpc: '2.0', id, result }), 200)
  } catch (error) {
    const { code, message: text, data } = bodyOf(error)
    exchange.answer(encodeAnswer(errorAnswer(message.id, code, text, data)), statusOf(error))
  } finally {
    modernInFlight.delete(principal.id)
  }
}

/** Marks an error of the request's form, which is answered with 400 whatever its code is. */
class MalformedRequest extends RpcError {}

function readEnvelope(message: JsonRpcRequest): ReturnType<typeof requireEnvelope> {
  try {
    return requireEnvelope(message)
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    throw new MalformedRequest(error.rpcCode, error.message, error.rpcData)
  }
}

function bodyOf(error: unknown): { code: number; message: string; data?: JsonValue } {
  if (!(error instanceof RpcError)) return { code: RPC.internalError, message: 'Internal error' }
  const { rpcCode, message, rpcData } = error
  return { code: rpcCode, message, ...(rpcData !== undefined && { data: rpcData as JsonValue }) }
}

const STATUS: ReadonlyMap<number, number> = new Map([
  [RPC.methodNotFound, 404],
  [MODERN_RPC.headerMismatch, 400],
  [MODERN_RPC.missingRequiredClientCapability, 400],
  [MODERN_RPC.unsupportedProtocolVersion, 400],
])

function statusOf(error: unknown): number {
  if (!(error instanceof RpcError)) return 500
  if (error instanceof MalformedRequest) return 400
  if (isPassing(error)) return 503
  return STATUS.get(error.rpcCode) ?? 200
}

/** A fault of this side, not a server's, that another attempt may not meet. */
function isPassing({ key, rpcData }: RpcError): boolean {
  if (key !== undefined || typeof rpcData !== 'object' || rpcData === null) return false
  return ['limit_exceeded', 'closed'].includes(String(Reflect.get(rpcData, 'code')))
}

function tooManyRequests(): RpcError {
  return new RpcError(RPC.internalError, 'Too many requests of this principal are in progress', {
    code: 'limit_exceeded',
  })
}

/** Why a request of a session is refused that names a revision without sessions, or one that nobody knows. */
export function unservedRevision(header: string | string[] | undefined): Refusal | undefined {
  if (typeof header !== 'string' || isServed(header)) return undefined
  return { status: 400, ...unsupportedRevision(header) }
}
