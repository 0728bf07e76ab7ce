import { InvalidArgumentsError } from '../errors.js'
import type { JsonObject, JsonValue } from '../protocol/index.js'

/** What a host says of the turn of its model that a step belongs to. Servers are told all of it. */
export interface TurnFacts {
  /**
   * `x-codex-turn-metadata`, in this order behind `session_id` and `thread_id`, which Reeve sets itself: `model`, `turn_id`,
   * `turn_started_at_unix_ms` (milliseconds), `sandbox`, `sandbox_mode`, … Any JSON.
   */
  readonly metadata?: JsonObject
  /** Of the conversation that the thread belongs to. Absent: the thread is one of its own. */
  readonly sessionId?: string
  /** How often the context of the thread was begun anew; a whole number. Default 0. */
  readonly window?: number
}

/** What a host says of one call of its model. Counts only in a step that was taken with `turn`. */
export interface ModelCallFacts {
  /** The model's own id of the call. */
  readonly callId?: string
  /** The item of the model's response that the call stands in. */
  readonly itemId?: string
  /** The model's response that the call stands in; servers aren't told. */
  readonly responseId?: string
  /** A person was asked something in this turn before the call: `user_input_requested_during_turn`. */
  readonly userInputRequested?: boolean
}

/** The facts of a turn as its step holds them. Frozen, and nobody else's. */
export interface Turn {
  readonly metadata: JsonObject
  readonly sessionId: string
  readonly windowId: string
}

const TURN_METADATA = 'x-codex-turn-metadata'

/** In a model's call only the runtime says these, whether there is something to say or not. */
const MEMBERS: ReadonlySet<string> = new Set([
  'callId',
  TURN_METADATA,
  'plugin_id',
  'threadId',
  'sessionId',
  'windowId',
  'itemId',
])

/** @throws InvalidArgumentsError for facts that can't be sent */
export function turnOf(threadId: string, facts: TurnFacts): Turn {
  const given: unknown = facts
  if (!isObject(given)) throw refusal('turn', 'an object', given)
  const { sessionId = threadId, window = 0 } = facts
  if (typeof sessionId !== 'string') throw refusal('turn.sessionId', 'a string', sessionId)
  if (!Number.isSafeInteger(window) || window < 0) throw refusal('turn.window', 'a whole number', window)
  const { session_id, thread_id, ...further } = copied(facts.metadata ?? {})
  const metadata = deepFrozen({ session_id: sessionId, thread_id: threadId, ...further })
  return Object.freeze({ metadata, sessionId, windowId: `${threadId}:${window}` })
}

/**
 * What only the runtime says in a model's call, in the order of the reference (tool-calls, 5.1), up to the sandbox.
 *
 * @throws InvalidArgumentsError for facts that can't be sent
 */
export function modelCallMembers(
  turn: Turn,
  facts: ModelCallFacts,
  ids: { readonly threadId: string; readonly plugin_id?: string; readonly _codex_apps?: JsonObject },
): JsonObject {
  const { callId, itemId, userInputRequested = false } = facts
  for (const [name, id] of Object.entries({ callId, itemId })) {
    if (id !== undefined && typeof id !== 'string') throw refusal(`call.${name}`, 'a string', id)
  }
  const { plugin_id: plugin, threadId, _codex_apps: app } = ids
  return {
    ...(callId !== undefined && { callId }),
    [TURN_METADATA]: userInputRequested ? { ...turn.metadata, user_input_requested_during_turn: true } : turn.metadata,
    ...(app !== undefined && { _codex_apps: app }),
    ...(plugin !== undefined && { plugin_id: plugin }),
    threadId,
    sessionId: turn.sessionId,
    windowId: turn.windowId,
    ...(itemId !== undefined && { itemId }),
  }
}

/** The rest of a caller's own members. */
export function withoutTurnMembers(caller: JsonObject | undefined): JsonObject | undefined {
  if (!isObject(caller)) return caller
  return Object.fromEntries(Object.entries(caller).filter(([member]) => !MEMBERS.has(member)))
}

/** @throws InvalidArgumentsError for anything but an object that JSON has a text for */
function copied(metadata: JsonObject): JsonObject {
  const copy = copyOf(metadata)
  if (isObject(metadata) && isObject(copy)) return copy
  throw refusal('turn.metadata', 'a JSON object', metadata)
}

function copyOf(value: JsonObject): JsonValue | undefined {
  try {
    return JSON.parse(JSON.stringify(value))
  } catch (cause) {
    throw new InvalidArgumentsError('turn.metadata must be a JSON object', { place: 'turn.metadata', cause })
  }
}

function refusal(place: string, wanted: string, value: unknown): InvalidArgumentsError {
  const got = value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value
  return new InvalidArgumentsError(`${place} must be ${wanted}, got ${got}`, { place })
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function deepFrozen<Value extends JsonValue>(value: Value): Value {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) deepFrozen(member)
    Object.freeze(value)
  }
  return value
}
