import type { LauncherFindings } from '../../reeve.js'
import type { Cli } from '../cli.js'
import { oneLine, printable } from '../printable.js'
import { keyMembers } from '../showing/server-names.js'
import { count } from '../showing/units.js'
import type { Finding } from './finding.js'
import { launcherLine } from './launcher-findings.js'
import type { ExaminedServer } from './server-findings.js'

export interface Report {
  readonly findings: readonly Finding[]
  readonly servers: readonly ExaminedServer[]
  /** Whether servers were started. */
  readonly started: boolean
  /** Absent when nothing was started. */
  readonly launchers?: LauncherFindings
}

export function showReport(cli: Cli, report: Report): void {
  if (cli.json) cli.out.json(toJson(report))
  else showText(cli, report)
}

function toJson({ findings, servers, started, launchers }: Report): Record<string, unknown> {
  return {
    ok: findings.every(({ severity }) => severity !== 'error'),
    started,
    findings: findings.map(({ key, ...finding }) => ({
      ...finding,
      ...(key !== undefined && keyMembers(key)),
    })),
    servers: servers.map(({ status, startMs, tools }) => ({
      ...keyMembers(status.key),
      status: status.status,
      start_ms: startMs ?? null,
      tools: tools ?? null,
    })),
    launchers: launchers ?? null,
  }
}

function showText(cli: Cli, { findings, servers, started, launchers }: Report): void {
  const errors = findings.filter(({ severity }) => severity === 'error')
  const warnings = findings.filter(({ severity }) => severity === 'warning')
  for (const finding of [...errors, ...warnings]) showFinding(cli, finding)
  const connected = servers.filter(({ status }) => status.status === 'connected')
  const tools = connected.reduce((sum, server) => sum + (server.tools ?? 0), 0)
  const far = connected.filter(({ status }) => status.key.environment !== null).length
  const owned = far === 0 ? '' : ` (${far} of environments)`
  const up = started
    ? `${count(connected.length, 'server')} up${owned}, ${count(tools, 'tool')}`
    : 'no server was started'
  const summary =
    findings.length === 0 ? 'no problems' : `${count(errors.length, 'error')}, ${count(warnings.length, 'warning')}`
  cli.out.line(`${summary}; ${up}`)
  if (launchers !== undefined) cli.out.line(`launcher of sandboxed commands: ${oneLine(launcherLine(launchers))}`)
}

function showFinding(cli: Cli, { severity, place, message, mend }: Finding): void {
  const { style } = cli
  const mark = severity === 'error' ? style.red('✗') : style.yellow('!')
  const [first = '', ...rest] = printable(message).split('\n')
  cli.out.line(`${mark} ${style.bold(oneLine(place))}: ${first}`)
  for (const line of rest) cli.out.line(style.dim(`    ${line}`))
  if (mend !== undefined) cli.out.line(`    → ${oneLine(mend)}`)
}
