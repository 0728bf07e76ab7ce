import { HookRefusedError } from '../../errors.js'
import type { JsonObject, JsonValue } from '../../protocol/index.js'
import type { HookCall, RewriteRule, SelectingMember } from './types.js'

/**
 * The arguments that count after a hook gave others (reference: authority, 7.5). A hook never changes where a call goes.
 *
 * @throws HookRefusedError `hook_changed_owner`, `rewrite_not_object`, `arguments_not_object`; the call is not made
 */
export function rewritten(call: HookCall, updated: JsonValue): JsonValue {
  const { rewriting } = call
  if (!isObject(updated)) throw rewriting.is === 'arguments' ? notArguments(call, updated) : notObject(call)
  switch (rewriting.is) {
    case 'arguments':
      return updated
    case 'members':
      return only(updated, rewriting.names)
    case 'owned':
      return sameOwner(call, updated, rewriting)
  }
}

function sameOwner(call: HookCall, updated: JsonObject, rule: Extract<RewriteRule, { is: 'owned' }>): JsonObject {
  const before = isObject(call.toolInput) ? call.toolInput : {}
  const kept: JsonObject = {}
  for (const member of ORDER.filter((one) => rule.selecting.includes(one))) {
    const original = own(before, member)
    if (!Object.hasOwn(updated, member)) {
      if (original !== undefined) kept[member] = original
    } else if (sameText(original, own(updated, member))) {
      if (original !== undefined) kept[member] = original
    } else if (!isRestated(member, own(updated, member), original, rule)) throw changedOwner(call, member)
  }
  // Spread defines members, so that one called `__proto__` stays one.
  return { ...updated, ...kept }
}

/** The server is looked at first: it is what the environment belongs to. */
const ORDER: readonly SelectingMember[] = ['server', 'environment_id']

/** Leaving out and padding change nothing; any other kind of value does, also null. */
function sameText(before: JsonValue | undefined, after: JsonValue | undefined): boolean {
  return typeof before === 'string' && typeof after === 'string' && before.trim() === after.trim()
}

/** An environment that was not named may be named where the call goes there anyway (known-quirks, row 8). */
function isRestated(
  member: SelectingMember,
  after: JsonValue | undefined,
  before: JsonValue | undefined,
  { leadsToOwner }: Extract<RewriteRule, { is: 'owned' }>,
): boolean {
  if (member !== 'environment_id' || typeof after !== 'string' || after.trim() === '') return false
  return before === undefined && leadsToOwner?.(after.trim()) === true
}

function only(updated: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(updated).filter(([name]) => names.includes(name)))
}

function own(value: JsonObject, member: string): JsonValue | undefined {
  return Object.hasOwn(value, member) ? value[member] : undefined
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function changedOwner({ key, toolName }: HookCall, member: SelectingMember): HookRefusedError {
  return new HookRefusedError('hook_changed_owner', `PreToolUse hook cannot change the tool environment (${member})`, {
    ...(key && { key }),
    place: toolName,
    data: { field: member },
  })
}

function notObject({ key, toolName }: HookCall): HookRefusedError {
  return new HookRefusedError('rewrite_not_object', 'expected an object for rewritten tool arguments', {
    ...(key && { key }),
    place: toolName,
  })
}

function notArguments({ key, tool }: HookCall, value: JsonValue): HookRefusedError {
  const place = key === null ? tool : `${key.name}/${tool}`
  const text = JSON.stringify(value)
  const got = text.length > 200 ? `${text.slice(0, 200)}…` : text
  return new HookRefusedError(
    'arguments_not_object',
    `tool call error: tool call failed for \`${place}\`\n\nCaused by:\n    MCP tool arguments must be a JSON object, got ${got}`,
    { ...(key && { key }), place },
  )
}
