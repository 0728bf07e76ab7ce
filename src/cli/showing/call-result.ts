import { isDeepStrictEqual } from 'node:util'
import type { JsonObject, JsonValue } from '../../protocol/index.js'
import { isObject } from '../calling/schema-type.js'
import type { Cli } from '../cli.js'
import { type ContentOptions, saveMedia, showContent, showJson } from './content.js'

/**
 * Prints a `CallToolResult`: its content and `structuredContent`, what both say only once.
 * @returns false when the tool reported an error (`isError`)
 */
export async function showCallResult(cli: Cli, result: JsonObject, options: ContentOptions): Promise<boolean> {
  const blocks = Array.isArray(result.content) ? result.content : []
  if (cli.json) {
    await saveMedia(cli, blocks, options)
    cli.out.json(result)
  } else {
    const structured = result.structuredContent
    const said = structured !== undefined ? blocks.filter((block) => !repeats(block, structured)) : blocks
    await showContent(cli, said, options)
    if (structured !== undefined && !wraps(structured, blocks)) showJson(cli, structured)
    if (blocks.length === 0 && structured === undefined) cli.err.line('(the tool returned nothing)')
  }
  return result.isError !== true
}

/** Nothing but the one text block under a name. */
function wraps(structured: JsonValue, blocks: readonly JsonValue[]): boolean {
  const [block, ...others] = blocks
  const members = isObject(structured) ? Object.values(structured) : []
  if (!isObject(block) || others.length > 0 || members.length !== 1) return false
  return block.type === 'text' && typeof block.text === 'string' && members[0] === block.text
}

/** Servers repeat structured content as JSON text for clients that don't read it. */
function repeats(block: JsonValue, structured: JsonValue): boolean {
  if (!isObject(block)) return false
  if (block.type !== 'text' || typeof block.text !== 'string' || !/^\s*[{["\dtfn-]/.test(block.text)) return false
  try {
    return isDeepStrictEqual(JSON.parse(block.text), structured)
  } catch {
    return false
  }
}
