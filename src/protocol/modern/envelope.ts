import type { JsonObject, JsonValue } from '../message.js'

/**
 * The two eras of the protocol (specification 2026-07-28, versioning). `legacy`: a handshake opens a session, 2025-11-25
 * and earlier. `modern`: no handshake; every request says its revision, client and capabilities.
 */
export type Era = 'legacy' | 'modern'

export const MODERN_REVISION = '2026-07-28'

export const MODERN_META = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
} as const

/** Error codes of the modern era. */
export const MODERN_RPC = {
  headerMismatch: -32020,
  missingRequiredClientCapability: -32021,
  unsupportedProtocolVersion: -32022,
} as const

/** What a modern request says of itself in `_meta`. */
export interface RequestEnvelope {
  readonly protocolVersion: string
  readonly clientInfo?: JsonObject
  readonly clientCapabilities: JsonObject
  readonly logLevel?: string
}

/** Members of `_meta` that belong to one hop: what a client said there is never handed on as ours. */
const PER_HOP: readonly string[] = [
  MODERN_META.protocolVersion,
  MODERN_META.clientInfo,
  MODERN_META.clientCapabilities,
  MODERN_META.logLevel,
]

/** The revision that a request names in `_meta`; undefined for a request of the legacy era. */
export function namedRevision(params: JsonObject | undefined): string | undefined {
  const revision = metaOf(params)?.[MODERN_META.protocolVersion]
  return typeof revision === 'string' ? revision : undefined
}

/** The envelope of a modern request, or the member that is missing or of the wrong type. */
export function readEnvelope(params: JsonObject | undefined): RequestEnvelope | { readonly invalid: string } {
  const meta = metaOf(params) ?? {}
  const protocolVersion = own(meta, MODERN_META.protocolVersion)
  const clientCapabilities = own(meta, MODERN_META.clientCapabilities)
  const clientInfo = own(meta, MODERN_META.clientInfo)
  const logLevel = own(meta, MODERN_META.logLevel)
  if (typeof protocolVersion !== 'string') return { invalid: MODERN_META.protocolVersion }
  if (!isObject(clientCapabilities)) return { invalid: MODERN_META.clientCapabilities }
  if (clientInfo !== undefined && !isObject(clientInfo)) return { invalid: MODERN_META.clientInfo }
  if (logLevel !== undefined && typeof logLevel !== 'string') return { invalid: MODERN_META.logLevel }
  return {
    protocolVersion,
    clientCapabilities,
    ...(clientInfo !== undefined && { clientInfo }),
    ...(logLevel !== undefined && { logLevel }),
  }
}

/** The params with our own envelope over whatever stood in its place; every other member stays. */
export function withEnvelope(params: JsonObject | undefined, envelope: RequestEnvelope): JsonObject {
  const meta = withoutMembers(metaOf(params) ?? {}, PER_HOP)
  meta[MODERN_META.protocolVersion] = envelope.protocolVersion
  if (envelope.clientInfo !== undefined) meta[MODERN_META.clientInfo] = envelope.clientInfo
  meta[MODERN_META.clientCapabilities] = envelope.clientCapabilities
  if (envelope.logLevel !== undefined) meta[MODERN_META.logLevel] = envelope.logLevel
  return { ...params, _meta: meta }
}

/** The params without the members that concern one hop only; `_meta` goes when nothing else stood in it. */
export function withoutEnvelope(params: JsonObject): JsonObject {
  const meta = metaOf(params)
  if (meta === undefined) return params
  const kept = withoutMembers(meta, PER_HOP)
  const { _meta, ...rest } = params
  return Object.keys(kept).length === 0 ? rest : { ...rest, _meta: kept }
}

function withoutMembers(from: JsonObject, members: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(from).filter(([member]) => !members.includes(member)))
}

function metaOf(params: JsonObject | undefined): JsonObject | undefined {
  const meta = params?._meta
  return isObject(meta) ? meta : undefined
}

function own(object: JsonObject, member: string): JsonValue | undefined {
  return Object.hasOwn(object, member) ? object[member] : undefined
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
