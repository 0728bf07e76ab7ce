import {
  type ConfiguredServer,
  fullEntry,
  type ServerConfig,
  type ServerTransport,
  variablesCell,
} from '../../config/index.js'
import type { Cli } from '../cli.js'
import { loadForCli, serverNamed, tellProblems } from '../configuring/configuration.js'
import { shownConfig } from '../configuring/shown.js'
import { oneLine } from '../printable.js'
import { sandboxText } from '../showing/sandbox.js'

/**
 * Shows one configured server without starting it.
 *
 * @throws UnknownServerError, or ConfigError when its entry is broken
 */
export async function run(cli: Cli, name: string, options: { readonly showSecrets?: boolean }): Promise<number> {
  const loaded = await loadForCli(cli)
  const server = serverNamed(loaded, name)
  const config = shownConfig(server, options)
  if (cli.json) cli.out.json(fullEntry(server, config))
  else showLines(cli, server, config)
  return tellProblems(cli, {
    problems: loaded.problems.filter((problem) => problem.server === name),
    shadowed: loaded.shadowed.filter((entry) => entry.name === name),
  })
}

function showLines(cli: Cli, { name, origin }: ConfiguredServer, config: ServerConfig): void {
  const { disabledReason: reason } = config
  const lines: readonly (readonly [string, string | undefined])[] = [
    ['enabled', reason === undefined ? String(config.enabled) : `false (requirements: ${reason.source})`],
    ['enabled_tools', config.enabledTools?.join(', ')],
    ['disabled_tools', config.disabledTools?.join(', ')],
    ...transportLines(config.transport),
    ['environment_id', config.environmentId],
    ['required', config.required ? 'true' : undefined],
    ['startup_timeout_sec', seconds(config.startupTimeoutMs)],
    ['startup_readiness', config.startupReadiness === 'connection' ? undefined : config.startupReadiness],
    ['tool_timeout_sec', seconds(config.toolTimeoutMs)],
    ['default_tools_approval_mode', config.defaultToolsApprovalMode],
    ...Object.entries(config.tools).map(([tool, { approvalMode, outputTokenLimit }]) => {
      const settings = [approvalMode, outputTokenLimit === undefined ? undefined : `${outputTokenLimit} tokens`]
      return [`tools.${tool}`, settings.filter((text) => text !== undefined).join(', ')] as const
    }),
    ['scopes', config.scopes?.join(', ')],
    ['source', origin.line === undefined ? origin.file : `${origin.file}:${origin.line}`],
    ['remove', `reeve remove ${name}`],
  ]
  cli.out.line(cli.style.bold(oneLine(name)))
  for (const [label, value] of lines) if (value !== undefined) cli.out.line(`  ${label}: ${oneLine(value) || '-'}`)
}

function transportLines(transport: ServerTransport): readonly (readonly [string, string | undefined])[] {
  if (transport.type === 'stdio') {
    return [
      ['transport', transport.type],
      ['command', transport.command],
      ['args', transport.args.join(' ')],
      ['cwd', transport.cwd ?? ''],
      ['sandbox', sandboxText(transport)],
      ['env', variablesCell(transport.env, transport.envVars)],
    ]
  }
  return [
    ['transport', transport.type],
    ['url', transport.url],
    ['bearer_token_env_var', transport.bearerTokenEnvVar ?? ''],
    ['http_headers', pairs(transport.httpHeaders)],
    ['env_http_headers', pairs(transport.envHttpHeaders)],
    ['http_headers_helper', transport.httpHeadersHelper],
    ['auth', transport.auth === 'oauth' ? undefined : transport.auth],
    ['oauth_client_id', transport.oauth?.clientId],
    ['oauth_resource', transport.oauthResource],
  ]
}

function pairs(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ')
}

function seconds(milliseconds: number | undefined): string | undefined {
  return milliseconds === undefined ? undefined : String(milliseconds / 1000)
}
