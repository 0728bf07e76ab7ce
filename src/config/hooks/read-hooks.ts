import { optional } from '../optional.js'
import {
  described,
  fault,
  flag,
  list,
  map,
  type Notes,
  oneOf,
  type Shape,
  seconds,
  table,
  text,
  wrongType,
} from '../schema/shape.js'
import type { ConfigOrigin } from '../server.js'
import { isTable, type Path, placeIn, type Raw, type RawTable, type SourceDocument } from '../source/raw.js'
import { brokenHook, holdsUp, readableFilter } from './broken-hook.js'
import { matcherFault } from './matcher.js'
import {
  type CommandHook,
  HOOK_EVENTS,
  type HookEntry,
  type HookEvent,
  type HookFilter,
  type HookJson,
  type HookSettings,
  type HookState,
  type McpToolHook,
} from './settings.js'

/** Seconds that a hook may take (reference: README, constants), and the most that a timer holds. */
const DEFAULT_TIMEOUT = 600
const LONGEST_TIMEOUT = 2_000_000

/** A table that is read as it stands: its values may be anything. */
const anyTable: Shape<RawTable> = {
  schema: { type: 'object' },
  read(value, path) {
    if (!isTable(value)) throw wrongType(value, 'a map', path)
    return value
  },
}

const handler = table({
  type: described(oneOf('command', 'mcp_tool'), 'What is run.'),
  command: described(text, 'A shell command of this machine: input on stdin, answer on stdout.'),
  server: described(text, 'Server of the tool.'),
  tool: described(text, 'Name of the tool.'),
  environment: described(text, 'Environment of the server, where its name alone does not say which is meant.'),
  input: described(anyTable, 'Arguments of the tool; its texts may refer to the input of the call.'),
  timeout: described(seconds, 'Seconds that it may take.', { default: DEFAULT_TIMEOUT }),
  timeoutSec: described(seconds, 'The same.'),
  statusMessage: described(text, 'Shown while it runs.'),
  on_failure: described(oneOf('allow', 'block'), 'What becomes of the call when it fails.', { default: 'allow' }),
  async: described(flag, 'Not supported.'),
})

const group = table({
  matcher: described(text, 'Names of tools split by |, or a regular expression. Absent: all tools.'),
  server: described(text, 'Only tools of servers of this name.'),
  environment: described(text, 'Only tools of servers of this environment.'),
  hooks: described(list(handler), 'What is run.'),
})

const state = table({
  trusted_hash: described(text, 'The hook that is trusted; another one at its place is not.'),
  enabled: described(flag, 'Whether it is run.'),
})

/** JSON Schema of `[hooks]`. */
export const HOOKS_SCHEMA = {
  description: 'What is run around tool calls.',
  type: 'object',
  properties: {
    ...Object.fromEntries(HOOK_EVENTS.map((event) => [event, { type: 'array', items: group.schema }])),
    state: map(state).schema,
  },
}

/** Events of Codex at which nothing happens here. */
const OTHER_EVENTS = [
  'PreCompact',
  'PostCompact',
  'SessionStart',
  'SessionEnd',
  'UserPromptSubmit',
  'SubagentStart',
  'SubagentStop',
  'Stop',
]
const MEMBERS = [...HOOK_EVENTS, 'state']

/** What collects problems while a document is read. */
export interface HookReading extends Notes {
  readonly document: SourceDocument
  readonly options: { readonly layer: ConfigOrigin['layer']; readonly sharedFile: boolean }
  attempt<T>(read: () => T): T | undefined
  warn(code: string, message: string, path: Path): void
}

/** Members of Codex's managed hooks that say nothing of what is run. */
const MANAGED_FOLDERS = ['managed_dir', 'windows_managed_dir']

/**
 * Each broken hook is one problem and stops only itself. Where calls may not go without it (`on_failure`, and whatever is
 * managed), something that fails stands in its place.
 */
export function readHooks(reading: HookReading): HookSettings {
  const section = reading.document.root.hooks
  if (section === undefined) return NONE
  const isManaged = reading.options.layer === 'managed'
  const all = reading.attempt(() => anyTable.read(section, ['hooks'], reading))
  if (all === undefined)
    return isManaged
      ? Object.freeze({ ...NONE, entries: standIn(reading, 'PreToolUse', {}, section, ['hooks']) })
      : NONE
  const entries: HookEntry[] = []
  for (const [member, value] of Object.entries(all)) {
    const event = HOOK_EVENTS.find((known) => known === member)
    if (event !== undefined) entries.push(...readEvent(reading, event, value))
    else if (OTHER_EVENTS.includes(member)) noteOther(reading, member)
    else if (isManaged && MANAGED_FOLDERS.includes(member)) continue
    else if (member !== 'state') reading.unknown(['hooks', member], MEMBERS)
  }
  return Object.freeze({ entries: Object.freeze(entries), states: readStates(reading, all.state) })
}

const NONE: HookSettings = Object.freeze({ entries: Object.freeze([]), states: new Map() })

function noteOther(reading: HookReading, event: string): void {
  if (reading.options.sharedFile) return
  const message = `hooks of ${event} are not run here: known are ${HOOK_EVENTS.join(', ')}`
  reading.warn('unsupported_hook_event', message, ['hooks', event])
}

function readEvent(reading: HookReading, event: HookEvent, value: Raw): readonly HookEntry[] {
  const path = ['hooks', event]
  const groups = reading.attempt(() => listOf(value, path))
  if (groups === undefined) return standIn(reading, event, {}, value, path)
  return groups.flatMap((one, index) => {
    const at = [...path, String(index)]
    const found = reading.attempt(() => readGroup(reading, one, at))
    return found === undefined
      ? standIn(reading, event, readableFilter(one), one, at)
      : readHandlers(reading, event, found, [index, at])
  })
}

interface Group extends HookFilter {
  readonly handlers: readonly Raw[]
}

function readGroup(notes: Notes, value: Raw, path: Path): Group {
  if (!isTable(value)) throw wrongType(value, 'a map', path)
  // The handlers are read one by one, so that a broken one does not take the others with it.
  const { hooks, ...rest } = value
  const { matcher, server, environment } = group.read(rest, path, notes)
  const wrong = matcher === undefined ? undefined : matcherFault(matcher)
  if (wrong !== undefined)
    throw fault('invalid_matcher', `the matcher is no regular expression, so nothing is run: ${wrong}`, [
      ...path,
      'matcher',
    ])
  return {
    ...optional('matcher', matcher),
    ...optional('server', server),
    ...optional('environment', environment),
    handlers: hooks === undefined ? [] : listOf(hooks, [...path, 'hooks']),
  }
}

function readHandlers(
  reading: HookReading,
  event: HookEvent,
  { handlers, ...filter }: Group,
  [group, path]: readonly [number, Path],
): readonly HookEntry[] {
  const { document } = reading
  return handlers.flatMap((value, index) => {
    const at = [...path, 'hooks', String(index)]
    const read = reading.attempt(() => readHandler(reading, value, at))
    if (read === undefined) return standIn(reading, event, filter, value, at)
    const key = `${document.file}:${EVENT_KEYS[event]}:${group}:${index}`
    return [entryAt(reading, at, { event, ...filter, handler: Object.freeze(read), key })]
  })
}

/** What is run instead of something that can't be read: nothing, unless calls may not go without it. */
function standIn(
  reading: HookReading,
  event: HookEvent,
  filter: HookFilter,
  value: Raw,
  path: Path,
): readonly HookEntry[] {
  const { document, options } = reading
  if (options.layer !== 'managed' && !holdsUp(value)) return []
  const numbers = path.filter((part) => /^\d+$/.test(part))
  const key = [document.file, EVENT_KEYS[event], ...numbers].join(':')
  return [entryAt(reading, path, { event, ...filter, handler: brokenHook(placeIn(document, path)), key })]
}

function entryAt(
  { document, options }: Pick<HookReading, 'document' | 'options'>,
  path: Path,
  entry: Omit<HookEntry, 'origin'>,
): HookEntry {
  const origin = { file: document.file, layer: options.layer, ...optional('line', document.position(path)?.line) }
  return Object.freeze({ ...entry, origin: Object.freeze(origin) })
}

const EVENT_KEYS = {
  PreToolUse: 'pre_tool_use',
  PermissionRequest: 'permission_request',
  PostToolUse: 'post_tool_use',
} as const satisfies Record<HookEvent, string>

function readHandler(notes: Notes, value: Raw, path: Path): CommandHook | McpToolHook {
  const read = handler.read(value, path, notes)
  const { type, command, server, tool, environment, input } = read
  if (type === undefined) throw fault('missing_member', 'missing field `type`', path)
  if (read.async === true) throw fault('unsupported', 'a hook can’t be asynchronous: its call waits for it', path)
  const about = {
    timeoutMs: timeoutOf(read.timeout ?? read.timeoutSec ?? DEFAULT_TIMEOUT, path),
    ...optional('statusMessage', read.statusMessage),
    onFailure: read.on_failure ?? 'allow',
  }
  if (type === 'command') return { type, command: named('command', command, path), ...about }
  return {
    type,
    server: named('server', server, path),
    tool: named('tool', tool, path),
    ...optional('environment', environment),
    input: input === undefined ? {} : jsonTable(input),
    ...about,
  }
}

function named(member: string, value: string | undefined, path: Path): string {
  if (value === undefined) throw fault('missing_member', `missing field \`${member}\``, path)
  if (value.trim() === '') throw fault('invalid_value', 'must not be empty', [...path, member])
  return value
}

function timeoutOf(given: number, path: Path): number {
  if (given > 0 && given <= LONGEST_TIMEOUT) return Math.ceil(given * 1000)
  throw fault('invalid_value', `invalid value: ${given}, expected seconds above 0, ${LONGEST_TIMEOUT} at most`, [
    ...path,
    'timeout',
  ])
}

function readStates(reading: HookReading, value: Raw | undefined): ReadonlyMap<string, HookState> {
  const states = new Map<string, HookState>()
  const all = value === undefined ? {} : reading.attempt(() => anyTable.read(value, ['hooks', 'state'], reading))
  for (const [key, one] of Object.entries(all ?? {})) {
    const read = reading.attempt(() => state.read(one, ['hooks', 'state', key], reading))
    if (read === undefined) continue
    states.set(key, { ...optional('trustedHash', read.trusted_hash), ...optional('enabled', read.enabled) })
  }
  return states
}

function listOf(value: Raw, path: Path): readonly Raw[] {
  if (!Array.isArray(value)) throw wrongType(value, 'a sequence', path)
  return value
}

/** Tables of the parsers have no prototype, so that any name may stand in them. */
function jsonTable(value: RawTable): { [member: string]: HookJson } {
  const read: { [member: string]: HookJson } = Object.create(null)
  for (const [name, one] of Object.entries(value)) read[name] = json(one)
  return read
}

function json(value: Raw): HookJson {
  if (typeof value === 'bigint') return Number(value)
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.map(json)
  return isTable(value) ? jsonTable(value) : (value as null | boolean | number | string)
}
