import type { IncomingHttpHeaders } from 'node:http'
import { RpcError } from '../../errors.js'
import {
  decodeHeaderValue,
  headerMarks,
  type JsonObject,
  type JsonRpcRequest,
  type JsonValue,
  MODERN_RPC,
  mirroredName,
  namedRevision,
  valueAt,
} from '../../protocol/index.js'
import { invalidParams } from '../relay/params.js'

export const REVISION_HEADER = 'mcp-protocol-version'

/**
 * Compares what the headers of a request say with its body (specification 2026-07-28, server validation): others on the
 * way decide by the headers.
 *
 * @throws RpcError -32020 for a header that is missing, not readable, or says something else
 */
export function checkHeaders(headers: IncomingHttpHeaders, request: JsonRpcRequest): void {
  const revision = headers[REVISION_HEADER]
  if (typeof revision !== 'string') throw mismatch('MCP-Protocol-Version is missing')
  const named = namedRevision(request.params)
  if (named !== undefined && named !== revision) {
    throw mismatch("MCP-Protocol-Version is not what the body's _meta says")
  }
  checkHeader('Mcp-Method', headers['mcp-method'], request.method)
  const name = mirroredName(request)
  if (name !== undefined) checkEncoded('Mcp-Name', headers['mcp-name'], name)
}

/**
 * Compares the `Mcp-Param-*` headers of a call with its arguments, for the parameters that the tool's schema marks.
 * Further ones are nobody's business here.
 *
 * @throws RpcError -32020, or -32602 for a tool whose marks are not valid: no client can call it over HTTP
 */
export function checkParameters(
  headers: IncomingHttpHeaders,
  inputSchema: JsonValue | undefined,
  args: JsonValue | undefined,
): void {
  const read = headerMarks(inputSchema)
  if ('invalid' in read) throw invalidParams(`the tool can't be called over HTTP: ${read.invalid}`)
  for (const { header, path } of read.marks) {
    const name = `Mcp-Param-${header}`
    const sent = headers[name.toLowerCase()]
    const value = valueAt(args, path) ?? null
    if (value === null && sent !== undefined) throw mismatch(`${name} is there, and the arguments have no such value`)
    if (value !== null) checkValue(name, sent, value)
  }
}

function checkValue(name: string, sent: string | string[] | undefined, value: JsonObject[string]): void {
  if (typeof value === 'string') checkEncoded(name, sent, value)
  else if (typeof value === 'boolean') checkEncoded(name, sent, String(value))
  else if (typeof value === 'number') {
    const text = decoded(name, sent)
    // As numbers: 42.0 is 42.
    if (!NUMBER.test(text) || Number(text) !== value) throw mismatch(`${name} is not what the arguments say`)
  }
  // A value of another type is the tool's to refuse; there is no text for it that a header could hold.
}

const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

function checkHeader(name: string, sent: string | string[] | undefined, expected: string): void {
  if (typeof sent !== 'string') throw mismatch(`${name} is missing`)
  if (sent !== expected) throw mismatch(`${name} is not what the body says`)
}

function checkEncoded(name: string, sent: string | string[] | undefined, expected: string): void {
  if (decoded(name, sent) !== expected) throw mismatch(`${name} is not what the body says`)
}

function decoded(name: string, sent: string | string[] | undefined): string {
  if (typeof sent !== 'string') throw mismatch(`${name} is missing`)
  const value = decodeHeaderValue(sent)
  if (value === undefined) throw mismatch(`${name} holds characters that it may not, or broken base64`)
  return value
}

function mismatch(what: string): RpcError {
  return new RpcError(MODERN_RPC.headerMismatch, `Header mismatch: ${what}`)
}
