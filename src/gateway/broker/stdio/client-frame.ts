import type { JsonObject, JsonValue } from '../../../protocol/index.js'

/** A line of the client with the messages in it. What is no JSON passes too: the broker has the answer to that. */
export interface ClientFrame {
  /** As it came. */
  readonly line: Buffer
  readonly messages: readonly JsonObject[]
  readonly batch: boolean
}

export function clientFrame(line: Buffer): ClientFrame {
  const value = parsed(line)
  const messages = (Array.isArray(value) ? value : [value]).filter(isObject)
  // The line may be a part of a buffer that is used again.
  return { line: Buffer.from(line), messages, batch: Array.isArray(value) }
}

export function isRequest({ method, id }: JsonObject): boolean {
  return typeof method === 'string' && id !== undefined
}

export function isResponse({ method, id }: JsonObject): boolean {
  return method === undefined && id !== undefined && id !== null
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parsed(line: Buffer): JsonValue {
  try {
    return JSON.parse(line.toString('utf8')) as JsonValue
  } catch {
    return null
  }
}
