import { optional } from './optional.js'
import { approvalMode } from './schema/server-shape.js'
import { described, flag, map, type Notes, table } from './schema/shape.js'
import type { ApprovalMode } from './server.js'
import type { Path, Raw } from './source/raw.js'

/** `[apps."<connector id>"]`, and `[apps._default]` for all that have none of their own. Absent members say nothing. */
export interface AppPolicy {
  readonly enabled?: boolean
  /** False: tools that may destroy something are off. */
  readonly destructiveEnabled?: boolean
  /** False: tools that reach beyond the app are off. */
  readonly openWorldEnabled?: boolean
  readonly defaultToolsEnabled?: boolean
  readonly defaultToolsApprovalMode?: ApprovalMode
  /** By raw name. */
  readonly tools: ReadonlyMap<string, AppToolPolicy>
}

export interface AppToolPolicy {
  readonly enabled?: boolean
  readonly approvalMode?: ApprovalMode
}

/** The name of what holds for apps without an entry. */
export const EVERY_APP = '_default'

/** For an entry that can't be read. */
export const APP_OFF: AppPolicy = Object.freeze({ enabled: false, tools: new Map() })

const toolShape = table({
  enabled: described(flag, 'Whether the tool is offered.'),
  approval_mode: described(approvalMode, 'When somebody is asked about a call of it.'),
})

export const appShape = table({
  enabled: described(flag, 'Whether the app is used.', { default: true }),
  destructive_enabled: described(flag, 'Whether tools that may destroy something are offered.', { default: true }),
  open_world_enabled: described(flag, 'Whether tools that reach beyond the app are offered.', { default: true }),
  default_tools_enabled: described(flag, 'Whether tools are offered that have no setting of their own.'),
  default_tools_approval_mode: described(approvalMode, 'Approval mode of its tools.'),
  tools: described(map(toolShape), 'Settings per tool, by raw name.'),
})

export function readAppPolicy(value: Raw, path: Path, notes: Notes): AppPolicy {
  const members = appShape.read(value, path, notes)
  const tools = new Map<string, AppToolPolicy>()
  for (const [name, { enabled, approval_mode: mode }] of Object.entries(members.tools ?? {}))
    tools.set(name, Object.freeze({ ...optional('enabled', enabled), ...optional('approvalMode', mode) }))
  return Object.freeze({
    ...optional('enabled', members.enabled),
    ...optional('destructiveEnabled', members.destructive_enabled),
    ...optional('openWorldEnabled', members.open_world_enabled),
    ...optional('defaultToolsEnabled', members.default_tools_enabled),
    ...optional('defaultToolsApprovalMode', members.default_tools_approval_mode),
    tools,
  })
}
