import type { HookEvent } from '../../config/index.js'
import type { JsonObject, JsonValue } from '../../protocol/index.js'
import type { HookCall, HookInput } from './types.js'

/**
 * What a hook reads (reference: authority, 7.2): the old members in their order, then ours (known-quirks, row 31).
 * `response` is for PostToolUse alone.
 */
export function hookInput(event: HookEvent, call: HookCall, response?: JsonValue): HookInput {
  const { key } = call
  return {
    session_id: call.threadId,
    turn_id: call.turnId,
    transcript_path: call.transcriptPath ?? null,
    cwd: call.cwd,
    hook_event_name: event,
    model: call.model ?? '',
    permission_mode: call.permissionMode ?? 'default',
    tool_name: call.toolName,
    tool_input: call.toolInput,
    ...(event === 'PostToolUse' && { tool_response: response ?? null }),
    ...(event !== 'PermissionRequest' && { tool_use_id: call.callId }),
    server_name: key?.name ?? null,
    server_tool: call.tool,
    environment_id: key?.environment ?? null,
    execution_environment_id: call.executionEnvironment,
    owner_cwd: call.ownerCwd,
  }
}

/** The arguments of a tool that a hook calls, with `${tool_input.a.b}` filled in; what is not there is empty. */
export function filledIn(template: { readonly [member: string]: JsonValue }, input: HookInput): JsonObject {
  return filledObject(template, input)
}

function filledObject(template: { readonly [member: string]: JsonValue }, input: HookInput): JsonObject {
  const filled: JsonObject = {}
  for (const [member, value] of Object.entries(template)) {
    // Assignment would take `__proto__` for the prototype.
    Object.defineProperty(filled, member, {
      value: filledValue(value, input),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return filled
}

function filledValue(value: JsonValue, input: HookInput): JsonValue {
  if (typeof value === 'string') return value.replace(PLACEHOLDER, (_, path: string) => shown(at(input, path)))
  if (Array.isArray(value)) return value.map((item) => filledValue(item, input))
  return typeof value === 'object' && value !== null ? filledObject(value, input) : value
}

const PLACEHOLDER = /\$\{tool_input\.([^{}]{1,200})\}/g

function at({ tool_input: toolInput }: HookInput, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = toolInput
  for (const part of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = Array.isArray(value) ? value[Number(part)] : value[part]
  }
  return value
}

function shown(value: JsonValue | undefined): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
