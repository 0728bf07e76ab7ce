import type { HttpResponse } from '../../environments/index.js'
import {
  AuthRequiredError,
  HttpStatusError,
  InsufficientScopeError,
  ProtocolViolationError,
  SessionExpiredError,
} from '../../errors.js'
import { isRequest, type JsonRpcMessage, LIMITS } from '../../protocol/index.js'
import { EVENTS_TYPE, JSON_TYPE, mediaType } from './media-type.js'
import { challengeOf, type Performed } from './operations.js'
import { type BodyPrefix, discard, readPrefix, readText } from './read-body.js'
import { isErrorResponse, readMessages } from './read-messages.js'
import { isRepeatable, isTransient } from './retries.js'
import { saysSessionIsLost } from './session-loss.js'
import { contentTypeError, statusError, statusErrorOf } from './status-error.js'
import type { Timers } from './timers.js'
import { insufficientScope } from './www-authenticate.js'

export type PostAnswer =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'messages'; readonly messages: readonly JsonRpcMessage[] }
  | { readonly kind: 'events'; readonly response: HttpResponse }

export interface Posted {
  readonly message: JsonRpcMessage
  readonly hadSession: boolean
  /** It brought its own header fields, and needs no session. */
  readonly standsAlone?: boolean
  readonly signal: AbortSignal
}

/**
 * What the answer to a POST means, by the rules of the reference (connections, 10.4) in their order. Throws
 * `SessionExpiredError`, `AuthRequiredError`, `InsufficientScopeError`, `HttpStatusError`, `LimitExceededError`,
 * `ProtocolViolationError`, or what the body's connection failed with.
 */
export async function readPostAnswer(performed: Performed, posted: Posted, timers: Timers): Promise<PostAnswer> {
  const { response } = performed
  const { status } = response
  refuseExpiredSession(performed, posted.hadSession)
  refuseUnauthorized(performed)
  if (status === 202 || status === 204) {
    void discard(response, timers)
    return { kind: 'accepted' }
  }
  if (status < 200 || status > 299) return readRefusal(performed, posted, timers)
  const type = mediaType(response.header('content-type'))
  if (type === EVENTS_TYPE) return { kind: 'events', response: readable(performed) }
  if (!isRequest(posted.message)) {
    // Nothing has to come back for it: a server that says "ok" in another way has taken it.
    void discard(response, timers)
    return { kind: 'accepted' }
  }
  if (type === JSON_TYPE) return readJson(performed, posted)
  throw await contentTypeError(performed, timers, posted.signal)
}

function refuseExpiredSession({ response, place }: Performed, hadSession: boolean): void {
  if (response.status !== 404 || !hadSession) return
  response.cancel()
  throw new SessionExpiredError({ place })
}

export function refuseUnauthorized({ response, place }: Performed): void {
  const challenge = challengeOf(response)
  if (response.status === 401 && challenge !== undefined) {
    response.cancel()
    throw new AuthRequiredError(`${place} wants authorization (HTTP 401)`, { place, challenge })
  }
  const asked = response.status === 403 ? insufficientScope(response.headerAll('www-authenticate')) : undefined
  if (asked !== undefined) {
    response.cancel()
    throw new InsufficientScopeError({ place, ...asked, data: { challenge } })
  }
}

async function readRefusal(performed: Performed, posted: Posted, timers: Timers): Promise<PostAnswer> {
  const { response, place } = performed
  const { status } = response
  const { message, hadSession, standsAlone = false, signal } = posted
  const isJson = mediaType(response.header('content-type')) === JSON_TYPE
  if (!isJson || (isTransient(status) && isRepeatable(message))) throw await statusError(performed, timers, signal)
  const prefix = await readPrefix(response, LIMITS.rpcErrorBody, timers, signal)
  const reply = parseReply(prefix)
  if (reply === undefined) throw statusErrorOf(performed, prefix)
  if ((hadSession || standsAlone) && saysSessionIsLost(status, reply.error))
    throw new SessionExpiredError({ place, data: { status } })
  if (!isRequest(message) || (reply.id !== message.id && reply.id !== null && reply.id !== undefined)) {
    throw statusErrorOf(performed, prefix)
  }
  // A server that could not read the request answers without its id; the exchange tells which one it was.
  return { kind: 'messages', messages: [{ ...reply, id: message.id }] }
}

function parseReply(prefix: BodyPrefix) {
  if (!prefix.complete) return undefined
  const value = parseJson(prefix.bytes.toString('utf8'))
  return isErrorResponse(value) ? value : undefined
}

async function readJson(performed: Performed, { message }: Posted): Promise<PostAnswer> {
  const { place } = performed
  const value = parseJson(await readText(readable(performed), LIMITS.httpMessage, place))
  if (value === undefined) throw new ProtocolViolationError(`${place} answered with unreadable JSON`, { place })
  const { messages, faults } = readMessages(value, place)
  if (faults[0] !== undefined) throw faults[0]
  const [only] = messages
  if (messages.length === 1 && isRequest(message) && isErrorResponse(only) && (only.id ?? null) === null) {
    return { kind: 'messages', messages: [{ ...only, id: message.id }] }
  }
  return { kind: 'messages', messages }
}

/** We ask for no compression; a server that compresses all the same would look like noise. */
export function readable({ response, place }: Performed): HttpResponse {
  const coding = response.header('content-encoding')?.trim().toLowerCase()
  if (coding === undefined || coding === '' || coding === 'identity') return response
  response.cancel()
  const text = `answered with content-encoding '${coding.slice(0, 50)}', which was not asked for`
  throw new HttpStatusError(response.status, text, { place })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
