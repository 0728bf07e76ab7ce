import type { IncomingMessage, ServerResponse } from 'node:http'
import { isRequest, type JsonRpcErrorResponse, type JsonRpcMessage } from '../../protocol/index.js'
import { allowsBatches, UNNAMED_REVISION } from '../eras.js'
import { type Inbound, parseInbound } from '../inbound.js'
import { REFUSALS, type Refusal, tooLarge } from './answers.js'
import type { Admission, Principal } from './authentication.js'
import { discard, readBody } from './body.js'
import { endWhenOver } from './expiry.js'
import type { HttpLimits } from './limits.js'
import { accepts, isJson } from './media.js'
import { REVISION_HEADER } from './modern-headers.js'
import { handleModernPost, isModernHeader, isModernPost, type ModernEndpoint, unservedRevision } from './modern-post.js'
import type { SessionTable } from './session-table.js'
import { type HttpSessionTransport, SESSION_HEADER } from './session-transport.js'

export interface Endpoint extends ModernEndpoint {
  readonly limits: HttpLimits
  readonly sessions: SessionTable
  /** Starts serving a session that was just opened. */
  readonly serve: (transport: HttpSessionTransport, principal: Principal) => void
}

/** One POST to the endpoint: headers, body, envelope, era, session, delivery. Returns why it was refused, if it was. */
export async function handlePost(
  request: IncomingMessage,
  response: ServerResponse,
  admission: Admission,
  endpoint: Endpoint,
): Promise<Refusal | undefined> {
  const { principal } = admission
  const unfit = unfitHeaders(request)
  if (unfit !== undefined) return unfit
  const body = await readBody(request, endpoint.limits.bodyBytes)
  if (body.kind === 'gone') return undefined
  if (body.kind === 'not_utf8') return REFUSALS.encoding
  if (body.kind === 'too_large') {
    discard(request, endpoint.limits.closeMs)
    return tooLarge(endpoint.limits.bodyBytes)
  }
  const inbound = parseInbound(body.text)
  if (inbound.kind === 'invalid') return malformed(inbound.answer)
  const refused = judged(response, inbound, admission, endpoint.limits)
  if (refused !== undefined) return refused
  if (inbound.kind === 'message' && isModernPost(request, inbound.message)) {
    return handleModernPost(request, response, inbound.message, principal, endpoint)
  }
  if (isModernHeader(request)) return REFUSALS.batch
  return deliver(request, response, inbound, principal, endpoint)
}

/** The session that a request names, if its principal may use it and its revision is served. */
export function findSession(
  request: IncomingMessage,
  principal: Principal,
  sessions: SessionTable,
): HttpSessionTransport | Refusal {
  const id = request.headers[SESSION_HEADER]
  if (typeof id !== 'string' || id === '') return REFUSALS.noSession
  const entry = sessions.get(id)
  // Of another principal there is no telling: a client that logged in as somebody else begins anew.
  if (entry === undefined || entry.principal.id !== principal.id) return REFUSALS.unknownSession
  return unservedRevision(request.headers[REVISION_HEADER]) ?? entry.transport
}

export function isRefusal(found: HttpSessionTransport | Refusal): found is Refusal {
  return 'status' in found
}

/** Why these messages may not be sent with this token. What they open ends with it, calls a while later. */
function judged(
  response: ServerResponse,
  inbound: Exclude<Inbound, { kind: 'invalid' }>,
  { over, refuses }: Admission,
  { expiredCallMs, expiryLookMs }: HttpLimits,
): Refusal | undefined {
  const messages = inbound.kind === 'message' ? [inbound.message] : inbound.messages
  const refused = refuses?.(messages)
  if (refused !== undefined || over === undefined) return refused
  const isStream = messages.some((message) => isRequest(message) && message.method === 'subscriptions/listen')
  endWhenOver(response, isStream ? over : { ...over, at: over.at + expiredCallMs }, expiryLookMs)
  return undefined
}

function unfitHeaders(request: IncomingMessage): Refusal | undefined {
  const { accept } = request.headers
  if (!isJson(request.headers['content-type'])) return REFUSALS.contentType
  if (request.headers['content-encoding'] !== undefined) return REFUSALS.contentEncoding
  if (!accepts(accept, 'application/json') || !accepts(accept, 'text/event-stream')) return REFUSALS.acceptBoth
  return undefined
}

function deliver(
  request: IncomingMessage,
  response: ServerResponse,
  inbound: Exclude<Inbound, { kind: 'invalid' }>,
  principal: Principal,
  endpoint: Endpoint,
): Refusal | undefined {
  if (inbound.kind === 'message' && opensSession(request, inbound.message)) {
    return openSession(response, inbound.message, principal, endpoint)
  }
  const session = findSession(request, principal, endpoint.sessions)
  if (isRefusal(session)) return session
  if (inbound.kind === 'message') return session.receive(response, [inbound.message], false)
  if (!allowsBatches(session.revision ?? UNNAMED_REVISION)) return REFUSALS.batch
  if (inbound.messages.some(isInitialize)) return REFUSALS.initializeInBatch
  return session.receive(response, inbound.messages, true)
}

function malformed(answer: JsonRpcErrorResponse): Refusal {
  return { status: 400, code: answer.error.code, message: answer.error.message }
}

/** `initialize` under a session's id is for that session to refuse. */
function opensSession(request: IncomingMessage, message: JsonRpcMessage): boolean {
  return isInitialize(message) && request.headers[SESSION_HEADER] === undefined
}

function isInitialize(message: JsonRpcMessage): boolean {
  return isRequest(message) && message.method === 'initialize'
}

function openSession(
  response: ServerResponse,
  initialize: JsonRpcMessage,
  principal: Principal,
  endpoint: Endpoint,
): Refusal | undefined {
  const session = endpoint.sessions.open(principal)
  if (isRefusal(session)) return session
  endpoint.serve(session, principal)
  return session.receive(response, [initialize], false)
}
