import type { JsonObject, JsonValue } from '../../../../src/protocol/index.js'
import { type Passage, without } from './passages.js'

/** Of no member. */
export const NOTHING = /(?!)/
const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

/** Results that the gateway makes anew: their members are compared one by one, like those of params. */
export function ofResult(place: string, sent: JsonObject, came: JsonObject): Passage {
  return { place, sent: sorted(bare(sent)), came: sorted(bare(came)) }
}

/** Tasks are declared by the gateway, which brings them across; everything else is the other side's own. */
export function ofCapabilities(place: string, sent: JsonValue | undefined, came: JsonValue | undefined): Passage {
  const plain = (capabilities: JsonObject) => {
    const { tasks: _, extensions = {}, ...own } = capabilities
    return sorted({ ...own, extensions: without(extensions as JsonObject, [TASKS_EXTENSION], NOTHING) })
  }
  return { place, sent: plain(sent as JsonObject), came: came && plain(came as JsonObject) }
}

/** The order of the params' own members says nothing; each member is compared as it is. */
export function ofParams(place: string, sent: JsonObject, came: JsonObject | undefined): Passage {
  const plain = (params: JsonObject) =>
    sorted(without(params, [], /^(io\.modelcontextprotocol\/.*|threadId|progressToken)$/))
  return { place, sent: plain(sent), came: came && plain(without(came, ['inputResponses', 'requestState'], NOTHING)) }
}

/** Without what an era adds to every result. */
export function bare(result: JsonObject): JsonObject {
  return without(result, ['resultType', 'ttlMs', 'cacheScope'], /^io\.modelcontextprotocol\/serverInfo$/)
}

function sorted(params: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(params).sort(([a], [b]) => (a < b ? -1 : 1)))
}
