import { isSandboxMember } from '../authority/index.js'
import { InvalidArgumentsError } from '../errors.js'
import type { JsonObject, JsonValue } from '../protocol/index.js'
import { ENTITLEMENT_CONTEXT } from './apps/trusted-access.js'

/**
 * The `_meta` of a `tools/call`: the caller's own members in their order, less what only the runtime may say, with the
 * live ids over whatever stood there (reference: tool-calls, 5).
 *
 * @throws InvalidArgumentsError when the caller's `_meta` is no object; nothing is sent.
 */
export function callMeta(place: string, caller: JsonValue | undefined, live: JsonObject): JsonObject {
  const meta = callersMeta(requireObject(place, 'MCP tool request _meta', caller) ?? {})
  for (const [member, value] of Object.entries(live)) define(meta, member, value)
  return meta
}

/** A caller's own members, less what only the runtime may say: of a sandbox nobody hears from elsewhere. */
export function callersMeta(caller: JsonObject): JsonObject {
  const meta: JsonObject = {}
  for (const [member, value] of Object.entries(caller)) if (!isRuntimes(member)) define(meta, member, value)
  return meta
}

function isRuntimes(member: string): boolean {
  return member === ENTITLEMENT_CONTEXT || isSandboxMember(member)
}

/** The params of a request of a caller's, its `_meta` likewise; what is no object is the server's to refuse. */
export function callersParams(params: JsonObject): JsonObject {
  const { _meta } = params
  const isObject = typeof _meta === 'object' && _meta !== null && !Array.isArray(_meta)
  return isObject ? { ...params, _meta: callersMeta(_meta) } : params
}

/**
 * Calls that a host makes carry a progress token, as in the reference (tool-calls, 5); those that are relayed for a client
 * carry one when the client asked.
 */
export function withProgress<Options extends { readonly onProgress?: (params: JsonObject) => void }>(options: Options) {
  return { ...options, onProgress: options.onProgress ?? ignore }
}

function ignore(): void {
  // Nobody asked.
}

/** @throws InvalidArgumentsError for anything but an object or nothing. */
export function callArguments(place: string, value: JsonValue | undefined): JsonObject | undefined {
  return requireObject(place, 'MCP tool arguments', value)
}

function requireObject(place: string, what: string, value: JsonValue | undefined): JsonObject | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  const got = JSON.stringify(value)
  throw new InvalidArgumentsError(
    `tool call failed for \`${place}\`: ${what} must be a JSON object, got ${got.length > 200 ? `${got.slice(0, 200)}…` : got}`,
    { place },
  )
}

/** Assignment would take `__proto__` for the prototype. */
function define(target: JsonObject, member: string, value: JsonValue): void {
  Object.defineProperty(target, member, { value, enumerable: true, configurable: true, writable: true })
}
