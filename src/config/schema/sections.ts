import { isAbsolute } from 'node:path'
import { appShape } from '../app-policy.js'
import { ENVIRONMENT_SECTIONS } from '../environments/members.js'
import { gatewayShape } from '../gateway-auth.js'
import { HOOKS_SCHEMA } from '../hooks/read-hooks.js'
import { PERMISSION_SECTIONS } from '../permissions/members.js'
import { approvalMode, BOTH_MEMBERS, serverSchema, toolSettings } from './server-shape.js'
import { described, fault, flag, integer, list, map, oneOf, type Shape, table, text } from './shape.js'

const pluginServerPolicy = table({
  enabled: BOTH_MEMBERS.enabled,
  default_tools_approval_mode: described(approvalMode, 'Approval mode of its tools.'),
  enabled_tools: described(list(text), 'When given, only these tools are offered (raw names).'),
  disabled_tools: described(list(text), 'Tools that are not offered.'),
  tools: described(map(toolSettings), 'Settings per tool, by raw name.'),
})

/** `[plugins."<id>"]` (reference: catalog, 5). */
export const pluginPolicy = table({
  enabled: described(flag, 'Whether the plugin is used.'),
  trusted_in: described(list(text), 'Environments in which this policy may also ask less than the plugin does.'),
  mcp_servers: described(map(pluginServerPolicy), 'Policy for the servers that the plugin brings.'),
})

/** `[projects."<folder>"]`. */
export const projectTrust = table({
  trust_level: described(oneOf('trusted', 'untrusted'), "Whether the project's own configuration counts."),
})

export const credentialsStore = oneOf('auto', 'file', 'keyring')
export const firstPartyStore = oneOf('auto', 'file', 'keyring', 'ephemeral')
export const callbackPort = integer('u16', 0n, 0xffffn)

/** `[broker]`. A timer of Node holds 24 days. */
export const brokerSettings = table({
  idle_timeout_sec: described(
    integer('1 to 2000000 seconds', 1n, 2_000_000n),
    'Seconds that it stays without a client.',
    {
      default: 300,
    },
  ),
})

/** `launcher`: what servers are told to run commands through. The PATH is never searched, so a bare name says nothing. */
export const launcherSetting: Shape<string> = {
  schema: { ...text.schema, default: 'auto', examples: ['auto', 'none', '/usr/local/bin/codex'] },
  read(value, path, notes) {
    const setting = text.read(value, path, notes)
    if (setting === 'auto' || setting === 'none' || (isAbsolute(setting) && !setting.includes('\0'))) return setting
    throw fault('invalid_value', 'must be `auto`, `none`, or the absolute path of a Codex CLI', path)
  },
}

/** `[audit]`. */
export const auditSettings = table({
  mode: described(
    oneOf('on', 'strict', 'off'),
    'on: written shortly after each call; strict: before its result is handed over; off: nothing is kept.',
    { default: 'on' },
  ),
  keep_days: described(integer('1 to 36500 days', 1n, 36_500n), 'Days after which a record goes.', { default: 90 }),
  max_mb: described(integer('1 to 65536 megabytes', 1n, 65_536n), 'Megabytes kept; the oldest records go first.', {
    default: 256,
  }),
  arguments: described(
    oneOf('digest', 'whole'),
    'Whether arguments and results are kept by their SHA-256 digest, or whole with secrets masked.',
    { default: 'digest' },
  ),
})

/** `[analytics]`. */
export const analyticsSettings = table({
  enabled: described(flag, 'Whether tool calls are told to the first-party backend, without arguments and results.', {
    default: false,
  }),
  endpoint: described(
    text,
    'Base URL that events go to instead; only the backend itself gets credentials. Empty: none.',
  ),
})

const RUNTIME_AUTH_SCHEMA = {
  description: 'Whether requests to the first-party backend carry an assertion of this process, and how.',
  anyOf: [
    { type: 'boolean' },
    {
      type: 'object',
      properties: {
        enabled: { type: 'boolean', default: false },
        mode: { enum: ['dual_header', 'assertion_only'], default: 'dual_header' },
      },
      additionalProperties: false,
    },
  ],
}

/** Every top-level member that is read, for nearest-name hints. */
export const TOP_LEVEL_MEMBERS = [
  'mcp_servers',
  'plugins',
  'apps',
  'features',
  'hooks',
  'projects',
  'broker',
  'gateway',
  'audit',
  'analytics',
  'launcher',
  'environments',
  'capability_roots',
  'sandbox_mode',
  'sandbox_workspace_write',
  'default_permissions',
  'permissions',
  'mcp_oauth_credentials_store',
  'cli_auth_credentials_store',
  'mcp_oauth_callback_port',
  'mcp_oauth_callback_url',
  'suppress_unstable_features_warning',
] as const

/** JSON Schema (2020-12) of `config.toml`, for editors. */
export function configSchema(): Record<string, unknown> {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Reeve configuration',
    type: 'object',
    properties: {
      mcp_servers: {
        description: 'MCP servers by name.',
        type: 'object',
        propertyNames: { pattern: '^[a-zA-Z0-9_:@/.-]+$' },
        additionalProperties: serverSchema,
      },
      plugins: { description: 'Policy per plugin.', ...map(pluginPolicy).schema },
      apps: {
        description: 'Policy per hosted app, by connector id; `_default` for the rest.',
        ...map(appShape).schema,
      },
      features: {
        description: 'Features on or off.',
        type: 'object',
        properties: { runtime_agent_instances: RUNTIME_AUTH_SCHEMA },
        additionalProperties: { type: 'boolean' },
      },
      hooks: HOOKS_SCHEMA,
      projects: { description: 'Trust per project folder.', ...map(projectTrust).schema },
      broker: { description: "The process that runs this home's servers.", ...brokerSettings.schema },
      gateway: { description: 'The gateway over HTTP.', ...gatewayShape.schema },
      launcher: {
        description: 'Program that servers of this machine may run commands through, under the policy of each call.',
        ...launcherSetting.schema,
      },
      audit: { description: 'What is recorded of calls.', ...auditSettings.schema },
      analytics: { description: 'What is told of calls.', ...analyticsSettings.schema },
      ...ENVIRONMENT_SECTIONS,
      ...PERMISSION_SECTIONS,
      mcp_oauth_credentials_store: { description: 'Where OAuth tokens are kept.', ...credentialsStore.schema },
      cli_auth_credentials_store: {
        description: 'Where the first-party login is kept.',
        ...firstPartyStore.schema,
        default: 'file',
      },
      mcp_oauth_callback_port: { description: 'Port of the OAuth redirect.', ...callbackPort.schema },
      mcp_oauth_callback_url: { description: 'OAuth redirect URL.', ...text.schema },
      suppress_unstable_features_warning: { description: 'No warning about unstable features.', ...flag.schema },
    },
  }
}
