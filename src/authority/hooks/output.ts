import type { HookEvent } from '../../config/index.js'
import type { JsonObject, JsonValue } from '../../protocol/index.js'
import type { HookRunEntry, HookRunStatus } from './types.js'

/** What a hook left: the end of a command, the JSON of a function or a tool, or nothing that counts. */
export type RawOutput =
  | { readonly is: 'ended'; readonly code: number | null; readonly stdout: string; readonly stderr: string }
  | { readonly is: 'value'; readonly value: JsonValue }
  | { readonly is: 'failed'; readonly reason: string }

/** What a hook wants. */
export interface HookEffect {
  /** The call is not made, the permission not given, the result not shown: the reason. */
  readonly deny?: string
  /** As `deny`, and the turn is to end. */
  readonly isStop?: boolean
  readonly allow?: boolean
  readonly updatedInput?: { readonly value: JsonValue }
  readonly context?: string
}

/** How a run ended, and what comes of it. */
export interface Verdict {
  readonly status: Exclude<HookRunStatus, 'running'>
  readonly entries: readonly HookRunEntry[]
  readonly effect: HookEffect
}

/** Characters of further context for a model, of one hook; about 2,500 tokens (reference: README, constants). */
const LONGEST_CONTEXT = 10_000
/** Characters of a reason or a message. */
const LONGEST_TEXT = 10_000

/** Reads what a hook left as an answer to its event (reference: authority, 7.4). */
export function verdictOf(event: HookEvent, output: RawOutput): Verdict {
  if (output.is === 'failed') return failed(output.reason)
  if (output.is === 'value') return answered(event, output.value)
  const { code, stdout, stderr } = output
  if (code === 2) return denied(text(stderr) ?? `a ${event} hook ended with status 2 and gave no reason`)
  if (code !== 0) return failed(code === null ? 'hook was ended by a signal' : `hook exited with code ${code}`)
  const printed = stdout.trim()
  // Anything that does not look like JSON is for people.
  if (!/^[[{]/.test(printed)) return NOTHING
  try {
    return answered(event, JSON.parse(printed) as JsonValue)
  } catch {
    return invalid(event)
  }
}

const NOTHING: Verdict = Object.freeze({ status: 'completed', entries: Object.freeze([]), effect: Object.freeze({}) })

function answered(event: HookEvent, value: JsonValue): Verdict {
  const answer = readAnswer(event, value)
  if (answer === undefined) return invalid(event)
  const notes = noted(answer)
  const verdict = READERS[event](answer)
  return { ...verdict, entries: [...notes, ...verdict.entries] }
}

interface Answer {
  readonly top: JsonObject
  readonly specific: JsonObject
}

const READERS: Record<HookEvent, (answer: Answer) => Verdict> = {
  PreToolUse: readPre,
  PermissionRequest: readPermission,
  PostToolUse: readPost,
}

function readPre({ top, specific }: Answer): Verdict {
  const context = contextOf(specific)
  const { permissionDecision: decision, permissionDecisionReason: reason } = specific
  if (top.continue === false) return stopped('PreToolUse', top, context)
  if (decision === 'deny') return denied(text(reason) ?? 'no reason was given', context)
  if (top.decision === 'block') return denied(text(top.reason) ?? 'no reason was given', context)
  if (decision === 'ask') return unsupported('PreToolUse', 'permissionDecision:ask')
  if (top.decision !== undefined) return unsupported('PreToolUse', `decision:${shown(top.decision)}`)
  if (!Object.hasOwn(specific, 'updatedInput')) return passed(context)
  if (decision !== 'allow') return failed('PreToolUse hook returned updatedInput without permissionDecision:allow')
  return passed(context, { updatedInput: { value: specific.updatedInput ?? null } })
}

function readPermission({ top, specific }: Answer): Verdict {
  if (top.continue === false) return stopped('PermissionRequest', top, undefined)
  const { decision } = specific
  if (decision === undefined) return NOTHING
  if (!isObject(decision)) return invalid('PermissionRequest')
  const { behavior, message } = decision
  if (behavior === 'deny') return denied(text(message) ?? 'denied by a PermissionRequest hook')
  // An allow that is for other arguments is no allow for these.
  const extra = ['updatedInput', 'updatedPermissions', 'interrupt'].find((member) => Object.hasOwn(decision, member))
  if (extra !== undefined) return unsupported('PermissionRequest', extra)
  return passed(undefined, { allow: true })
}

function readPost({ top, specific }: Answer): Verdict {
  const context = contextOf(specific)
  if (top.continue === false) return stopped('PostToolUse', top, context)
  if (top.decision === 'block') return denied(text(top.reason) ?? 'blocked by a PostToolUse hook', context)
  if (top.decision !== undefined) return unsupported('PostToolUse', `decision:${shown(top.decision)}`)
  if (Object.hasOwn(specific, 'updatedMCPToolOutput')) return unsupported('PostToolUse', 'updatedMCPToolOutput')
  return passed(context)
}

function passed(context: string | undefined, effect: HookEffect = {}): Verdict {
  return {
    status: 'completed',
    entries: contextEntries(context),
    effect: { ...effect, ...(context !== undefined && { context }) },
  }
}

function denied(reason: string, context?: string): Verdict {
  return {
    status: 'blocked',
    entries: [...contextEntries(context), { kind: 'feedback', text: reason }],
    effect: { deny: reason, ...(context !== undefined && { context }) },
  }
}

function stopped(event: HookEvent, { stopReason }: JsonObject, context: string | undefined): Verdict {
  const reason = text(stopReason) ?? `stopped by a ${event} hook`
  return {
    status: 'stopped',
    entries: [...contextEntries(context), { kind: 'stop', text: reason }],
    effect: { deny: reason, isStop: true, ...(context !== undefined && { context }) },
  }
}

export function failed(reason: string): Verdict {
  return { status: 'failed', entries: [{ kind: 'error', text: cut(reason, LONGEST_TEXT) }], effect: {} }
}

function unsupported(event: HookEvent, what: string): Verdict {
  return failed(`${event} hook returned unsupported ${what}`)
}

function invalid(event: HookEvent): Verdict {
  return failed(`hook returned invalid ${EVENT_NAMES[event]} JSON output`)
}

const EVENT_NAMES = {
  PreToolUse: 'pre-tool-use',
  PermissionRequest: 'permission-request',
  PostToolUse: 'post-tool-use',
} as const satisfies Record<HookEvent, string>

function contextOf({ additionalContext }: JsonObject): string | undefined {
  const given = typeof additionalContext === 'string' ? additionalContext.trim() : ''
  return given === '' ? undefined : cut(given, LONGEST_CONTEXT)
}

function contextEntries(context: string | undefined): readonly HookRunEntry[] {
  return context === undefined ? [] : [{ kind: 'context', text: context }]
}

function noted({ top }: Answer): readonly HookRunEntry[] {
  const message = text(top.systemMessage)
  return message === undefined ? [] : [{ kind: 'warning', text: message }]
}

type Kind = 'boolean' | 'string' | 'any'

const COMMON: Readonly<Record<string, Kind>> = {
  continue: 'boolean',
  stopReason: 'string',
  suppressOutput: 'boolean',
  systemMessage: 'string',
  decision: 'string',
  reason: 'string',
  hookSpecificOutput: 'any',
}

const SPECIFIC: Record<HookEvent, Readonly<Record<string, Kind>>> = {
  PreToolUse: {
    hookEventName: 'string',
    permissionDecision: 'string',
    permissionDecisionReason: 'string',
    updatedInput: 'any',
    additionalContext: 'string',
  },
  PermissionRequest: { hookEventName: 'string', decision: 'any' },
  PostToolUse: { hookEventName: 'string', additionalContext: 'string', updatedMCPToolOutput: 'any' },
}

/** What an answer may hold; a member that nobody knows makes it no answer, since it may be what matters. */
function readAnswer(event: HookEvent, value: JsonValue): Answer | undefined {
  if (!isObject(value) || !fits(value, COMMON)) return undefined
  const specific = value.hookSpecificOutput ?? {}
  if (!isObject(specific) || !fits(specific, SPECIFIC[event])) return undefined
  const { hookEventName, permissionDecision: decision, decision: permission } = specific
  if (hookEventName !== undefined && hookEventName !== null && hookEventName !== event) return undefined
  if (typeof decision === 'string' && !['allow', 'deny', 'ask'].includes(decision)) return undefined
  const behavior = permission !== undefined && isObject(permission) ? permission.behavior : undefined
  if (permission !== undefined && behavior !== 'allow' && behavior !== 'deny') return undefined
  return { top: value, specific }
}

function fits(value: JsonObject, kinds: Readonly<Record<string, Kind>>): boolean {
  return Object.entries(value).every(([member, item]) => {
    const kind = Object.hasOwn(kinds, member) ? kinds[member] : undefined
    return kind === 'any' || (kind !== undefined && (item === null || kind === typeof item))
  })
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function text(value: JsonValue | undefined): string | undefined {
  const trimmed = typeof value === 'string' ? value.trim() : ''
  return trimmed === '' ? undefined : cut(trimmed, LONGEST_TEXT)
}

function shown(value: JsonValue): string {
  return cut(typeof value === 'string' ? value : JSON.stringify(value), 80)
}

function cut(value: string, longest: number): string {
  return value.length > longest ? `${value.slice(0, longest)}…` : value
}
