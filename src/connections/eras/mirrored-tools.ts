import { ProtocolViolationError } from '../../errors.js'
import type { ServerKey } from '../../identity/index.js'
import { headerMarks, type JsonObject } from '../../protocol/index.js'
import type { WellFormed } from '../well-formed.js'

/**
 * Without the tools whose arguments can't be mirrored as they ask: over HTTP such a tool may not be offered
 * (specification 2026-07-28, custom headers). Each is named with the reason.
 */
export function mirroredTools({ items, warnings }: WellFormed, key: ServerKey): WellFormed {
  const kept: JsonObject[] = []
  const faults = items.flatMap((tool) => {
    const marks = headerMarks(tool.inputSchema)
    if ('invalid' in marks) return [leftOut(String(tool.name), marks.invalid, key)]
    kept.push(tool)
    return []
  })
  return { items: kept, warnings: [...warnings, ...faults] }
}

function leftOut(tool: string, reason: string, key: ServerKey): ProtocolViolationError {
  const shown = tool.length <= 64 ? tool : `${tool.slice(0, 60)}…`
  return new ProtocolViolationError(`MCP server '${key.name}': tool '${shown}' is left out: ${reason}`, {
    key,
    place: `${key.name}/${shown}`,
  })
}

/** A definition without what only says how its arguments are mirrored. */
export function withoutMarks(tool: JsonObject): JsonObject {
  const marks = headerMarks(tool.inputSchema)
  const paths = 'invalid' in marks ? [] : marks.marks.map(({ path }) => path)
  const inputSchema = paths.reduce<JsonObject>(withoutMark, tool.inputSchema as JsonObject)
  return { ...tool, inputSchema }
}

function withoutMark(schema: JsonObject, path: readonly string[]): JsonObject {
  const [name, ...rest] = path
  if (name === undefined) {
    const { 'x-mcp-header': _, ...unmarked } = schema
    return unmarked
  }
  const properties = schema.properties as JsonObject
  const property = withoutMark(properties[name] as JsonObject, rest)
  return { ...schema, properties: { ...properties, [name]: property } }
}
