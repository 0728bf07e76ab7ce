import { ConfigError } from '../errors.js'
import { APP_OFF, type AppPolicy, EVERY_APP, readAppPolicy } from './app-policy.js'
import { readEnvironmentSections } from './environments/read-sections.js'
import { type Environment, expandEntry } from './expand.js'
import { readGatewayAuth } from './gateway-auth.js'
import { readHooks } from './hooks/read-hooks.js'
import { nearest } from './nearest.js'
import { optional } from './optional.js'
import { readPermissions } from './permissions/read-permissions.js'
import { ignoredInProject } from './project-limits.js'
import { RUNTIME_FEATURE, type RuntimeAuthMode, runtimeModeOf } from './runtime-auth-mode.js'
import { readServer, readToolSettings } from './schema/read-server.js'
import {
  analyticsSettings,
  auditSettings,
  brokerSettings,
  callbackPort,
  credentialsStore,
  firstPartyStore,
  launcherSetting,
  pluginPolicy,
  projectTrust,
  TOP_LEVEL_MEMBERS,
} from './schema/sections.js'
import { fault, flag, type Notes, text, wrongType } from './schema/shape.js'
import type { ConfigOrigin, ConfigProblem, ConfiguredServer, ServerConfig } from './server.js'
import { serverWarnings } from './server-warnings.js'
import type { AuditSettings, BrokerSettings, FileSettings, PluginPolicy, PluginServerPolicy } from './settings.js'
import { isTable, type Path, pathText, placeIn, type Raw, type RawTable, type SourceDocument } from './source/raw.js'

export interface ReadSettingsOptions {
  readonly layer: ConfigOrigin['layer']
  /** Variables for `${VAR}`; absent for formats without variables (a Codex file). */
  readonly variables?: Environment
  /** Unknown members are errors. */
  readonly strict: boolean
  /** A file that other programs share: its other top-level members are none of our business. */
  readonly sharedFile: boolean
}

/**
 * Reads what a document says. Never throws for a fault of the document: each becomes one problem, and everything beside
 * it is kept.
 */
export function readSettings(document: SourceDocument, options: ReadSettingsOptions): FileSettings {
  const reading = new SettingsReading(document, options)
  const { servers, broken } = readServers(reading)
  const settings: Omit<FileSettings, 'problems'> = {
    servers,
    broken,
    features: readFeatures(reading),
    runtimeAuthMode: readRuntimeAuthMode(reading),
    plugins: readEach(reading, 'plugins', readPlugin),
    apps: readApps(reading),
    hooks: readHooks(reading),
    audit: readAudit(reading),
    analytics: reading.member('analytics', analyticsSettings.read) ?? {},
    oauth: {
      ...optional('credentialsStore', reading.member('mcp_oauth_credentials_store', credentialsStore.read)),
      ...optional('firstPartyStore', reading.member('cli_auth_credentials_store', firstPartyStore.read)),
      ...optional('callbackPort', reading.member('mcp_oauth_callback_port', callbackPort.read)),
      ...optional('callbackUrl', reading.member('mcp_oauth_callback_url', text.read)),
    },
    broker: readBroker(reading),
    ...optional('gatewayAuth', reading.member('gateway', readGatewayAuth)),
    ...optional('launcher', readLauncher(reading)),
    environments: readEnvironmentSections(reading),
    permissions: readPermissions(reading),
    suppressUnstableFeaturesWarning: reading.member('suppress_unstable_features_warning', flag.read),
    projects: readEach(reading, 'projects', (value, path, notes) => {
      // Codex keeps more than trust in this table.
      const members = projectTrust.read(value, path, options.sharedFile ? SILENT : notes)
      return members.trust_level ?? 'untrusted'
    }),
  }
  if (!options.sharedFile) reading.noteUnknownTopLevel()
  if (options.layer === 'project')
    for (const path of ignoredInProject(document))
      reading.warn('ignored_in_project', "does not count in a project's configuration: write it in your own", path)
  for (const path of document.duplicates)
    reading.warn('duplicate_member', 'is written twice: the last one counts', path)
  return { ...settings, problems: reading.problems }
}

function readBroker(reading: SettingsReading): BrokerSettings {
  const seconds = reading.member('broker', brokerSettings.read)?.idle_timeout_sec
  return optional('idleMs', seconds === undefined ? undefined : seconds * 1000)
}

/** One that can't be read is no leave to look for another. */
function readLauncher(reading: SettingsReading): string | undefined {
  const isSaid = reading.document.root.launcher !== undefined
  return reading.member('launcher', launcherSetting.read) ?? (isSaid ? 'none' : undefined)
}

function readAudit(reading: SettingsReading): AuditSettings {
  const { mode, keep_days, max_mb, arguments: kept } = reading.member('audit', auditSettings.read) ?? {}
  return {
    ...optional('mode', mode),
    ...optional('keepDays', keep_days),
    ...optional('maxMb', max_mb),
    ...optional('arguments', kept),
  }
}

const SILENT: Notes = { unknown: () => {} }

type Facts = Readonly<Record<string, unknown>>

/** Collects problems while one document is read. */
class SettingsReading implements Notes {
  readonly problems: ConfigProblem[] = []
  readonly document: SourceDocument
  readonly options: ReadSettingsOptions

  constructor(document: SourceDocument, options: ReadSettingsOptions) {
    this.document = document
    this.options = options
  }

  unknown(path: Path, known: readonly string[]): void {
    const close = nearest(path.at(-1) ?? '', known)
    const severity = this.options.strict ? 'error' : 'warning'
    const field = pathText(this.document.written(path))
    const hint = close === undefined ? '' : `; did you mean \`${close}\`?`
    this.#add(severity, 'unknown_member', `unknown configuration field \`${field}\`${hint}`, path)
  }
  warn(code: string, message: string, path: Path): void {
    this.#add('warning', code, message, path)
  }
  error(code: string, message: string, path: Path): void {
    this.#add('error', code, message, path)
  }
  /** Runs a reader; its ConfigError becomes a problem and the result is undefined. */
  attempt<T>(read: () => T): T | undefined {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      this.#add('error', error.code, error.message, pathOf(error), error.data)
      return undefined
    }
  }
  member<T>(name: string, read: (value: Raw, path: Path, notes: Notes) => T): T | undefined {
    const value = this.document.root[name]
    return value === undefined ? undefined : this.attempt(() => read(value, [name], this))
  }
  tableAt(name: string): RawTable | undefined {
    return this.member(name, (value, path) => {
      if (!isTable(value)) throw wrongType(value, 'a map', path)
      return value
    })
  }
  noteUnknownTopLevel(): void {
    for (const name of Object.keys(this.document.root))
      if (!TOP_LEVEL_MEMBERS.some((known) => known === name)) this.unknown([name], TOP_LEVEL_MEMBERS)
  }
  #add(severity: ConfigProblem['severity'], code: string, message: string, path: Path, facts: Facts = {}): void {
    const server = path[0] === 'mcp_servers' ? path[1] : undefined
    const place = placeIn(this.document, path)
    const { path: _, ...data } = facts
    const about = { ...optional('server', server), ...(Object.keys(data).length > 0 && { data }) }
    this.problems.push(Object.freeze({ severity, code, message, place, path, ...about }))
  }
}

function readServers(reading: SettingsReading): Pick<FileSettings, 'servers' | 'broken'> {
  const servers: ConfiguredServer[] = []
  const broken = new Set<string>()
  for (const [name, entry] of Object.entries(reading.tableAt('mcp_servers') ?? {})) {
    const server = reading.attempt(() => readNamedServer(name, entry, reading))
    if (server === undefined) broken.add(name)
    else servers.push(server)
  }
  return { servers, broken }
}

function readNamedServer(name: string, entry: Raw, reading: SettingsReading): ConfiguredServer | undefined {
  const path = ['mcp_servers', name]
  if (!isTable(entry)) throw wrongType(entry, 'a map', path)
  const written = readServer(entry, path, reading)
  refuseExchangeInProject(written, path, reading)
  const config = readExpanded(entry, written, path, reading)
  if (config === undefined) return undefined
  if (entry.experimental_environment !== undefined)
    reading.warn('legacy_member', 'is ignored: use environment_id', [...path, 'experimental_environment'])
  for (const warning of serverWarnings(name, config))
    reading.warn(warning.code, warning.message, [...path, ...warning.at])
  const line = reading.document.position(path)?.line
  return Object.freeze({
    name,
    config,
    ...(written !== config && { written }),
    origin: Object.freeze({ file: reading.document.file, layer: reading.options.layer, ...optional('line', line) }),
  })
}

/** Whom the tokens of others are shown to is the user's own to say: such an entry is no server. */
function refuseExchangeInProject({ transport }: ServerConfig, path: Path, { options }: SettingsReading): void {
  if (options.layer !== 'project' || transport.type === 'stdio' || transport.oauth?.tokenExchange === undefined) return
  const at = [...path, 'oauth', 'token_exchange']
  throw fault('not_in_project', "token_exchange counts in the user's own configuration only", at)
}

/** A server that is switched off may name variables that aren't set. */
function readExpanded(
  entry: RawTable,
  written: ServerConfig,
  path: Path,
  reading: SettingsReading,
): ServerConfig | undefined {
  const { variables } = reading.options
  if (variables === undefined) return written
  const { entry: expanded, changed, faults } = expandEntry(entry, path, variables)
  if (!changed) return written
  if (faults.length === 0) return readServer(expanded, path, SILENT)
  for (const { code, message, path: at } of faults) {
    if (written.enabled) reading.error(code, message, at)
    else reading.warn(code, message, at)
  }
  return written.enabled ? undefined : written
}

function readFeatures(reading: SettingsReading): ReadonlyMap<string, boolean> {
  const features = new Map<string, boolean>()
  for (const [name, value] of Object.entries(reading.tableAt('features') ?? {})) {
    // Some features of Codex are tables with settings of their own.
    if (typeof value === 'boolean') features.set(name, value)
    else if (!isTable(value) && name !== RUNTIME_FEATURE)
      reading.attempt(() => flag.read(value, ['features', name], reading))
  }
  return features
}

/** What can't be read must not mean less than was asked for: then nothing but assertions goes out. */
function readRuntimeAuthMode(reading: SettingsReading): RuntimeAuthMode | undefined {
  const features = reading.document.root.features
  const value = isTable(features) ? features[RUNTIME_FEATURE] : undefined
  if (value === undefined) return undefined
  return reading.attempt(() => runtimeModeOf(value)) ?? 'assertion_only'
}

function readEach<T>(
  reading: SettingsReading,
  section: string,
  read: (value: Raw, path: Path, notes: Notes) => T,
): ReadonlyMap<string, T> {
  const all = new Map<string, T>()
  for (const [name, value] of Object.entries(reading.tableAt(section) ?? {})) {
    const one = reading.attempt(() => read(value, [section, name], reading))
    if (one !== undefined) all.set(name, one)
  }
  return all
}

/** What can't be read may have been meant to switch something off: then the app is off, or all of them. */
function readApps(reading: SettingsReading): ReadonlyMap<string, AppPolicy> {
  const { apps } = reading.document.root
  const read = readEach(
    reading,
    'apps',
    (value, path, notes) => reading.attempt(() => readAppPolicy(value, path, notes)) ?? APP_OFF,
  )
  return apps === undefined || isTable(apps) ? read : new Map([[EVERY_APP, APP_OFF]])
}

function readPlugin(value: Raw, path: Path, notes: Notes): PluginPolicy {
  const { enabled, trusted_in: trustedIn, mcp_servers: members } = pluginPolicy.read(value, path, notes)
  const servers = new Map<string, PluginServerPolicy>()
  for (const [name, policy] of Object.entries(members ?? {})) {
    servers.set(name, {
      ...optional('enabled', policy.enabled),
      ...optional('defaultToolsApprovalMode', policy.default_tools_approval_mode),
      ...optional('enabledTools', policy.enabled_tools),
      ...optional('disabledTools', policy.disabled_tools),
      ...(policy.tools && { tools: readToolSettings(policy.tools) }),
    })
  }
  return { ...optional('enabled', enabled), ...optional('trustedIn', trustedIn), servers }
}

function pathOf(error: ConfigError): Path {
  const path = error.data?.path
  return Array.isArray(path) ? path : []
}
