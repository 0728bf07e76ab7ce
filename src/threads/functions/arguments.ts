import { ResourceFunctionError } from '../../errors.js'
import type { JsonObject, JsonValue } from '../../protocol/index.js'

/** Arguments as they count: trimmed, and without what is blank. */
export interface ResourceArguments {
  readonly server?: string
  /** Absent with the feature off, whatever was sent. */
  readonly environmentId?: string
  readonly cursor?: string
  readonly uri?: string
}

export interface ReadArguments extends ResourceArguments {
  readonly server: string
  readonly uri: string
}

type Member = 'server' | 'environment_id' | 'cursor' | 'uri'

const LISTED: readonly Member[] = ['server', 'cursor']
const READ: readonly Member[] = ['server', 'uri']

/**
 * The arguments of a listing, as the model wrote them: JSON text or parsed. Unknown members are ignored.
 *
 * @throws ResourceFunctionError texts as in the reference (tool-calls, 9.1 and 9.2)
 */
export function listArguments(args: JsonValue | undefined, multiEnvironment: boolean): ResourceArguments {
  const given = objectOf(args, 'struct ListResourceArgs') ?? {}
  const members = multiEnvironment ? [...LISTED, 'environment_id' as const] : LISTED
  checkTypes(given, members)
  return trimmed(given, members)
}

/** As {@link listArguments}, of `read_mcp_resource`. */
export function readArguments(args: JsonValue | undefined, multiEnvironment: boolean): ReadArguments {
  const given = objectOf(args, 'struct ReadResourceArgs')
  if (given === undefined) throw unparsed('missing_argument', 'expected value')
  const members = multiEnvironment ? [...READ, 'environment_id' as const] : READ
  checkTypes(given, members, READ)
  for (const member of READ) {
    if (!Object.hasOwn(given, member)) throw unparsed('missing_argument', `missing field \`${member}\``)
  }
  const { server, uri, ...rest } = trimmed(given, members)
  if (server === undefined) throw new ResourceFunctionError('empty_server', 'server must be provided')
  if (uri === undefined) throw new ResourceFunctionError('empty_uri', 'uri must be provided')
  return { ...rest, server, uri }
}

/** Blank text and null say that there are none. `expected` is how the reference words what it wants. */
function objectOf(args: JsonValue | undefined, expected: string): JsonObject | undefined {
  const value = typeof args === 'string' ? parsed(args) : args
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'object' || Array.isArray(value)) throw wrongType(value, expected)
  return value
}

function parsed(text: string): JsonValue | undefined {
  if (trim(text) === '') return undefined
  try {
    return JSON.parse(text) as JsonValue
  } catch (error) {
    throw unparsed('invalid_arguments', error instanceof Error ? error.message : String(error), error)
  }
}

/** In the order in which they were given: the first wrong one is told. */
function checkTypes(given: JsonObject, members: readonly Member[], required: readonly Member[] = []): void {
  for (const [name, value] of Object.entries(given)) {
    const member = members.find((known) => known === name)
    if (member === undefined || typeof value === 'string') continue
    if (value === null && !required.includes(member)) continue
    throw wrongType(value, 'a string')
  }
}

function trimmed(given: JsonObject, members: readonly Member[]): ResourceArguments {
  const values = new Map<Member, string>()
  for (const member of members) {
    const value = Object.hasOwn(given, member) ? given[member] : undefined
    const text = typeof value === 'string' ? trim(value) : ''
    if (text !== '') values.set(member, text)
  }
  const [server, environmentId] = [values.get('server'), values.get('environment_id')]
  const [cursor, uri] = [values.get('cursor'), values.get('uri')]
  return {
    ...(server !== undefined && { server }),
    ...(environmentId !== undefined && { environmentId }),
    ...(cursor !== undefined && { cursor }),
    ...(uri !== undefined && { uri }),
  }
}

/** Unicode white space, as the reference trims; `String.trim` also takes a byte order mark, and leaves U+0085. */
function trim(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && WHITE_SPACE.test(text.charAt(start))) start += 1
  while (end > start && WHITE_SPACE.test(text.charAt(end - 1))) end -= 1
  return text.slice(start, end)
}

const WHITE_SPACE = /^\p{White_Space}$/u

function wrongType(value: JsonValue, expected: string): ResourceFunctionError {
  return unparsed('invalid_arguments', `invalid type: ${typeName(value)}, expected ${expected}`)
}

function typeName(value: JsonValue): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'sequence'
  switch (typeof value) {
    case 'boolean':
      return `boolean \`${value}\``
    case 'string':
      return `string ${JSON.stringify(value)}`
    case 'number':
      return 'number'
    default:
      return 'map'
  }
}

function unparsed(code: string, why: string, cause?: unknown): ResourceFunctionError {
  return new ResourceFunctionError(code, `failed to parse function arguments: ${why}`, { cause })
}
