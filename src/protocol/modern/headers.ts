import type { JsonObject, JsonRpcRequest, JsonValue } from '../message.js'

const SENTINEL = /^=\?base64\?(.*)\?=$/s
/** Visible ASCII with spaces and tabs inside. */
const PLAIN = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** The member of `params` that `Mcp-Name` mirrors. */
const NAME_SOURCE: ReadonlyMap<string, 'name' | 'uri' | 'taskId'> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
])

/** A value as it may stand in a header: as it is, or as base64 between marks (specification 2026-07-28, value encoding). */
export function encodeHeaderValue(value: string): string {
  return PLAIN.test(value) && !SENTINEL.test(value) ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`
}

/** Undefined for a value that is neither plain nor proper base64 of UTF-8. */
export function decodeHeaderValue(value: string): string | undefined {
  const [, encoded] = SENTINEL.exec(value) ?? []
  if (encoded === undefined) return /^[\t\x20-\x7e]*$/.test(value) ? value : undefined
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(encoded)) return undefined
  const bytes = Buffer.from(encoded, 'base64')
  const text = bytes.toString('utf8')
  return Buffer.from(text).equals(bytes) ? text : undefined
}

/** What `Mcp-Name` must say for a request; undefined where the header is not required. */
export function mirroredName({ method, params }: Pick<JsonRpcRequest, 'method' | 'params'>): string | undefined {
  const source = NAME_SOURCE.get(method)
  const name = source === undefined ? undefined : params?.[source]
  return typeof name === 'string' ? name : undefined
}

/** `Mcp-Method`, and `Mcp-Name` where the method has one. */
export function standardHeaders(request: Pick<JsonRpcRequest, 'method' | 'params'>): [string, string][] {
  const name = mirroredName(request)
  return [
    ['Mcp-Method', encodeHeaderValue(request.method)],
    ...(name === undefined ? [] : [['Mcp-Name', encodeHeaderValue(name)] as [string, string]]),
  ]
}

/** A parameter that is mirrored into `Mcp-Param-<header>`. */
export interface HeaderMark {
  readonly header: string
  /** The chain of `properties` from the root of the arguments. */
  readonly path: readonly string[]
}

/** The marks of an input schema, or why the tool must be left out of a listing over HTTP. */
export type HeaderMarks = { readonly marks: readonly HeaderMark[] } | { readonly invalid: string }

/**
 * Reads the `x-mcp-header` marks of a tool's input schema (specification 2026-07-28, custom headers). A mark counts only
 * on a string, integer or boolean that a chain of `properties` leads to; anywhere else it makes the tool invalid.
 */
export function headerMarks(inputSchema: JsonValue | undefined): HeaderMarks {
  const marks: HeaderMark[] = []
  const names = new Set<string>()
  const open: { readonly schema: JsonValue | undefined; readonly path: readonly string[] | undefined }[] = [
    { schema: inputSchema, path: [] },
  ]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { schema, path } = next
    if (Array.isArray(schema)) open.push(...schema.map((inner) => ({ schema: inner, path: undefined })))
    if (!isObject(schema)) continue
    if (Object.hasOwn(schema, MARK)) {
      const fault = markFault(schema, path, names)
      if (fault !== undefined) return { invalid: fault }
      const header = String(schema[MARK])
      names.add(header.toLowerCase())
      marks.push({ header, path: path ?? [] })
    }
    for (const [keyword, inner] of Object.entries(schema)) {
      if (DATA_KEYWORDS.has(keyword)) continue
      if (keyword === 'properties' && isObject(inner)) {
        for (const [name, property] of Object.entries(inner)) {
          open.push({ schema: property, path: path && [...path, name] })
        }
      } else open.push({ schema: inner, path: undefined })
    }
  }
  return { marks: marks.sort((a, b) => (a.header < b.header ? -1 : 1)) }
}

/** The `Mcp-Param-*` headers of a call; a parameter that is absent or null has none. */
export function parameterHeaders(marks: readonly HeaderMark[], args: JsonObject | undefined): [string, string][] {
  return marks.flatMap(({ header, path }) => {
    const value = valueAt(args, path)
    const text =
      typeof value === 'string'
        ? value
        : typeof value === 'number' || typeof value === 'boolean'
          ? String(value)
          : undefined
    return text === undefined ? [] : [[`Mcp-Param-${header}`, encodeHeaderValue(text)] as [string, string]]
  })
}

/** Undefined where any step is missing. */
export function valueAt(args: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let value = args
  for (const step of path) {
    if (!isObject(value) || !Object.hasOwn(value, step)) return undefined
    value = value[step]
  }
  return value
}

const MARK = 'x-mcp-header'
/** Their values are instances, in which a member called like the mark means nothing. */
const DATA_KEYWORDS: ReadonlySet<string> = new Set([MARK, 'default', 'const', 'enum', 'examples'])

function markFault(
  schema: JsonObject,
  path: readonly string[] | undefined,
  names: ReadonlySet<string>,
): string | undefined {
  const header = schema[MARK]
  if (typeof header !== 'string' || !TOKEN.test(header)) return `${MARK} is no header name`
  if (path === undefined || path.length === 0) return `${MARK} '${header}' is not on a property that can be reached`
  if (names.has(header.toLowerCase())) return `${MARK} '${header}' stands twice`
  if (!['string', 'integer', 'boolean'].includes(String(schema.type))) {
    return `${MARK} '${header}' is on a type other than string, integer or boolean`
  }
  return undefined
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
