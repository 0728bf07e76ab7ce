import { withTrustProblems } from '../../authority/index.js'
import { type LoadedConfig, loadConfig } from '../../config/index.js'
import { keyText, serverKey } from '../../identity/index.js'
import type { LauncherFindings } from '../../reeve.js'
import type { Cli } from '../cli.js'
import { configurationFindings } from '../doctor/configuration-findings.js'
import { connectionFindings, environmentFindings } from '../doctor/environment-findings.js'
import type { Finding } from '../doctor/finding.js'
import { gatewayAuthFindings } from '../doctor/gateway-auth-findings.js'
import { homeFindings } from '../doctor/home-findings.js'
import { launcherFindings } from '../doctor/launcher-findings.js'
import { orphanFindings } from '../doctor/orphan-findings.js'
import { programFindings } from '../doctor/program-findings.js'
import { type ExaminedServer, examineServers } from '../doctor/server-findings.js'
import { showReport } from '../doctor/show-report.js'
import { StartupWatch } from '../doctor/startup-watch.js'
import { mayHaveServers } from '../environment-servers.js'
import { type EnvironmentOption, optionalSelector, selectKey, selectorOf } from '../selection.js'
import { openReeve } from '../session.js'

export interface DoctorOptions extends EnvironmentOption {
  /** False with `--no-start`: only what can be seen without starting a server. */
  readonly start: boolean
}

/** Names every problem that it can find; 1 when something does not work. */
export async function run(cli: Cli, name: string | undefined, options: DoctorOptions): Promise<number> {
  const { home, cwd, env, configFiles: files } = cli
  const config = withTrustProblems(await loadConfig({ home, cwd, env, files }))
  if (name !== undefined) requireServer(config, name, options)
  const still = await withoutStarting(cli, config)
  const examined = options.start ? await byStarting(cli, config, name, options) : { servers: [], findings: [] }
  const findings = [...still, ...examined.findings, ...examined.servers.flatMap((server) => server.findings)]
  const concerned = findings.filter(({ key }) => name === undefined || key === undefined || key.name === name)
  showReport(cli, {
    findings: withoutEchoes(concerned, examined.servers),
    servers: examined.servers,
    started: options.start,
    ...('launchers' in examined && { launchers: examined.launchers }),
  })
  return concerned.some(({ severity }) => severity === 'error') ? 1 : 0
}

/** A name whose entry is broken is known too; and what environments have, they alone know. */
function requireServer(config: LoadedConfig, name: string, options: EnvironmentOption): void {
  if (mayHaveServers(config) || config.problems.some(({ server }) => server === name)) return
  const servers = config.servers.map((server) => ({ key: serverKey(server.name), runsIn: server.config.environmentId }))
  selectKey(servers, selectorOf(name, options))
}

async function withoutStarting(cli: Cli, config: LoadedConfig): Promise<Finding[]> {
  const [home, programs, environments] = await Promise.all([
    homeFindings(cli.home),
    programFindings(config.servers, cli.env, cli.cwd),
    environmentFindings(config, cli.env),
  ])
  return [...configurationFindings(config), ...home, ...programs, ...environments]
}

interface Examined {
  readonly servers: readonly ExaminedServer[]
  readonly findings: readonly Finding[]
  readonly launchers: LauncherFindings
}

async function byStarting(
  cli: Cli,
  config: LoadedConfig,
  name: string | undefined,
  options: EnvironmentOption,
): Promise<Examined> {
  const orphans = await orphanFindings(cli.home)
  const selector = optionalSelector(name, options)
  const watch = new StartupWatch()
  cli.err.progress('starting the servers')
  await using reeve = await openReeve(cli)
  await using thread = await reeve.startThread({
    ...(selector !== undefined && { only: [selector] }),
    ...(reeve.auth && { auth: reeve.auth }),
    onEvent: watch.onEvent,
    enforceRequired: false,
    warm: false,
  })
  const connecting = connectionFindings(cli, config, environmentsOf(config, name))
  const [environments, gateway, launchers] = await Promise.all([
    connecting,
    name === undefined ? gatewayAuthFindings(config, cli.env) : [],
    reeve.launchers(),
    thread.step({ wait: 'all', signal: cli.signal }),
  ])
  const servers = await examineServers(thread, watch, config.servers, cli.signal)
  cli.err.clear()
  const findings = [...orphans, ...environments, ...gateway, ...launcherFindings(launchers), ...watch.findings()]
  return { servers, findings, launchers }
}

/** All of them, or that of the one server: what it has from elsewhere is told by its own startup. */
function environmentsOf({ environments, servers }: LoadedConfig, name: string | undefined): readonly string[] {
  if (name === undefined) return environments.entries.map(({ id }) => id)
  return servers.filter((server) => server.name === name).map(({ config }) => config.environmentId)
}

/** What stops a startup is found twice: by looking and by starting. The first says where. */
function withoutEchoes(findings: readonly Finding[], servers: readonly ExaminedServer[]): readonly Finding[] {
  const stopped = new Set(
    findings.flatMap(({ code, key }) => (key !== undefined && STOPPERS.includes(code) ? [keyText(key)] : [])),
  )
  const unusable = new Set(findings.flatMap(({ environment }) => environment ?? []))
  for (const { status } of servers) if (unusable.has(status.executionEnvironment)) stopped.add(keyText(status.key))
  return findings.filter(
    ({ code, key }) => code !== 'startup_failed' || key === undefined || !stopped.has(keyText(key)),
  )
}

const STOPPERS: readonly string[] = ['program_missing', 'unknown_environment']
