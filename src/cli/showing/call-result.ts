import { isDeepStrictEqual } from 'node:util'
import type { JsonObject, JsonValue } from '../../protocol/index.js'
import type { Cli } from '../cli.js'
import { type ContentOptions, saveMedia, showContent, showJson } from './content.js'

/**
 * Prints a `CallToolResult`: its content, then `structuredContent` unless a text block says the same.
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
    if (structured !== undefined) showJson(cli, structured)
    if (blocks.length === 0 && structured === undefined) cli.err.line('(the tool returned nothing)')
  }
  return result.isError !== true
}

/** Servers repeat structured content as JSON text for clients that don't read it. */
function repeats(block: JsonValue, structured: JsonValue): boolean {
  if (typeof block !== 'object' || block === null || Array.isArray(block)) return false
  if (block.type !== 'text' || typeof block.text !== 'string' || !/^\s*[{["\dtfn-]/.test(block.text)) return false
  try {
    return isDeepStrictEqual(JSON.parse(block.text), structured)
  } catch {
    return false
  }
}
