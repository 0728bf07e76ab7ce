import { nearest } from '../../config/index.js'
import { UnknownEnvironmentError } from '../../errors.js'
import { type ExecEnvironmentInfo, execPathStyle, pathOfFileUri } from '../../protocol/index.js'
import type { Cli } from '../cli.js'
import { loadForCli, tellProblems } from '../configuring/configuration.js'
import { environmentNextStep } from '../environments/next-step.js'
import { type ProbedEnvironment, probeEnvironments } from '../environments/probe.js'
import { entryMembers, shownWay } from '../environments/shown.js'
import { oneLine, printable } from '../printable.js'

/**
 * Connects to every configured environment, or to the one named, and shows what it is and how fast it answers; 1 when one
 * cannot be used.
 *
 * @throws UnknownEnvironmentError with the closest id
 */
export async function run(cli: Cli, id: string | undefined): Promise<number> {
  const { environments, problems } = await loadForCli(cli)
  const known = environments.entries.map((entry) => entry.id)
  if (id !== undefined && id !== 'local' && !known.includes(id)) {
    tellProblems(cli, { problems, shadowed: [] })
    throw unknown(id, known)
  }
  const ids = id === undefined ? known : [id]
  if (ids.length > 0) cli.err.progress(`connecting to ${ids.map(oneLine).join(', ')}`)
  const probed = await probeEnvironments(cli, environments, ids)
  cli.err.clear()
  if (cli.json) cli.out.json({ environments: probed.map(toJson) })
  else for (const one of probed) show(cli, one, one !== probed[0])
  if (ids.length === 0) cli.err.line("no environments are configured: see 'reeve env add --help'")
  const code = tellProblems(cli, { problems: id === undefined ? problems : [], shadowed: [] })
  return probed.every(({ ok }) => ok) ? code : 1
}

function unknown(id: string, known: readonly string[]): UnknownEnvironmentError {
  const suggestion = nearest(id, known)
  return new UnknownEnvironmentError(id, { known, ...(suggestion !== undefined && { suggestion }) })
}

function show(cli: Cli, probed: ProbedEnvironment, apart: boolean): void {
  const { style } = cli
  const { id, entry } = probed
  if (apart) cli.out.line()
  if (!probed.ok) {
    cli.out.line(`${style.bold(id)} ${style.red('✗')} ${printable(probed.error.message)}`)
    if (entry !== undefined) cli.out.line(`  reached by  ${oneLine(shownWay(entry))}`)
    const next = environmentNextStep(probed.error, entry)
    if (next !== undefined) cli.out.line(`  → ${oneLine(next)}`)
    return
  }
  const { info, connectMs, roundTripMs } = probed
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['reached by', entry === undefined ? 'this machine' : shownWay(entry)],
    ['version', info.executorVersion ?? undefined],
    ['system', info.platformOs ?? undefined],
    ['shell', `${info.shell.name} (${info.shell.path})`],
    ['folder', folderOf(info, info.cwd)],
    ['workspace', entry?.cwd],
    ['round trip', roundTripMs === undefined ? undefined : `${inMs(roundTripMs)} (connected in ${inMs(connectMs)})`],
    ['offers', capabilitiesOf(info).join(', ')],
  ]
  cli.out.line(`${style.bold(id)} ${style.green('✓')} ready`)
  for (const [label, value] of facts)
    if (value !== undefined && value !== '') cli.out.line(`  ${label.padEnd(10)}  ${oneLine(value)}`)
}

function toJson(probed: ProbedEnvironment): Record<string, unknown> {
  const { id, entry } = probed
  const head = { id, ...(entry === undefined ? { kind: 'local' } : entryMembers(entry)) }
  if (!probed.ok) {
    const { error } = probed
    const nextStep = environmentNextStep(error, entry) ?? null
    return { ...head, status: 'disconnected', error: error.toJSON(), next_step: nextStep }
  }
  const { info, connectMs, roundTripMs } = probed
  return {
    ...head,
    status: 'ready',
    error: null,
    version: info.executorVersion ?? null,
    system: info.platformOs ?? null,
    shell: info.shell,
    folder: folderOf(info, info.cwd) ?? null,
    home: folderOf(info, info.userHomeDir) ?? null,
    connect_ms: rounded(connectMs),
    round_trip_ms: roundTripMs === undefined ? null : rounded(roundTripMs),
    capabilities: capabilitiesOf(info),
  }
}

/** A path in the environment's own form. */
function folderOf({ platformOs }: ExecEnvironmentInfo, uri: string | null | undefined): string | undefined {
  return pathOfFileUri(uri, execPathStyle(platformOs))
}

function capabilitiesOf({ capabilities = {} }: ExecEnvironmentInfo): readonly string[] {
  return Object.entries(capabilities).flatMap(([name, has]) => (has ? [name] : []))
}

const inMs = (milliseconds: number): string => `${rounded(milliseconds)} ms`
const rounded = (milliseconds: number): number => Math.round(milliseconds * 100) / 100
