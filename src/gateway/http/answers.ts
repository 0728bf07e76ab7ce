import type { ServerResponse } from 'node:http'
import type { JsonRpcErrorResponse, JsonValue } from '../../protocol/index.js'
import { errorAnswer } from '../inbound.js'

/** JSON-RPC codes of HTTP refusals, as other servers use them: clients tell these cases by status. */
const SERVER_ERROR = -32000
const SESSION_NOT_FOUND = -32001

export interface Refusal {
  readonly status: number
  readonly message: string
  readonly code?: number
  readonly data?: JsonValue
  readonly headers?: Readonly<Record<string, string>>
}

/** Answers with an HTTP error whose body is a JSON-RPC error without an id. Never echoes what the client sent. */
export function refuse(response: ServerResponse, refusal: Refusal): void {
  const { status, message, code = SERVER_ERROR, data, headers } = refusal
  sendJson(response, status, errorAnswer(null, code, message, data), headers)
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: JsonRpcErrorResponse | Readonly<Record<string, JsonValue>>,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent || response.destroyed) return
  const text = JSON.stringify(body)
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  })
  response.end(text)
}

export const REFUSALS = {
  host: { status: 403, message: 'Forbidden: this Host is not allowed' },
  origin: { status: 403, message: 'Forbidden: this Origin is not allowed' },
  path: { status: 404, message: 'Not Found' },
  method: { status: 405, message: 'Method Not Allowed', headers: { allow: 'GET, POST, DELETE' } },
  metadataMethod: { status: 405, message: 'Method Not Allowed', headers: { allow: 'GET' } },
  modernMethod: { status: 405, message: 'Method Not Allowed: this revision has only POST', headers: { allow: 'POST' } },
  acceptBoth: {
    status: 406,
    message: 'Not Acceptable: accept both application/json and text/event-stream',
  },
  acceptStream: { status: 406, message: 'Not Acceptable: accept text/event-stream' },
  contentType: { status: 415, message: 'Unsupported Media Type: Content-Type must be application/json' },
  contentEncoding: { status: 415, message: 'Unsupported Media Type: send the body without Content-Encoding' },
  encoding: { status: 400, code: -32700, message: 'Parse error: the body is not UTF-8' },
  noSession: { status: 400, message: 'Bad Request: Mcp-Session-Id header is required' },
  unknownSession: { status: 404, code: SESSION_NOT_FOUND, message: 'Session not found' },
  endedSession: { status: 404, code: SESSION_NOT_FOUND, message: 'The session has ended' },
  response: { status: 400, code: -32600, message: 'Invalid Request: this protocol revision has no answers of clients' },
  batch: { status: 400, code: -32600, message: 'Invalid Request: this protocol revision has no batches' },
  initializeInBatch: { status: 400, code: -32600, message: 'Invalid Request: initialize must be sent alone' },
  repeatedId: { status: 400, code: -32600, message: 'Invalid Request: a request with this id is in progress' },
  eventId: { status: 400, message: 'Bad Request: Last-Event-ID was not given out in this session' },
  tooManyRequests: {
    status: 503,
    message: 'Too many requests of this session are in progress',
    headers: { 'retry-after': '1' },
  },
  tooManySessions: {
    status: 503,
    message: 'The gateway has reached its number of sessions',
    headers: { 'retry-after': '30' },
  },
  closing: { status: 503, message: 'The gateway is closing' },
} as const satisfies Record<string, Refusal>

export function isRefused<T extends object>(found: T | Refusal): found is Refusal {
  return 'status' in found
}

/** 401; never says what was wrong with the token. */
export function unauthorized(presented: boolean): Refusal {
  const error = presented ? ', error="invalid_token"' : ''
  return {
    status: 401,
    message: 'Unauthorized: send the gateway token as Authorization: Bearer …',
    headers: { 'www-authenticate': `Bearer realm="reeve"${error}` },
  }
}

export function tooLarge(limit: number): Refusal {
  return { status: 413, message: `Content Too Large: the limit is ${limit} bytes` }
}
