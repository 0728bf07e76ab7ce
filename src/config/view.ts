import { MASK } from './mask.js'
import type { ConfiguredServer, EnvVar, HttpServer, ServerConfig, ServerTransport } from './server.js'
import type { TokenExchangeSettings } from './token-exchange.js'

/** Words of the reference's command line (reference: auth, 1.2). */
export type StaticAuthStatus = 'unsupported' | 'unknown' | 'bearer_token'

/**
 * What can be said about a server's credentials without asking anyone: nothing is started, no discovery, no store.
 * `unknown` means that only a login or the server itself can tell.
 */
export function staticAuthStatus(config: ServerConfig): StaticAuthStatus {
  const { transport } = config
  if (!config.enabled || transport.type === 'stdio') return 'unsupported'
  const explicit = hasExplicitAuthorization(transport)
  if (transport.auth === 'chatgpt' && config.environmentId !== 'local') return explicit ? 'bearer_token' : 'unsupported'
  if (transport.httpHeadersHelper !== undefined) return 'unknown'
  return explicit ? 'bearer_token' : 'unknown'
}

function hasExplicitAuthorization(server: HttpServer): boolean {
  const names = [...Object.keys(server.httpHeaders), ...Object.keys(server.envHttpHeaders)]
  return server.bearerTokenEnvVar !== undefined || names.some((name) => name.toLowerCase() === 'authorization')
}

/** One entry of the reference's `list --json` (reference: surfaces, 1.1). Nothing is masked. */
export function referenceListEntry(name: string, config: ServerConfig) {
  return { ...facts(name, config), ...timeouts(config), auth_status: staticAuthStatus(config) }
}

/** The reference's `get --json` (reference: surfaces, 1.2). Nothing is masked. */
export function referenceGetEntry(name: string, config: ServerConfig) {
  return { ...facts(name, config), ...filters(config), ...timeouts(config) }
}

/** Ours, of `list --json` and `get --json`: the members of both, then all that the reference hides. */
export function fullEntry({ name, origin }: ConfiguredServer, config: ServerConfig) {
  const { transport } = config
  return {
    ...facts(name, config),
    ...filters(config),
    ...timeouts(config),
    auth_status: staticAuthStatus(config),
    environment_id: config.environmentId,
    required: config.required,
    startup_readiness: config.startupReadiness,
    supports_parallel_tool_calls: config.supportsParallelToolCalls,
    sharing: config.sharing ?? 'auto',
    omit_tools_from: config.omitToolsFrom,
    default_tools_approval_mode: config.defaultToolsApprovalMode ?? null,
    tools: Object.fromEntries(
      Object.entries(config.tools).map(([tool, settings]) => [
        tool,
        { approval_mode: settings.approvalMode ?? null, output_token_limit: settings.outputTokenLimit ?? null },
      ]),
    ),
    scopes: config.scopes ?? null,
    ...(transport.type !== 'stdio' && {
      auth: transport.auth,
      oauth: transport.oauth
        ? {
            client_id: transport.oauth.clientId ?? null,
            callback_url: transport.oauth.callbackUrl ?? null,
            callback_port: transport.oauth.callbackPort ?? null,
            ...(transport.oauth.tokenExchange && { token_exchange: exchangeEntry(transport.oauth.tokenExchange) }),
          }
        : null,
      oauth_resource: transport.oauthResource ?? null,
    }),
    source: { file: origin.file, layer: origin.layer, line: origin.line ?? null },
  }
}

function exchangeEntry(settings: TokenExchangeSettings) {
  const {
    clientId,
    clientSecretEnv = null,
    audience = null,
    resource = null,
    scopes = null,
    tokenEndpoint = null,
  } = settings
  return {
    client_id: clientId,
    client_secret_env: clientSecretEnv,
    audience,
    resource,
    scopes,
    token_endpoint: tokenEndpoint,
  }
}

function facts(name: string, config: ServerConfig) {
  return {
    name,
    enabled: config.enabled,
    disabled_reason: config.disabledReason === undefined ? null : `requirements (${config.disabledReason.source})`,
    transport: transportEntry(config.transport),
  }
}

function filters(config: ServerConfig) {
  return { enabled_tools: config.enabledTools ?? null, disabled_tools: config.disabledTools ?? null }
}

function timeouts(config: ServerConfig) {
  return {
    startup_timeout_sec: secondsOf(config.startupTimeoutMs),
    tool_timeout_sec: secondsOf(config.toolTimeoutMs),
  }
}

function secondsOf(milliseconds: number | undefined): number | null {
  return milliseconds === undefined ? null : milliseconds / 1000
}

function transportEntry(transport: ServerTransport) {
  if (transport.type === 'stdio') {
    return {
      type: transport.type,
      command: transport.command,
      args: transport.args,
      env: sortedOrNull(transport.env),
      env_vars: transport.envVars,
      cwd: transport.cwd ?? null,
      ...(transport.sandbox && { sandbox: transport.sandbox.mode, sandbox_network: transport.sandbox.network }),
    }
  }
  return {
    type: transport.type,
    url: transport.url,
    bearer_token_env_var: transport.bearerTokenEnvVar ?? null,
    http_headers: sortedOrNull(transport.httpHeaders),
    env_http_headers: sortedOrNull(transport.envHttpHeaders),
    http_headers_helper: transport.httpHeadersHelper ?? null,
  }
}

function sortedOrNull(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> | null {
  const entries = Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1))
  return entries.length === 0 ? null : Object.fromEntries(entries)
}

/** The cell of a table for variables: `KEY=*****`, names alone with the mask as well, as in the reference. */
export function variablesCell(env: Readonly<Record<string, string>>, envVars: readonly EnvVar[]): string {
  const values = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const names = envVars.map((variable) => `${typeof variable === 'string' ? variable : variable.name}=${MASK}`)
  return [...values, ...names].join(', ')
}
