import type { ServerKey } from '../../identity/index.js'
import type { JsonObject, JsonValue } from '../../protocol/index.js'
import { type Connector, ownConnector } from './connector.js'
import type { PersistOffer } from './offer.js'

/** What a question about a call is made of. */
export interface PromptFacts {
  readonly threadId: string
  readonly turnId: string | null
  readonly callId: string
  readonly key: ServerKey
  /** The raw name. */
  readonly tool: string
  readonly definition: JsonObject
  /** Absent: the call has none. */
  readonly arguments?: JsonObject
  readonly connector?: Connector
  readonly offers: readonly PersistOffer[]
  /** `multi_environment_mcp`: the question names the environment of a scoped server. */
  readonly multiEnvironment: boolean
}

/** The id of the question, and of the request inside the runtime (reference: authority, 3). */
export function questionId(callId: string): string {
  return `mcp_tool_call_approval_${callId}`
}

export function promptMessage({ key, tool, connector, multiEnvironment }: PromptFacts): string {
  const own = ownConnector(key, connector)
  const actor = own === undefined ? `the ${key.name} MCP server` : (own.name ?? own.id)
  const place = multiEnvironment && key.environment !== null ? ` Environment: ${key.environment}.` : ''
  return `Allow ${actor} to run tool "${tool}"?${place}`
}

/** The params of the elicitation that asks, members in the order of the reference (authority, 3). */
export function promptParams(facts: PromptFacts): JsonObject {
  return {
    threadId: facts.threadId,
    turnId: facts.turnId,
    serverName: facts.key.name,
    environmentId: facts.key.environment,
    mode: 'form',
    _meta: promptMeta(facts),
    message: promptMessage(facts),
    requestedSchema: { type: 'object', properties: {} },
  }
}

export function promptMeta(facts: PromptFacts): JsonObject {
  const { tool, definition, offers } = facts
  const { annotations, title, description } = definition
  const [only, ...more] = offers
  return {
    codex_approval_kind: 'mcp_tool_call',
    ...(only !== undefined && { persist: more.length === 0 ? only : [...offers] }),
    tool_name: tool,
    ...(isObject(annotations) && { tool_annotations: annotations }),
    ...(typeof title === 'string' && { tool_title: title }),
    ...(typeof description === 'string' && { tool_description: description }),
    ...connectorMeta(ownConnector(facts.key, facts.connector)),
    ...(facts.arguments && { tool_params: facts.arguments, tool_params_display: displayed(facts.arguments) }),
  }
}

function connectorMeta(connector: Connector | undefined): JsonObject {
  if (connector === undefined) return {}
  const { id, name, description, linkId } = connector
  return {
    source: 'connector',
    connector_id: id,
    ...(name !== undefined && { connector_name: name }),
    ...(description !== undefined && { connector_description: description }),
    ...(linkId !== undefined && { link_id: linkId, link_is_implicit: linkId.startsWith('implicit_link::') }),
  }
}

/** Byte order of the names, as in the reference. */
function displayed(params: JsonObject): JsonValue[] {
  return Object.entries(params)
    .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map(([name, value]) => ({ name, value, display_name: name }))
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
