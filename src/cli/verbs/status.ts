import type { ConnectionStatus, ServerStatus } from '../../connections/index.js'
import type { Cli } from '../cli.js'
import { type EnvironmentOption, optionalSelector } from '../selection.js'
import { withThread } from '../session.js'
import { keyColumns, keyMembers } from '../showing/server-names.js'
import type { Style } from '../style.js'
import type { Column } from '../table.js'

/** Starts the servers and prints what became of each; 1 when one that is enabled did not come up. */
export async function run(cli: Cli, name: string | undefined, options: EnvironmentOption): Promise<number> {
  const selector = optionalSelector(name, options)
  return withThread(cli, selector === undefined ? {} : { only: [selector] }, async (thread) => {
    cli.err.progress(selector === undefined ? 'starting the servers' : `starting ${selector.server}`)
    await thread.step({ wait: 'all', signal: cli.signal })
    const rows = thread.servers()
    cli.err.clear()
    if (cli.json) cli.out.json({ servers: rows.map(toJson) })
    else showRows(cli, rows)
    return rows.every(isFine) ? 0 : 1
  })
}

const isFine = ({ status }: ServerStatus): boolean => status === 'connected' || status === 'disabled'

function showRows(cli: Cli, rows: readonly ServerStatus[]): void {
  if (rows.length === 0) cli.err.line("no servers are configured: see 'reeve add --help'")
  cli.out.table(rows, [
    ...keyColumns(rows),
    ...placeColumns(rows),
    { title: 'STATUS', value: ({ status }) => `${MARKS[status]} ${WORDS[status]}`, paint: paintStatus(cli.style) },
    { title: 'TRANSPORT', value: ({ transport }) => transport },
    { title: 'TOOLS', value: ({ tools }) => tools?.toString(), align: 'right' },
    { title: 'VERSION', value: versionOf },
    { title: 'NOTE', value: ({ error }) => error?.message },
  ])
}

/** Where each runs, or is reached from, where that is not always here. */
function placeColumns(rows: readonly ServerStatus[]): Column<ServerStatus>[] {
  const elsewhere = rows.some(({ key, executionEnvironment: id }) => id !== 'local' && id !== key.environment)
  return elsewhere ? [{ title: 'RUNS IN', value: ({ executionEnvironment }) => executionEnvironment }] : []
}

const MARKS: Readonly<Record<ConnectionStatus, string>> = {
  connected: '✓',
  failed: '✗',
  authentication_required: '!',
  cancelled: '⊘',
  disabled: '⊘',
  not_started: '·',
  starting: '…',
}

const WORDS: Readonly<Record<ConnectionStatus, string>> = {
  connected: 'connected',
  failed: 'failed',
  authentication_required: 'needs auth',
  cancelled: 'cancelled',
  disabled: 'disabled',
  not_started: 'not started',
  starting: 'starting',
}

function paintStatus(style: Style): (text: string, row: ServerStatus) => string {
  return (text, { status }) => {
    if (status === 'connected') return style.green(text)
    if (status === 'failed' || status === 'authentication_required') return style.red(text)
    return style.dim(text)
  }
}

function versionOf({ serverInfo }: ServerStatus): string | undefined {
  const parts = [serverInfo?.name, serverInfo?.version].filter((part) => typeof part === 'string' && part !== '')
  return parts.length > 0 ? parts.join(' ') : undefined
}

function toJson(row: ServerStatus): Record<string, unknown> {
  return {
    ...keyMembers(row.key),
    status: row.status,
    required: row.required,
    transport: row.transport,
    execution_environment: row.executionEnvironment,
    ...(row.sandbox && { sandbox: row.sandbox.mode, sandbox_network: row.sandbox.network }),
    since: new Date(row.since).toISOString(),
    tools: row.tools ?? null,
    cached: row.cached,
    server_info: row.serverInfo ?? null,
    capabilities: row.capabilities ?? null,
    instructions: row.instructions ?? null,
    error: row.error?.toJSON() ?? null,
    failure_reason: row.failureReason ?? null,
    retry_at: row.retryAt === undefined ? null : new Date(row.retryAt).toISOString(),
  }
}
