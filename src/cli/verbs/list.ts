import {
  type ConfiguredServer,
  fullEntry,
  type HttpServer,
  type ServerConfig,
  type StdioServer,
  staticAuthStatus,
  variablesCell,
} from '../../config/index.js'
import type { Cli } from '../cli.js'
import { loadForCli, tellProblems } from '../configuring/configuration.js'
import { shownConfig } from '../configuring/shown.js'
import { sandboxText } from '../showing/sandbox.js'
import type { Column } from '../table.js'

/** Lists configured servers without starting any; 1 when part of the configuration is an error. */
export async function run(cli: Cli, options: { readonly showSecrets?: boolean }): Promise<number> {
  const loaded = await loadForCli(cli)
  const { servers } = loaded
  if (cli.json) cli.out.json(servers.map((server) => fullEntry(server, shownConfig(server, options))))
  else showTables(cli, servers, options)
  const code = tellProblems(cli, loaded)
  if (servers.length === 0)
    cli.err.line("no servers are configured: see 'reeve add --help', or 'reeve import' for those of other clients")
  return code
}

interface Row<Transport> {
  readonly name: string
  readonly config: ServerConfig
  readonly transport: Transport
}

/** One table per transport, as in the reference (surfaces, 1.1). */
function showTables(cli: Cli, servers: readonly ConfiguredServer[], options: { readonly showSecrets?: boolean }): void {
  const stdio: Row<StdioServer>[] = []
  const http: Row<HttpServer>[] = []
  for (const server of servers) {
    const config = shownConfig(server, options)
    const { name } = server
    if (config.transport.type === 'stdio') stdio.push({ name, config, transport: config.transport })
    else http.push({ name, config, transport: config.transport })
  }
  cli.out.table(stdio, [
    { title: 'NAME', value: ({ name }) => name },
    { title: 'COMMAND', value: ({ transport }) => transport.command },
    { title: 'ARGS', value: ({ transport }) => transport.args.join(' ') },
    { title: 'ENV', value: ({ transport }) => variablesCell(transport.env, transport.envVars) },
    { title: 'CWD', value: ({ transport }) => transport.cwd },
    ...(stdio.some(({ transport }) => transport.sandbox !== undefined) ? [SANDBOX] : []),
    ...ending(cli, stdio),
  ])
  if (stdio.length > 0 && http.length > 0) cli.out.line()
  cli.out.table(http, [
    { title: 'NAME', value: ({ name }) => name },
    { title: 'URL', value: ({ transport }) => transport.url },
    { title: 'BEARER TOKEN ENV VAR', value: ({ transport }) => transport.bearerTokenEnvVar },
    ...ending(cli, http),
  ])
}

/** Only where a server asks for one. */
const SANDBOX: Column<Row<StdioServer>> = { title: 'SANDBOX', value: ({ transport }) => sandboxText(transport) }

/** Columns of both tables; ENVIRONMENT only where a server is not local. */
function ending<R extends Row<unknown>>(cli: Cli, rows: readonly R[]): Column<R>[] {
  const environment: Column<R> = { title: 'ENVIRONMENT', value: ({ config }) => config.environmentId }
  return [
    ...(rows.some(({ config }) => config.environmentId !== 'local') ? [environment] : []),
    {
      title: 'STATUS',
      value: ({ config }) => (config.enabled ? 'enabled' : 'disabled'),
      paint: (text, { config }) => (config.enabled ? cli.style.green(text) : cli.style.dim(text)),
    },
    { title: 'AUTH', value: ({ config }) => AUTH_WORDS[staticAuthStatus(config)] },
  ]
}

/** The words of the reference. */
const AUTH_WORDS = { unsupported: 'Unsupported', unknown: 'Unknown', bearer_token: 'Bearer token' } as const
