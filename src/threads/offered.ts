import type { PermissionAuthority } from '../catalog/index.js'
import {
  type NamedTool,
  type NamingStrategy,
  namespaceDescription,
  type ServerKey,
  withOwnName,
  withPluginNote,
} from '../identity/index.js'
import type { JsonObject } from '../protocol/index.js'
import { connectorNames, namedConnector, titledTool, withoutConnector } from './apps/connector.js'
import type { Profile } from './composition.js'
import type { Namespace, StepTool } from './types.js'
import { isModelVisible } from './visibility.js'

/** What one server contributes: its tools after the configured filter, as it defined them. */
export interface OfferingServer {
  readonly key: ServerKey
  readonly tools: readonly JsonObject[]
  readonly live: boolean
  readonly instructions?: string | undefined
  /** Absent: the runtime's own. */
  readonly authority?: PermissionAuthority<Profile>
  /** Display name of the plugin that it came with. */
  readonly pluginName?: string
  /** These are the hosted apps: each tool is of a connector. */
  readonly isApps?: boolean
}

const OWN_AUTHORITY: PermissionAuthority<Profile> = Object.freeze({ kind: 'runtime', profile: null })

export interface OfferOptions {
  readonly naming: NamingStrategy
  readonly multiEnvironment: boolean
  /** Also offer tools that are hidden from the model (in `tools` only). */
  readonly appTools: boolean
}

export interface Offered {
  readonly namespaces: readonly Namespace[]
  readonly tools: readonly StepTool[]
}

/**
 * Turns what servers have into what a client is offered: names over the whole set, namespaces with their descriptions,
 * in the order of the naming strategy. Pure, so that a listing from the cache and a live step can't differ.
 *
 * A second tool of one name on one server is left out here; connections report it.
 */
export function offer(servers: readonly OfferingServer[], options: OfferOptions): Offered {
  const owners = new Map<ServerKey, OfferingServer>()
  const definitions = new Map<ServerKey, Map<string, JsonObject>>()
  for (const server of servers) {
    owners.set(server.key, server)
    definitions.set(server.key, byName(server.tools, options.appTools))
  }
  const inputs = [...definitions].flatMap(([key, tools]) =>
    [...tools].map(([tool, definition]) => ({
      key,
      tool,
      ...(owners.get(key)?.isApps === true && connectorNames(definition, tool)),
    })),
  )
  const tools = options.naming.assign(inputs).map((named) => stepTool(named, owners, definitions))
  return Object.freeze({ tools: Object.freeze(tools), namespaces: Object.freeze(inNamespaces(tools, owners, options)) })
}

function byName(tools: readonly JsonObject[], appTools: boolean): Map<string, JsonObject> {
  const named = new Map<string, JsonObject>()
  for (const tool of tools) {
    const { name } = tool
    if (typeof name === 'string' && !named.has(name) && (appTools || isModelVisible(tool))) named.set(name, tool)
  }
  return named
}

function stepTool(
  named: NamedTool,
  owners: ReadonlyMap<ServerKey, OfferingServer>,
  definitions: ReadonlyMap<ServerKey, ReadonlyMap<string, JsonObject>>,
): StepTool {
  const { key, tool, namespace, name, flat } = named
  const definition = definitions.get(key)?.get(tool)
  if (definition === undefined) throw new TypeError(`the naming strategy invented ${key.name}/${tool}`)
  const owner = owners.get(key)
  const description = descriptionOf(named, definition, owner)
  return Object.freeze({
    namespace,
    name,
    flat,
    key,
    tool,
    definition: owner?.isApps === true ? titledTool(definition) : withoutConnector(definition),
    ...(description !== undefined && { description }),
    authority: owner?.authority ?? OWN_AUTHORITY,
    live: owner?.live ?? false,
    modelVisible: isModelVisible(definition),
  })
}

function descriptionOf(named: NamedTool, { description }: JsonObject, owner: OfferingServer | undefined) {
  const own = typeof description === 'string' ? description : undefined
  const noted = withPluginNote(own, owner?.pluginName === undefined ? [] : [owner.pluginName])
  return withOwnName(noted, named)
}

function inNamespaces(
  tools: readonly StepTool[],
  owners: ReadonlyMap<ServerKey, OfferingServer>,
  options: OfferOptions,
): Namespace[] {
  const grouped = new Map<string, StepTool[]>()
  for (const tool of tools) {
    if (!tool.modelVisible) continue
    const group = grouped.get(tool.namespace)
    if (group === undefined) grouped.set(tool.namespace, [tool])
    else group.push(tool)
  }
  return [...grouped].flatMap(([name, members]) => {
    const [first] = members
    if (first === undefined) return []
    const { key, definition } = first
    const owner = owners.get(key)
    const instructions = owner?.instructions
    const connector = owner?.isApps === true ? namedConnector(definition) : undefined
    const description = namespaceDescription({
      namespace: name,
      key,
      multiEnvironment: options.multiEnvironment,
      ...(instructions !== undefined && { instructions }),
      ...(connector && { connector }),
    })
    return Object.freeze({ name, description, key, tools: Object.freeze(members) })
  })
}
