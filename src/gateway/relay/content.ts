import type { ServerKey } from '../../identity/index.js'
import type { JsonObject, JsonValue } from '../../protocol/index.js'
import { qualifyUri } from '../uris.js'
import { isObject } from './params.js'

/**
 * Puts a server's URIs in the form that the client can give back, wherever the protocol has one. Everything else is the
 * very value that the server sent.
 */

/** A `CallToolResult`: links and embedded resources among its content. */
export function qualifyToolResult(key: ServerKey, result: JsonObject): JsonObject {
  const content = qualifyBlocks(key, result.content)
  return content === result.content ? result : withMember(result, 'content', content)
}

/** A `GetPromptResult`: the content of its messages, one block or several. */
export function qualifyPromptResult(key: ServerKey, result: JsonObject): JsonObject {
  const { messages } = result
  if (!Array.isArray(messages)) return result
  const qualified = messages.map((message) => {
    if (!isObject(message)) return message
    const content = Array.isArray(message.content)
      ? qualifyBlocks(key, message.content)
      : qualifyBlock(key, message.content)
    return content === message.content ? message : withMember(message, 'content', content)
  })
  return { ...result, messages: qualified }
}

/** A `ReadResourceResult`: each content's URI. */
export function qualifyContents(key: ServerKey, result: JsonObject): JsonObject {
  const { contents } = result
  if (!Array.isArray(contents)) return result
  return { ...result, contents: contents.map((content) => qualifyMember(key, content, 'uri')) }
}

/** A resource or template of a listing. */
export function qualifyMember(key: ServerKey, item: JsonValue, member: 'uri' | 'uriTemplate'): JsonValue {
  if (!isObject(item) || typeof item[member] !== 'string') return item
  return withMember(item, member, qualifyUri(key, item[member]))
}

/** A tool's definition: the app that shows its results, in each place where a host looks for it. */
export function qualifyToolApp(key: ServerKey, definition: JsonObject): JsonObject {
  const meta = definition._meta
  if (!isObject(meta)) return definition
  let qualified = meta
  for (const member of ['ui/resourceUri', 'openai/outputTemplate']) {
    const uri = meta[member]
    if (typeof uri === 'string') qualified = withMember(qualified, member, qualifyUri(key, uri))
  }
  if (isObject(meta.ui) && typeof meta.ui.resourceUri === 'string') {
    qualified = withMember(qualified, 'ui', withMember(meta.ui, 'resourceUri', qualifyUri(key, meta.ui.resourceUri)))
  }
  return qualified === meta ? definition : withMember(definition, '_meta', qualified)
}

/** A result of a kind that nobody here knows: every `uri`, wherever it stands. */
export function qualifyEveryUri(key: ServerKey, result: JsonObject): JsonObject {
  const qualified = qualifyInside(key, result)
  return isObject(qualified) ? qualified : result
}

function qualifyInside(key: ServerKey, value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item) => qualifyInside(key, item))
  if (!isObject(value)) return value
  const members = Object.entries(value).map(([name, member]) => {
    const isUri = (name === 'uri' || name === 'uriTemplate') && typeof member === 'string'
    return [name, isUri ? qualifyUri(key, member) : qualifyInside(key, member)] as const
  })
  return Object.fromEntries(members)
}

function qualifyBlocks(key: ServerKey, blocks: JsonValue | undefined): JsonValue | undefined {
  if (!Array.isArray(blocks)) return blocks
  const qualified = blocks.map((block) => qualifyBlock(key, block) ?? block)
  return qualified.some((block, index) => block !== blocks[index]) ? qualified : blocks
}

function qualifyBlock(key: ServerKey, block: JsonValue | undefined): JsonValue | undefined {
  if (!isObject(block)) return block
  if (block.type === 'resource_link') return qualifyMember(key, block, 'uri')
  if (block.type === 'resource' && isObject(block.resource)) {
    return withMember(block, 'resource', qualifyMember(key, block.resource, 'uri'))
  }
  return block
}

/** Keeps the member's place among the others; a spread defines, so that `__proto__` is a member like any other. */
function withMember(object: JsonObject, member: string, value: JsonValue | undefined): JsonObject {
  return value === undefined ? object : { ...object, [member]: value }
}
