import { emptyTable, isTable, type Raw, type RawTable } from '../source/raw.js'

/** How a member of another client's entry is read. */
export type MemberRule =
  /** Ours under this name, after conversion; undefined leaves it out. */
  | { readonly to: string; readonly as?: (value: Raw) => Raw | undefined }
  /** Its parts become several members of ours. */
  | { readonly split: (value: Raw) => readonly SplitMember[] }
  /** Says nothing about how the server runs. */
  | { readonly ignored: true }
  /** Says something that we have nothing for. */
  | { readonly lost: string }

export interface SplitMember {
  readonly to: string
  readonly value: Raw
  /** Where it stands below the split member. */
  readonly below: readonly string[]
}

export type MemberRules = ReadonlyMap<string, MemberRule>

const IGNORED: MemberRule = { ignored: true }

/**
 * Entries under `mcpServers` and `servers`: Claude, Cursor, Windsurf, Gemini CLI, VS Code, mcporter. They agree where
 * they overlap, so one table reads them all. Of two names for one member the earlier wins.
 */
export const COMMON_RULES: MemberRules = new Map<string, MemberRule>([
  ['type', { to: 'type', as: transportType }],
  ['transport', { to: 'type', as: transportType }],
  ['command', { to: 'command' }],
  ['args', { to: 'args' }],
  ['env', { to: 'env', as: textValues }],
  ['cwd', { to: 'cwd' }],
  ['httpUrl', { to: 'url' }],
  ['url', { to: 'url' }],
  ['serverUrl', { to: 'url' }],
  ['baseUrl', { to: 'url' }],
  ['headers', { to: 'http_headers' }],
  ['headersHelper', { to: 'http_headers_helper' }],
  ['oauth', { split: splitOauth }],
  ['timeout', { to: 'tool_timeout_sec', as: secondsOfMilliseconds }],
  ['disabled', { to: 'enabled', as: (value) => (typeof value === 'boolean' ? !value : value) }],
  ['enabled', { to: 'enabled' }],
  ['includeTools', { to: 'enabled_tools' }],
  ['enabledTools', { to: 'enabled_tools' }],
  ['excludeTools', { to: 'disabled_tools' }],
  ['disabledTools', { to: 'disabled_tools' }],
  ['trust', { to: 'default_tools_approval_mode', as: approvalOfTrust }],
  ['envFile', { lost: 'the file is not read, so its variables are missing' }],
  ['auth', { lost: 'log in with `reeve login` instead' }],
  ['authProviderType', { lost: 'log in with `reeve login` instead' }],
  ['alwaysAllow', { lost: 'approvals are not taken over' }],
  ['autoApprove', { lost: 'approvals are not taken over' }],
  ['sandboxEnabled', { lost: 'the server is not sandboxed' }],
  ['sandbox', { lost: 'the server is not sandboxed' }],
  ['alwaysLoad', IGNORED],
  ['description', IGNORED],
  ['name', IGNORED],
  ['dev', IGNORED],
  ['gallery', IGNORED],
  ['version', IGNORED],
  ['lifecycle', IGNORED],
])

/** Entries under `mcp` of opencode. */
export const OPENCODE_RULES: MemberRules = new Map<string, MemberRule>([
  ['type', { to: 'type', as: (value) => (value === 'local' ? 'stdio' : value === 'remote' ? undefined : value) }],
  ['command', { split: splitCommand }],
  ['environment', { to: 'env' }],
  ['cwd', { to: 'cwd' }],
  ['url', { to: 'url' }],
  ['headers', { to: 'http_headers' }],
  ['oauth', { split: splitOauth }],
  ['enabled', { to: 'enabled' }],
  // opencode's timeout is for listing the tools at startup.
  ['timeout', { to: 'startup_timeout_sec', as: secondsOfMilliseconds }],
])

const TRANSPORT_TYPES: ReadonlyMap<Raw, string> = new Map([
  ['stdio', 'stdio'],
  ['local', 'stdio'],
  ['sse', 'sse'],
  ['http', 'streamable_http'],
  ['streamable-http', 'streamable_http'],
  ['streamable_http', 'streamable_http'],
  ['streamableHttp', 'streamable_http'],
  ['remote', 'streamable_http'],
])

function transportType(value: Raw): Raw {
  return TRANSPORT_TYPES.get(value) ?? value
}

function secondsOfMilliseconds(value: Raw): Raw {
  return typeof value === 'bigint' || typeof value === 'number' ? Number(value) / 1000 : value
}

/** Gemini CLI's `trust: true` skips every confirmation of the server's tools. */
function approvalOfTrust(value: Raw): Raw | undefined {
  if (typeof value !== 'boolean') return value
  return value ? 'approve' : undefined
}

/** VS Code allows numbers, and null for "not set". */
function textValues(value: Raw): Raw {
  if (!isTable(value)) return value
  const texts = emptyTable()
  for (const [name, entry] of Object.entries(value)) {
    if (entry !== null) texts[name] = typeof entry === 'number' || typeof entry === 'bigint' ? String(entry) : entry
  }
  return texts
}

function splitCommand(value: Raw): readonly SplitMember[] {
  if (!Array.isArray(value)) return [{ to: 'command', value, below: [] }]
  const [command, ...args]: readonly Raw[] = value
  if (command === undefined) return []
  const program: SplitMember = { to: 'command', value: command, below: ['0'] }
  return args.length === 0 ? [program] : [program, { to: 'args', value: args, below: [] }]
}

const OAUTH_MEMBERS: ReadonlyMap<string, string> = new Map([
  ['clientId', 'client_id'],
  ['callbackPort', 'callback_port'],
  ['callbackUrl', 'callback_url'],
  ['redirectUri', 'callback_url'],
])

/** Scopes stand beside `oauth` in our files. Members that we don't know stay, to be named. */
function splitOauth(value: Raw): readonly SplitMember[] {
  if (!isTable(value)) return value === false ? [] : [{ to: 'oauth', value, below: [] }]
  const settings = emptyTable()
  const split: SplitMember[] = [{ to: 'oauth', value: settings, below: [] }]
  for (const [name, entry] of Object.entries(value)) {
    if (name === 'scopes' || name === 'scope') split.push({ to: 'scopes', value: scopeList(entry), below: [name] })
    else if (name !== 'enabled') settings[OAUTH_MEMBERS.get(name) ?? name] = entry
  }
  return hasMembers(settings) ? split : split.slice(1)
}

function scopeList(value: Raw): Raw {
  return typeof value === 'string' ? value.split(/\s+/).filter((scope) => scope !== '') : value
}

function hasMembers(table: RawTable): boolean {
  return Object.keys(table).length > 0
}
