import { RpcError } from '../../errors.js'
import type { ServerKey } from '../../identity/index.js'
import { type InputRequest, type JsonObject, type JsonValue, MODERN_RPC } from '../../protocol/index.js'

/**
 * What a client must have declared to be asked this; undefined where nothing is known to be needed. An elicitation
 * without a mode is a form, and a client that declares no mode takes forms (specification 2026-07-28, elicitation).
 */
export function neededCapabilities({ method, params }: InputRequest): JsonObject | undefined {
  switch (method) {
    case 'roots/list':
      return { roots: {} }
    case 'sampling/createMessage':
      return { sampling: params?.tools !== undefined || params?.toolChoice !== undefined ? { tools: {} } : {} }
    case 'elicitation/create':
      return { elicitation: params?.mode === 'url' ? { url: {} } : { form: {} } }
    default:
      return undefined
  }
}

/** @throws {RpcError} -32021 with the capabilities that are missing, for the first question that needs one */
export function refuseUndeclared(question: InputRequest, declared: JsonObject, key: ServerKey): void {
  const needed = neededCapabilities(question)
  if (needed === undefined || declares(declared, needed)) return
  throw new RpcError(
    MODERN_RPC.missingRequiredClientCapability,
    `MCP server '${key.name}' asked for ${question.method}, which this client did not declare`,
    { requiredCapabilities: needed },
    key,
  )
}

function declares(declared: JsonObject, needed: JsonObject): boolean {
  return Object.entries(needed).every(([capability, kinds]) => {
    const own = memberOf(declared, capability)
    if (!isObject(own)) return false
    const asForms = capability === 'elicitation' && Object.keys(own).length === 0
    return Object.keys(isObject(kinds) ? kinds : {}).every(
      (kind) => memberOf(own, kind) !== undefined || (asForms && kind === 'form'),
    )
  })
}

function memberOf(object: JsonObject, member: string): JsonValue | undefined {
  return Object.hasOwn(object, member) ? object[member] : undefined
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
