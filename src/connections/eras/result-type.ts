import { ProtocolViolationError } from '../../errors.js'
import type { ServerKey } from '../../identity/index.js'
import type { JsonObject, JsonValue } from '../../protocol/index.js'

const CORE: readonly JsonValue[] = ['complete', 'input_required']
/** Result types that are known to belong to an extension. */
const OF_EXTENSION: ReadonlyMap<JsonValue, string> = new Map([['task', 'io.modelcontextprotocol/tasks']])

/**
 * Refuses a result of a type that this client can't have asked for. Absent means complete. A type that no revision knows
 * may be an extension's: it passes when the client declared any (specification 2026-07-28, basic, ResultType).
 *
 * @throws {ProtocolViolationError}
 */
export function checkResultType(result: JsonObject, capabilities: JsonObject, key: ServerKey, method: string): void {
  const { resultType } = result
  if (resultType === undefined || CORE.includes(resultType)) return
  const shown = (JSON.stringify(resultType) ?? '').slice(0, 64)
  const refuse = (why: string) =>
    new ProtocolViolationError(`MCP server '${key.name}' answered ${method} with resultType ${shown}, ${why}`, {
      key,
      place: method,
    })
  if (typeof resultType !== 'string') throw refuse('which is no text')
  const extensions = declaredExtensions(capabilities)
  const needed = OF_EXTENSION.get(resultType)
  if (needed !== undefined && !extensions.includes(needed)) throw refuse(`but this client did not declare ${needed}`)
  if (extensions.length === 0) throw refuse('but this client declared no extension')
}

function declaredExtensions({ extensions }: JsonObject): readonly string[] {
  return typeof extensions === 'object' && extensions !== null && !Array.isArray(extensions)
    ? Object.keys(extensions)
    : []
}
