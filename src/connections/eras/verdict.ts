import {
  AuthRequiredError,
  HttpStatusError,
  LimitExceededError,
  ProtocolViolationError,
  RpcError,
  SessionExpiredError,
  TransportClosedError,
} from '../../errors.js'
import type { ServerKey } from '../../identity/index.js'
import { type JsonObject, type JsonValue, MODERN_META, MODERN_REVISION, MODERN_RPC } from '../../protocol/index.js'
import { deepFreeze } from '../freeze.js'
import { ACCEPTED_REVISIONS, type Handshake } from '../negotiate.js'

/** What the answer to `server/discover` says of a server. */
export type Verdict =
  | { readonly is: 'modern'; readonly handshake: Handshake }
  /** `sure`: not just a passing trouble. */
  | { readonly is: 'legacy'; readonly sure: boolean }
  | { readonly is: 'incompatible'; readonly error: ProtocolViolationError }

const SURELY_LEGACY: Verdict = { is: 'legacy', sure: true }
/** Statuses that say nothing of what a server speaks. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504])

/** A `DiscoverResult`, or whatever a server without one answers to a method that it does not know. */
export function verdictOnResult(result: JsonObject, key: ServerKey): Verdict {
  const { supportedVersions, resultType } = result
  if (!isTexts(supportedVersions) || (resultType !== undefined && resultType !== 'complete')) return SURELY_LEGACY
  return among(supportedVersions, key, discovered(result, key))
}

/** Anything but a modern error comes from a legacy server; undefined: the error says nothing of the era, it stands. */
export function verdictOnError(error: unknown, key: ServerKey): Verdict | undefined {
  if (error instanceof RpcError) return verdictOnRpcError(error, key)
  if (error instanceof HttpStatusError) {
    return error.status === 401 ? undefined : { is: 'legacy', sure: !PASSING.has(error.status) }
  }
  if (error instanceof SessionExpiredError) return SURELY_LEGACY
  // An exchange that was cut off after it was sent: there are servers that drop what they don't understand.
  if (error instanceof TransportClosedError) return error.sent ? SURELY_LEGACY : undefined
  return error instanceof ProtocolViolationError || error instanceof LimitExceededError ? SURELY_LEGACY : undefined
}

/** An error that only a modern server gives, whatever was asked. */
function isModernError({ rpcCode }: RpcError): boolean {
  return (Object.values(MODERN_RPC) as readonly number[]).includes(rpcCode)
}

/** Trouble that another way of speaking would not mend. */
export function concernsAuthorization(error: unknown): boolean {
  return error instanceof AuthRequiredError || (error instanceof HttpStatusError && error.status === 401)
}

function verdictOnRpcError(error: RpcError, key: ServerKey): Verdict {
  const { rpcCode, rpcData } = error
  if (rpcCode === MODERN_RPC.unsupportedProtocolVersion) {
    const supported = isRecord(rpcData) ? rpcData.supported : undefined
    return isTexts(supported) ? among(supported, key, undiscovered(key)) : SURELY_LEGACY
  }
  return isModernError(error) ? { is: 'modern', handshake: undiscovered(key) } : SURELY_LEGACY
}

function among(supported: readonly string[], key: ServerKey, handshake: Handshake): Verdict {
  if (supported.includes(MODERN_REVISION)) return { is: 'modern', handshake }
  if (supported.some((revision) => ACCEPTED_REVISIONS.includes(revision))) return SURELY_LEGACY
  const ours = [...ACCEPTED_REVISIONS, MODERN_REVISION].join(', ')
  const text = `the server speaks protocol versions ${supported.join(', ').slice(0, 200)}, not one of ${ours}`
  return {
    is: 'incompatible',
    error: new ProtocolViolationError(text, { key, place: 'server/discover supportedVersions' }),
  }
}

/** What a `DiscoverResult` says. */
export function discovered(
  { capabilities, instructions, _meta, serverInfo, ...rest }: JsonObject,
  key: ServerKey,
): Handshake {
  const { [MODERN_META.serverInfo]: said, ...meta } = isRecord(_meta) ? _meta : {}
  const { supportedVersions: _, resultType: __, ttlMs: ___, cacheScope: ____, ...further } = rest
  return deepFreeze({
    era: 'modern' as const,
    protocolVersion: MODERN_REVISION,
    // Drafts of the revision had it beside the capabilities.
    serverInfo: isRecord(said) ? said : isRecord(serverInfo) ? serverInfo : nameless(key),
    capabilities: isRecord(capabilities) ? capabilities : {},
    instructions: typeof instructions === 'string' ? instructions : undefined,
    further: { ...further, ...(Object.keys(meta).length > 0 && { _meta: meta }) },
  })
}

/** A server that is modern by its error, and would not say more. */
function undiscovered(key: ServerKey): Handshake {
  return deepFreeze({
    era: 'modern' as const,
    protocolVersion: MODERN_REVISION,
    serverInfo: nameless(key),
    capabilities: {},
    instructions: undefined,
    further: {},
  })
}

function nameless(key: ServerKey): JsonObject {
  return { name: key.name, version: '' }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string')
}

function isRecord(value: unknown): value is { [member: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
