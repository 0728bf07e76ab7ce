import { ProtocolViolationError, type ReeveError } from '../errors.js'
import type { ServerKey } from '../identity/index.js'
import type { JsonObject, JsonValue } from '../protocol/index.js'

/** The specification asks for at most this many characters in a tool's name. */
const LONG_NAME = 128
/** Deeper than any schema of use; what is deeper breaks the parsers behind us. */
const DEEPEST = 256

export interface WellFormed {
  readonly items: readonly JsonObject[]
  /** One for each item that is left out or odd. */
  readonly warnings: readonly ReeveError[]
}

/**
 * Keeps every tool that can be called, as it came, and names every other one: without a name, with a name that is no
 * text, with a schema that is no object, or of a name that came before (the first one counts). A strict client would
 * drop the whole list for one of them. A very long name is kept and named.
 */
export function wellFormedTools(items: readonly JsonValue[], key: ServerKey): WellFormed {
  const kept: JsonObject[] = []
  const warnings: ReeveError[] = []
  const names = new Set<string>()
  for (const [index, item] of items.entries()) {
    const fault = toolFault(item, names)
    if (fault !== undefined) warnings.push(fault.warning(key, index))
    if (fault?.fatal === true || !isObject(item)) continue
    names.add(item.name as string)
    kept.push(item)
  }
  return { items: kept, warnings }
}

/** Resources, templates and prompts: whatever is an object is kept. */
export function wellFormedItems(items: readonly JsonValue[], key: ServerKey, what: string): WellFormed {
  const kept: JsonObject[] = []
  const warnings: ReeveError[] = []
  for (const [index, item] of items.entries()) {
    const fault = isObject(item) ? depthFault(item) : 'is no object'
    if (isObject(item) && fault === undefined) kept.push(item)
    else warnings.push(warning(key, `${what}[${index}]`, `${what} number ${index + 1} ${fault}; left out`))
  }
  return { items: kept, warnings }
}

interface Fault {
  readonly fatal: boolean
  warning(key: ServerKey, index: number): ReeveError
}

function toolFault(tool: JsonValue, names: ReadonlySet<string>): Fault | undefined {
  if (!isObject(tool)) return leftOut('', 'is no object')
  const { name, inputSchema, outputSchema } = tool
  if (name === undefined || name === '') return leftOut('', 'has no name')
  if (typeof name !== 'string') return leftOut('', 'has a name that is no text')
  if (names.has(name)) return leftOut(name, 'has the name of an earlier tool')
  if (!isObject(inputSchema)) return leftOut(name, 'has an input schema that is no object')
  if (outputSchema !== undefined && !isObject(outputSchema)) {
    return leftOut(name, 'has an output schema that is no object')
  }
  const depth = depthFault(tool)
  if (depth !== undefined) return leftOut(name, depth)
  if (name.length <= LONG_NAME) return undefined
  return { fatal: false, warning: (key) => longName(key, name) }
}

function leftOut(name: string, what: string): Fault {
  return {
    fatal: true,
    warning: (key, index) => {
      const place = name === '' ? `tools[${index}]` : `${key.name}/${shortened(name)}`
      const shown = name === '' ? `tool number ${index + 1}` : `tool '${shortened(name)}' (number ${index + 1})`
      return warning(key, place, `${shown} ${what}; left out`)
    },
  }
}

function longName(key: ServerKey, name: string): ReeveError {
  const message = `tool '${shortened(name)}' has a name of ${name.length} characters, more than ${LONG_NAME}`
  return warning(key, `${key.name}/${shortened(name)}`, message)
}

function warning(key: ServerKey, place: string, message: string): ReeveError {
  return new ProtocolViolationError(`MCP server '${key.name}': ${message}`, { key, place })
}

function depthFault(item: JsonObject): string | undefined {
  return isDeeperThan(item, DEEPEST) ? `is nested deeper than ${DEEPEST} levels` : undefined
}

/** Level by level, since a recursive walk is what too deep a value would break. */
function isDeeperThan(value: JsonValue, levels: number): boolean {
  let level: readonly JsonValue[] = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > levels) return true
    level = level.flatMap((node) => (typeof node === 'object' && node !== null ? Object.values(node) : []))
  }
  return false
}

function shortened(name: string): string {
  return name.length <= 64 ? name : `${name.slice(0, 60)}…`
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
