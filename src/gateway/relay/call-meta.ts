import { type JsonObject, MODERN_META } from '../../protocol/index.js'

/**
 * Members of a caller's `_meta` that speak of the caller's own host: ids of its sessions and threads, its account, its
 * sandbox. Servers behind the gateway are told by Reeve, and never what another host would tell them (reference:
 * tool-calls, egress filter).
 */
const RESERVED: ReadonlySet<string> = new Set(
  [
    'installation_id',
    'session_id',
    'thread_id',
    'conversation_id',
    'turn_id',
    'workspace_id',
    'window_id',
    'request_kind',
    'turn_started_at_unix_ms',
    'forked_from_thread_id',
    'parent_thread_id',
    'subagent_kind',
    'thread_source',
    'plugin_id',
    'connector_id',
    'connector_name',
    'connector_display_name',
    'connector_description',
    'connected_account_email',
    'link_id',
    'template_id',
    'resource_uri',
    'compaction',
    'sandbox',
    'workspaces',
  ].flatMap((snake) => [snake, snake.replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase())]),
)

const RESERVED_PREFIXES = ['codex/', 'openai/', 'x-openai-', 'x-codex-', '_openai_', '_codex', 'codex_']

/** What one hop says of itself: a caller's word for it would be taken for ours. */
const OF_THE_HOP: ReadonlySet<string> = new Set([
  MODERN_META.protocolVersion,
  MODERN_META.clientInfo,
  MODERN_META.clientCapabilities,
  MODERN_META.logLevel,
])

/** The members of a caller's `_meta` that go on to a server, in their order; undefined when none is left. */
export function outgoingMeta(meta: JsonObject | undefined): JsonObject | undefined {
  if (meta === undefined) return undefined
  const kept = Object.entries(meta).filter(([member]) => !isReserved(member))
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

function isReserved(member: string): boolean {
  return RESERVED.has(member) || OF_THE_HOP.has(member) || RESERVED_PREFIXES.some((prefix) => member.startsWith(prefix))
}
