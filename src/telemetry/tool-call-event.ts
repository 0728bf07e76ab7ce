import { arch, platform, release } from 'node:os'
import { HARNESS } from '../auth/index.js'
import type { JsonObject, JsonValue } from '../protocol/index.js'
import type { ToolCallFacts } from '../threads/index.js'

/** The program that a thread works for, as its servers know it. */
export interface EventClient {
  readonly name: string
  readonly version: string
}

/**
 * The event of one tool call, members in the order of the service (reference: surfaces, 3.3; vectors: analytics). One
 * member is ours, and last: `environment_id`, the environment that owns the server, null for a thread-wide one
 * (known-quirks, 49).
 */
export function toolCallEvent(call: ToolCallFacts, client: EventClient): JsonObject {
  const { key, turn, outcome, approval, reviews, startedAtMs, completedAtMs } = call
  return {
    event_type: 'codex_mcp_tool_call_event',
    event_params: {
      thread_id: call.threadId,
      session_id: call.sessionId,
      turn_id: textOf(turn, 'turn_id'),
      root_turn_id: textOf(turn, 'root_turn_id') ?? textOf(turn, 'turn_id'),
      item_id: call.callId,
      cell_id: null,
      parent_call_id: null,
      originating_response_id: call.responseId,
      subsequent_response_id: null,
      app_server_client: clientMembers(client),
      runtime: runtimeMembers(),
      thread_source: textOf(turn, 'thread_source'),
      subagent_source: textOf(turn, 'subagent_source'),
      parent_thread_id: textOf(turn, 'parent_thread_id'),
      tool_name: call.tool,
      tool_event_type: 'model_tool_call',
      started_at_ms: startedAtMs,
      completed_at_ms: completedAtMs,
      duration_ms: completedAtMs - startedAtMs,
      execution_duration_ms: call.executionMs,
      review_count: reviews.guardian + reviews.user,
      guardian_review_count: reviews.guardian,
      user_review_count: reviews.user,
      final_approval_outcome: approval,
      terminal_status: outcome.status,
      failure_kind: outcome.failure,
      requested_additional_permissions: false,
      requested_network_access: false,
      mcp_server_name: key.name,
      mcp_tool_name: call.tool,
      mcp_error_present: outcome.isMcpError,
      plugin_id: call.pluginId,
      connector_id: call.connectorId,
      voice_session_id: null,
      elicitation_type: null,
      environment_id: key.environment,
    },
  }
}

function clientMembers({ name, version }: EventClient): JsonObject {
  return {
    product_client_id: name,
    client_name: name,
    client_version: version,
    rpc_transport: 'in_process',
    experimental_api_enabled: false,
  }
}

/** The version is what the process registers itself as (reference: runtime-auth, 2.1). */
function runtimeMembers(): JsonObject {
  return {
    codex_rs_version: HARNESS.version,
    runtime_os: platform(),
    runtime_os_version: release(),
    runtime_arch: arch() === 'x64' ? 'x86_64' : arch() === 'arm64' ? 'aarch64' : arch(),
  }
}

function textOf(turn: JsonObject, member: string): JsonValue {
  const value = Object.hasOwn(turn, member) ? turn[member] : undefined
  return typeof value === 'string' ? value : null
}
