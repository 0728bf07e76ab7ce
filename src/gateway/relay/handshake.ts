import type { ClientProfile, ReadyClient, ServerStatus } from '../../connections/index.js'
import { compareKeys, displayKey } from '../../identity/index.js'
import type { Era, JsonObject, JsonValue } from '../../protocol/index.js'
import { CORE_TASKS, TASKS_EXTENSION, tasksFor } from '../tasks/index.js'
import { outgoingMeta } from './call-meta.js'
import { mergedExtensions } from './extensions.js'
import { isObject } from './params.js'

/** MCP Apps: the one extension whose methods are the ones that the gateway relays anyway. */
export const APPS_EXTENSION = 'io.modelcontextprotocol/ui'

/** Characters, of one server's instructions and of all together. */
const INSTRUCTIONS_OF_ONE = 8_000
const INSTRUCTIONS = 32_000

/** What the servers of a client's thread are told about it: the client's own words. */
export function profileOf({ clientInfo, capabilities, clientCapabilities }: Introducing): ClientProfile {
  const declared = capabilities ?? clientCapabilities
  return {
    clientInfo: isObject(clientInfo) ? clientInfo : { name: 'unknown', version: '' },
    capabilities: isObject(declared) ? declared : {},
  }
}

/**
 * The same with what else a client said in `initialize`, for the one server that it reaches: members that no revision
 * knows, and its `_meta`.
 */
export function wholeProfileOf(params: JsonObject): ClientProfile {
  const { protocolVersion: _, clientInfo: __, capabilities: ___, _meta, ...rest } = params
  const { progressToken: ____, ...meta } = outgoingMeta(isObject(_meta) ? _meta : undefined) ?? {}
  const further = { ...rest, ...(Object.keys(meta).length > 0 && { _meta: meta }) }
  return { ...profileOf(params), ...(Object.keys(further).length > 0 && { further }) }
}

/** How clients introduce themselves: by the params of `initialize`, or by the envelope of each request. */
interface Introducing {
  readonly clientInfo?: JsonValue
  readonly capabilities?: JsonValue
  readonly clientCapabilities?: JsonValue
}

/** Whether this client shows apps, and so knows which tools are meant for them and not for its model. */
export function showsApps({ capabilities }: ClientProfile): boolean {
  return isObject(capabilities.extensions) && Object.hasOwn(capabilities.extensions, APPS_EXTENSION)
}

/** What a client is told of the other side, in whichever way its era asks. */
export interface Introduction {
  readonly serverInfo: JsonObject
  readonly capabilities: JsonObject
  readonly instructions?: string
  /** Members beside these, of the one server that speaks here. */
  readonly further?: JsonObject
}

/** All servers as one, which is Reeve. */
export function mergedIntroduction(servers: readonly ServerStatus[], version: string, client: Era): Introduction {
  const instructions = instructionsOf(servers)
  return {
    serverInfo: reeveInfo(version),
    capabilities: capabilitiesOf(servers, client),
    ...(instructions !== undefined && { instructions }),
  }
}

export function reeveInfo(version: string): JsonObject {
  return { name: 'reeve', title: 'Reeve', version }
}

type OwnWords = Pick<ReadyClient, 'era' | 'serverInfo' | 'capabilities' | 'instructions' | 'further'>

/** One server in its own words. */
export function ownIntroduction(server: OwnWords, client: Era): Introduction {
  const { serverInfo, instructions, further } = server
  return {
    serverInfo,
    further,
    capabilities: ownCapabilities(server, client),
    ...(instructions !== undefined && { instructions }),
  }
}

export function ownCapabilities(
  { era, capabilities }: Pick<ReadyClient, 'era' | 'capabilities'>,
  client: Era,
): JsonObject {
  return era === client ? capabilities : tasksFor(client, capabilities)
}

/**
 * What the gateway can do, whatever its servers can: they come and go, while a client may read this once. Extensions are
 * those of all servers. What a single server can do beside is no capability of them all.
 */
export function capabilitiesOf(servers: readonly ServerStatus[], client: Era): JsonObject {
  const sorted = [...servers].sort((a, b) => compareKeys(a.key, b.key))
  const { [TASKS_EXTENSION]: _, ...extensions } = mergedExtensions(sorted.map(({ capabilities }) => capabilities))
  const offered = client === 'modern' ? { ...extensions, [TASKS_EXTENSION]: {} } : extensions
  return {
    tools: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
    prompts: { listChanged: true },
    completions: {},
    logging: {},
    ...(client === 'legacy' && { tasks: CORE_TASKS }),
    ...(Object.keys(offered).length > 0 && { extensions: offered }),
  }
}

/** The instructions of the servers that are known by now, each under its server's name; undefined when there are none. */
export function instructionsOf(servers: readonly ServerStatus[]): string | undefined {
  const sections = [...servers]
    .sort((a, b) => compareKeys(a.key, b.key))
    .flatMap(({ key, instructions }) => {
      const text = instructions?.trim() ?? ''
      return text === '' ? [] : [`# MCP server: ${displayKey(key)}\n\n${cut(text, INSTRUCTIONS_OF_ONE)}`]
    })
  if (sections.length === 0) return undefined
  const intro = 'Several MCP servers stand behind this one. Names of tools and prompts begin with their server.'
  return cut([intro, ...sections].join('\n\n'), INSTRUCTIONS)
}

function cut(text: string, limit: number): string {
  if (text.length <= limit) return text
  const mark = '\n[truncated]'
  // Half of a surrogate pair at the end would be no text.
  return text.slice(0, limit - mark.length).replace(/[\uD800-\uDBFF]$/, '') + mark
}
