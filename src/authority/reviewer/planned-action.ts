import type { ServerKey } from '../../identity/index.js'
import type { JsonObject, JsonValue } from '../../protocol/index.js'
import { type Connector, ownConnector } from '../approvals/connector.js'

export interface PlannedCall {
  readonly key: ServerKey
  readonly tool: string
  readonly title?: string
  readonly arguments?: JsonObject
  readonly annotations?: JsonValue
  readonly connector?: Connector
}

export interface ActionOptions {
  /** As in the reference, which does not say where a call goes (known-quirks, 33). */
  readonly compatibility: boolean
}

/** A planned call for a reviewer (reference: authority, 5). Absent members are left out; names in order. */
export function plannedAction(call: PlannedCall, { compatibility }: ActionOptions): JsonObject {
  const { key, tool, title, arguments: args, annotations, connector } = call
  const own = ownConnector(key, connector)
  const hints = hintMembers(annotations)
  return {
    ...(hints !== undefined && { annotations: hints }),
    ...(args !== undefined && { arguments: args }),
    ...(own?.description !== undefined && { connector_description: own.description }),
    ...(own !== undefined && { connector_id: own.id }),
    ...(own?.name !== undefined && { connector_name: own.name }),
    ...(!compatibility && { environment_id: key.environment }),
    server: key.name,
    tool: 'mcp_tool_call',
    tool_name: tool,
    ...(title !== undefined && { tool_title: title }),
  }
}

/** Undefined where a tool has no annotations at all. */
function hintMembers(annotations: JsonValue | undefined): JsonObject | undefined {
  if (typeof annotations !== 'object' || annotations === null || Array.isArray(annotations)) return undefined
  const { destructiveHint, openWorldHint, readOnlyHint } = annotations
  return {
    ...(typeof destructiveHint === 'boolean' && { destructive_hint: destructiveHint }),
    ...(typeof openWorldHint === 'boolean' && { open_world_hint: openWorldHint }),
    ...(typeof readOnlyHint === 'boolean' && { read_only_hint: readOnlyHint }),
  }
}

/** The environment whose permissions a review goes by: the server's own, else the primary one (known-quirks, 34). */
export function contextEnvironment(key: ServerKey, primary: string | null): string | null {
  return key.environment ?? primary
}

/** The same action as hosts are told of it, in notifications. */
export function reportedAction(call: PlannedCall, { compatibility }: ActionOptions): JsonObject {
  const { key, tool, title, connector } = call
  const own = ownConnector(key, connector)
  return {
    type: 'mcpToolCall',
    server: key.name,
    ...(!compatibility && { environmentId: key.environment }),
    toolName: tool,
    connectorId: own?.id ?? null,
    connectorName: own?.name ?? null,
    toolTitle: title ?? null,
  }
}
