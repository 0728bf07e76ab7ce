import type {
  EnvVar,
  HttpServer,
  ServerConfig,
  ServerSandbox,
  ServerTransport,
  StdioServer,
  ToolSettings,
} from '../server.js'
import { type Path, type RawTable, shortened } from '../source/raw.js'
import { readTokenExchange } from '../token-exchange.js'
import { milliseconds } from './milliseconds.js'
import { HTTP_MEMBERS, STDIO_MEMBERS, serverShape } from './server-shape.js'
import { fault, type Notes } from './shape.js'

type ServerMembers = ReturnType<typeof serverShape.read>

/**
 * Reads one entry of `[mcp_servers]` (reference: catalog, 1). First every member by itself, then all together.
 *
 * @param entry the entry with `${VAR}` already expanded.
 * @param path where it stands, e.g. `['mcp_servers', 'x']`.
 * @throws ConfigError with the reference's texts: `wrong_type`, `unknown_value`, `invalid_value`, `invalid_transport`,
 * `member_not_supported`, `negative_duration`, `empty_value`, `local_only`.
 */
export function readServer(entry: RawTable, path: Path, notes: Notes): ServerConfig {
  const members = serverShape.read(entry, path, notes)
  const transport = readTransport(members, Object.keys(entry), path)
  const startupTimeoutMs = milliseconds(members.startup_timeout_sec, path) ?? members.startup_timeout_ms
  const toolTimeoutMs = milliseconds(members.tool_timeout_sec, [...path, 'tool_timeout_sec'])
  return Object.freeze({
    transport,
    environmentId: members.environment_id ?? 'local',
    // The enterprise-managed mode is refused by the reference too; its servers are listed as disabled.
    enabled: (members.enabled ?? true) && members.auth !== 'ema_auth',
    required: members.required ?? false,
    ...(startupTimeoutMs !== undefined && { startupTimeoutMs }),
    ...(members.protocol !== undefined && members.protocol !== 'auto' && { protocol: members.protocol }),
    startupReadiness: members.startup_readiness ?? 'connection',
    ...(toolTimeoutMs !== undefined && { toolTimeoutMs }),
    supportsParallelToolCalls: members.supports_parallel_tool_calls ?? false,
    ...(members.sharing && { sharing: members.sharing }),
    omitToolsFrom: Object.freeze(members.omit_tools_from ?? []),
    ...(members.default_tools_approval_mode && { defaultToolsApprovalMode: members.default_tools_approval_mode }),
    ...(members.enabled_tools && { enabledTools: Object.freeze(members.enabled_tools) }),
    ...(members.disabled_tools && { disabledTools: Object.freeze(members.disabled_tools) }),
    ...(members.scopes && { scopes: Object.freeze(members.scopes) }),
    tools: readToolSettings(members.tools),
  })
}

function readTransport(members: ServerMembers, written: readonly string[], path: Path): ServerTransport {
  refuseOtherType(members, path)
  if (members.command !== undefined) {
    refuseMembers(written, [...Object.keys(HTTP_MEMBERS), 'bearer_token'], 'stdio', path)
    return readStdio(members, members.command, path)
  }
  if (members.url !== undefined) {
    refuseMembers(written, [...Object.keys(STDIO_MEMBERS), 'bearer_token'], 'streamable_http', path)
    return readHttp(members, members.url, path)
  }
  throw fault('invalid_transport', 'invalid transport', path)
}

/** `type` is ours: only the old HTTP+SSE transport needs it, since a URL alone doesn't tell. */
function refuseOtherType(members: ServerMembers, path: Path): void {
  const { type } = members
  if (type === undefined) return
  const missing = type === 'stdio' ? 'command' : 'url'
  if (members[missing] !== undefined) return
  throw fault('invalid_transport', `invalid transport: type "${type}" needs ${missing}`, path, { member: 'type' })
}

function refuseMembers(written: readonly string[], foreign: readonly string[], transport: string, path: Path): void {
  const member = written.find((name) => foreign.includes(name))
  if (member === undefined) return
  throw fault('member_not_supported', `${member} is not supported for ${transport}`, path, { member, transport })
}

function readStdio(members: ServerMembers, command: string, path: Path): StdioServer {
  const sandbox = readSandbox(members, path)
  return Object.freeze({
    type: 'stdio',
    command,
    args: Object.freeze(members.args ?? []),
    env: Object.freeze(members.env ?? emptyRecord<string>()),
    envVars: Object.freeze((members.env_vars ?? []).map((variable) => readEnvVar(variable, path))),
    ...(members.cwd !== undefined && { cwd: members.cwd }),
    ...(sandbox && { sandbox }),
  })
}

/** A network of no sandbox is a mistake that nobody would notice: the sandbox was forgotten, or its name misspelt. */
function readSandbox(
  { sandbox: mode, sandbox_network: network }: ServerMembers,
  path: Path,
): ServerSandbox | undefined {
  if (network !== undefined && (mode === undefined || mode === 'danger-full-access')) {
    const message = 'sandbox_network needs a sandbox: `read-only` or `workspace-write`'
    throw fault('invalid_value', message, [...path, 'sandbox_network'], { member: 'sandbox_network' })
  }
  if (mode === undefined) return undefined
  return Object.freeze({ mode, network: network ?? mode === 'danger-full-access' })
}

function readEnvVar(variable: string | { readonly name: string; readonly source?: string }, path: Path): EnvVar {
  if (typeof variable === 'string') return variable
  const { name, source } = variable
  if (source === undefined) return Object.freeze({ name })
  if (source === 'local' || source === 'remote') return Object.freeze({ name, source })
  const message = `unsupported env_vars source \`${shortened(source)}\`; expected \`local\` or \`remote\``
  throw fault('unknown_value', message, path, { member: 'env_vars' })
}

function readHttp(members: ServerMembers, url: string, path: Path): HttpServer {
  const helper = members.http_headers_helper
  if (helper !== undefined && helper.trim() === '')
    throw fault('empty_value', 'http_headers_helper must not be empty', path, { member: 'http_headers_helper' })
  if (helper !== undefined && (members.environment_id ?? 'local') !== 'local') {
    const message = 'http_headers_helper is only supported for local MCP servers'
    throw fault('local_only', message, path, { member: 'http_headers_helper' })
  }
  return Object.freeze({
    type: members.type === 'sse' ? 'sse' : 'streamable_http',
    url,
    ...(members.bearer_token_env_var !== undefined && { bearerTokenEnvVar: members.bearer_token_env_var }),
    httpHeaders: Object.freeze(members.http_headers ?? emptyRecord<string>()),
    envHttpHeaders: Object.freeze(members.env_http_headers ?? emptyRecord<string>()),
    ...(helper !== undefined && { httpHeadersHelper: helper }),
    ...(members.oauth && { oauth: readOauth(members.oauth, path) }),
    ...(members.oauth_resource !== undefined && { oauthResource: members.oauth_resource }),
    auth: members.auth ?? 'oauth',
  })
}

function readOauth(oauth: NonNullable<ServerMembers['oauth']>, path: Path): NonNullable<HttpServer['oauth']> {
  return Object.freeze({
    ...(oauth.client_id !== undefined && { clientId: oauth.client_id }),
    ...(oauth.callback_url !== undefined && { callbackUrl: oauth.callback_url }),
    ...(oauth.callback_port !== undefined && { callbackPort: oauth.callback_port }),
    ...(oauth.token_exchange && { tokenExchange: readTokenExchange(oauth.token_exchange, path) }),
  })
}

/** The `tools` table of a server or of a plugin's policy. */
export function readToolSettings(tools: ServerMembers['tools']): Readonly<Record<string, ToolSettings>> {
  const read: Record<string, ToolSettings> = emptyRecord()
  for (const [name, settings] of Object.entries(tools ?? {})) {
    read[name] = Object.freeze({
      ...(settings.approval_mode && { approvalMode: settings.approval_mode }),
      ...(settings.output_token_limit !== undefined && { outputTokenLimit: settings.output_token_limit }),
    })
  }
  return Object.freeze(read)
}

function emptyRecord<T>(): Record<string, T> {
  return Object.create(null)
}
