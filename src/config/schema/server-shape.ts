import { isTable } from '../source/raw.js'
import { tokenExchangeShape } from '../token-exchange.js'
import { described, fault, flag, integer, list, map, oneOf, type Shape, seconds, table, text } from './shape.js'

const U64 = 2n ** 64n - 1n

export const approvalMode = oneOf('auto', 'prompt', 'writes', 'approve')

/** `"NAME"` or `{ name, source? }`; the value of `source` is judged with the whole server, as in the reference. */
const envVar: Shape<string | { readonly name: string; readonly source?: string }> = {
  schema: {
    anyOf: [
      { type: 'string' },
      {
        type: 'object',
        properties: { name: { type: 'string' }, source: { enum: ['local', 'remote'] } },
        required: ['name'],
        additionalProperties: false,
      },
    ],
  },
  read(value, path) {
    if (typeof value === 'string') return value
    const noVariant = 'data did not match any variant of untagged enum McpServerEnvVar'
    if (!isTable(value)) throw fault('wrong_type', noVariant, path)
    const { name, source, ...others } = value
    if (typeof name !== 'string' || Object.keys(others).length > 0) throw fault('wrong_type', noVariant, path)
    if (source === undefined) return { name }
    if (typeof source !== 'string') throw fault('wrong_type', noVariant, path)
    return { name, source }
  },
}

export const toolSettings = table({
  approval_mode: described(approvalMode, 'Approval mode of this tool; wins over the default of its server.'),
  output_token_limit: described(integer('a nonzero usize', 1n, U64), 'Longest output handed to the model, in tokens.'),
})

/** Members of a stdio server alone (reference: catalog, 1.1). */
export const STDIO_MEMBERS = {
  command: described(text, 'Program of a stdio server.'),
  args: described(list(text), 'Its arguments.'),
  env: described(map(text), 'Variables of its environment, by value.'),
  env_vars: described(list(envVar), 'Variables taken over from the environment by name.'),
  cwd: described(text, 'Its working directory; required when a shared server runs on another machine.'),
  sandbox: described(
    oneOf('read-only', 'workspace-write', 'danger-full-access'),
    'Sandbox that its process runs in, on this machine alone: it may read everything, and write nothing, or to its ' +
      'working directory and temporary folders. `danger-full-access` is none.',
  ),
  sandbox_network: described(flag, 'Whether it has a network in its sandbox.', { default: false }),
}

/** Members of an HTTP server alone (reference: catalog, 1.2). */
export const HTTP_MEMBERS = {
  url: described(text, 'Endpoint of a streamable HTTP server.'),
  bearer_token_env_var: described(text, 'Variable that holds the bearer token.'),
  http_headers: described(map(text), 'Headers of every request, by value.'),
  env_http_headers: described(map(text), 'Headers of every request; each value names a variable.'),
  http_headers_helper: described(text, 'Command that prints further headers as JSON. Local servers only.', {
    minLength: 1,
  }),
  oauth: described(
    table({
      client_id: described(text, 'Client id registered beforehand.'),
      callback_url: described(text, 'Redirect URL registered beforehand.'),
      callback_port: described(integer('u16', 0n, 0xffffn), 'Port of the loopback redirect; 0 = any.'),
      token_exchange: described(tokenExchangeShape, "Principals' own tokens are exchanged for one of this server."),
    }),
    'Settings of the OAuth login.',
  ),
  oauth_resource: described(text, 'Resource indicator (RFC 8707), when it differs from the URL.'),
  auth: described(oneOf('oauth', 'chatgpt', 'ema_auth'), 'Where credentials come from.', { default: 'oauth' }),
}

/** Members of both (reference: catalog, 1.3). */
export const BOTH_MEMBERS = {
  type: described(oneOf('stdio', 'streamable_http', 'sse'), 'Transport; only `sse`, the old one, must be said.'),
  environment_id: described(text, 'Environment that the server runs in, or is reached from.', { default: 'local' }),
  enabled: described(flag, 'False keeps the entry without using it.', { default: true }),
  required: described(flag, 'When it fails to start, so does the thread.', { default: false }),
  startup_timeout_sec: described(seconds, 'Seconds to start and to list its tools.', { default: 30 }),
  startup_timeout_ms: described(integer('u64', 0n, U64), 'The same in milliseconds; the seconds win.'),
  startup_readiness: described(oneOf('connection', 'catalog'), 'What a required server must have at startup.', {
    default: 'connection',
  }),
  protocol: described(
    oneOf('auto', 'legacy', 'modern'),
    'Protocol era: `legacy` up to 2025-11-25, `modern` from 2026-07-28; `auto` asks the server and remembers.',
    { default: 'auto' },
  ),
  tool_timeout_sec: described(seconds, 'Seconds for one tool call.', { default: 300 }),
  supports_parallel_tool_calls: described(flag, 'Its tools may run at the same time.', { default: false }),
  sharing: described(
    oneOf('auto', 'isolated'),
    'Whether sessions of the gateway may share one process of it; `isolated` gives each its own.',
    { default: 'auto' },
  ),
  omit_tools_from: described(list(oneOf('code_mode', 'deferred', 'direct')), 'Where its tools are not offered.'),
  default_tools_approval_mode: described(approvalMode, 'Approval mode of tools without a setting of their own.', {
    default: 'auto',
  }),
  enabled_tools: described(list(text), 'When given, only these tools are offered (raw names).'),
  disabled_tools: described(list(text), 'Tools that are not offered; beats `enabled_tools`.'),
  scopes: described(list(text), 'OAuth scopes to ask for.'),
  tools: described(map(toolSettings), 'Settings per tool, by raw name.'),
}

/** Read, and then refused or ignored. */
const LEGACY_MEMBERS = { bearer_token: text, name: text, experimental_environment: text }

/** One entry of `[mcp_servers]`, before the members are judged together. */
export const serverShape = table({ ...STDIO_MEMBERS, ...HTTP_MEMBERS, ...BOTH_MEMBERS, ...LEGACY_MEMBERS })

/** What editors are told: without the legacy members. */
export const serverSchema = {
  ...table({ ...STDIO_MEMBERS, ...HTTP_MEMBERS, ...BOTH_MEMBERS }).schema,
  oneOf: [{ required: ['command'] }, { required: ['url'] }],
}
