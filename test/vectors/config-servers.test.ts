import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  approvalModeOf,
  type Catalog,
  CatalogBuilder,
  type Registration,
  type RegistrationSource,
  underPluginOverlay,
} from '../../src/catalog/index.js'
import {
  parseCodexConfig,
  plugins,
  referenceGetEntry,
  referenceListEntry,
  type ServerConfig,
} from '../../src/config/index.js'
import { ConnectionManager, ConnectionPool, isToolEnabled } from '../../src/connections/index.js'
import { ConfigError, RequiredServersFailedError, ToolDisabledError } from '../../src/errors.js'
import { codexNaming, serverKey } from '../../src/identity/index.js'
import { httpConfig, stdioConfig } from '../fixtures/server-config.js'
import { oursOf, vectorCases } from './cases.js'

const { readExecutorConfig, readPluginManifest, readPluginServers } = await plugins()

const FILE = 'config-servers.json'

const ToolModes = z.record(z.string(), z.object({ approval_mode: z.string() }))
const Roots = z.array(z.strictObject({ rootId: z.string(), environmentId: z.string() }))

const Input = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('config'), toml: z.string() }),
  z.strictObject({ kind: z.literal('strictConfig'), toml: z.string() }),
  z.strictObject({
    kind: z.literal('precedence'),
    startup_timeout_sec: z.number().optional(),
    startup_timeout_ms: z.number().optional(),
    default_tools_approval_mode: z.string().optional(),
    tools: ToolModes.optional(),
    tool: z.string().optional(),
    environmentId: z.string().optional(),
    serverName: z.string().optional(),
    sources: z.array(z.string()).optional(),
    sharedState: z.enum(['enabled', 'disabled', 'failing']).optional(),
  }),
  z.strictObject({
    kind: z.literal('filter'),
    enabled_tools: z.array(z.string()),
    disabled_tools: z.array(z.string()),
    tools: z.array(z.string()),
  }),
  z.strictObject({
    kind: z.literal('executorConfig'),
    environmentId: z.string().optional(),
    toml: z.string(),
    pluginServers: z.array(z.string()).optional(),
  }),
  z.strictObject({
    kind: z.literal('pluginPolicy'),
    toml: z.string(),
    roots: Roots.optional(),
    installations: z.array(z.string()).optional(),
    tools: z.array(z.string()).optional(),
  }),
  z.strictObject({
    kind: z.literal('pluginDeclaration'),
    pluginRoot: z.string(),
    server: z.record(z.string(), z.union([z.string(), z.number()])),
    siblings: z.array(z.string()),
  }),
  z.strictObject({ kind: z.literal('pluginManifest'), text: z.string() }),
  z.strictObject({ kind: z.literal('startup'), toml: z.string() }),
  z.strictObject({ kind: z.literal('startupRequired'), serverName: z.string(), required: z.boolean() }),
  z.strictObject({ kind: z.literal('listJson'), serverName: z.string(), transport: z.string() }),
  z.strictObject({ kind: z.literal('getJson'), serverName: z.string() }),
])
type Input = z.infer<typeof Input>
type Of<Kind extends Input['kind']> = Extract<Input, { kind: Kind }>

describe(FILE, () => {
  for (const one of vectorCases(FILE)) {
    const input = Input.parse(one.input)
    it(one.name, async () => {
      await check(input, one.expected, { compatibility: true })
    })
    const ours = oursOf(FILE, one)
    if (ours !== undefined) {
      it(`${one.name}, ours`, async () => {
        await check(input, ours, { compatibility: false })
      })
    }
  }
})

async function check(input: Input, expected: unknown, mode: { readonly compatibility: boolean }): Promise<void> {
  switch (input.kind) {
    case 'config':
      return expect(load(input.toml)).toEqual(expectedLoad(expected))
    case 'strictConfig':
      return expect(strictLoad(input.toml)).toEqual(expected)
    case 'precedence':
      return expect(precedence(input, mode)).toMatchObject(z.looseObject({}).parse(expected))
    case 'filter':
      return expect(filter(input)).toEqual(expected)
    case 'executorConfig':
      return expect(executorConfig(input)).toMatchObject(z.looseObject({}).parse(expected))
    case 'pluginPolicy':
      return expect(pluginPolicy(input)).toEqual(expected)
    case 'pluginDeclaration':
      return expect(pluginDeclaration(input)).toEqual(expected)
    case 'pluginManifest':
      return checkManifest(input, expected)
    case 'startup':
      return expect(startup(input)).toEqual(expected)
    case 'startupRequired':
      return checkRequired(input, expected)
    case 'listJson':
      return expect({ entry: referenceListEntry(input.serverName, sample(input.serverName)) }).toEqual(expected)
    case 'getJson':
      return expect({ entry: referenceGetEntry(input.serverName, sample(input.serverName)) }).toEqual(expected)
  }
}

// ---- loading ----

const Listed = z.record(z.string(), z.unknown())
const Load = z.looseObject({ accepted: z.boolean(), listed: z.array(Listed).optional() })

/** Members that a listing leaves out have their defaults: they are added, so that none can be wrong unnoticed. */
function expectedLoad(expected: unknown): unknown {
  const parsed = Load.parse(expected)
  if (!parsed.accepted) return expected
  return { accepted: true, listed: (parsed.listed ?? []).map((entry) => ({ ...LISTED_DEFAULTS, ...entry })) }
}

const LISTED_DEFAULTS = { enabled: true, env_vars: [], startup_timeout_sec: null, tool_timeout_sec: null }

function load(toml: string): unknown {
  try {
    const { servers } = parseCodexConfig(toml)
    return { accepted: true, listed: servers.map(({ name, config }) => summary(name, config)) }
  } catch (error) {
    return refusal(error)
  }
}

function summary(name: string, config: ServerConfig): unknown {
  const { transport, enabled, auth_status, startup_timeout_sec, tool_timeout_sec } = referenceListEntry(name, config)
  const env_vars = transport.type === 'stdio' ? transport.env_vars : []
  return { name, type: transport.type, auth_status, enabled, env_vars, startup_timeout_sec, tool_timeout_sec }
}

function refusal(error: unknown): unknown {
  if (!(error instanceof ConfigError)) throw error
  const path = z.array(z.string()).parse(error.data?.path).join('.')
  const { member, transport } = error.data ?? {}
  const facts = transport === undefined ? {} : { member, transport }
  return { accepted: false, errorCode: error.code, text: error.message, path, ...facts }
}

function strictLoad(toml: string): unknown {
  try {
    parseCodexConfig(toml, { strict: true, file: 'config.toml' })
    return { accepted: true }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const position = /^config\.toml:(\d+:\d+) /.exec(error.place ?? '')?.[1]
    return { accepted: false, errorCode: error.code, text: error.message, position }
  }
}

// ---- effects ----

function precedence(input: Of<'precedence'>, mode: { readonly compatibility: boolean }): unknown {
  if (input.sources !== undefined) return contest(input, input.sources, mode)
  const config = serverOf(
    [
      '[mcp_servers.x]',
      'command = "echo"',
      ...(input.startup_timeout_sec === undefined ? [] : [`startup_timeout_sec = ${input.startup_timeout_sec}`]),
      ...(input.startup_timeout_ms === undefined ? [] : [`startup_timeout_ms = ${input.startup_timeout_ms}`]),
      ...(input.default_tools_approval_mode === undefined
        ? []
        : [`default_tools_approval_mode = "${input.default_tools_approval_mode}"`]),
      ...Object.entries(input.tools ?? {}).map(
        ([tool, { approval_mode }]) => `tools.${tool}.approval_mode = "${approval_mode}"`,
      ),
    ].join('\n'),
  )
  return {
    startupTimeoutSec: (config.startupTimeoutMs ?? 0) / 1000,
    ...(input.tool !== undefined && { mode: approvalModeOf(config, input.tool) }),
  }
}

function serverOf(toml: string): ServerConfig {
  const [server] = parseCodexConfig(toml).servers
  if (server === undefined) throw new Error('the configuration has no server')
  return server.config
}

/** Registers one server per source and looks who stands in the catalog. */
function contest(
  input: Of<'precedence'>,
  sources: readonly string[],
  mode: { readonly compatibility: boolean },
): unknown {
  const { serverName = '', environmentId = 'enva' } = input
  const builder = new CatalogBuilder({ multiEnvironment: true, ...mode })
  const byRegistration = new Map<RegistrationSource, string>()
  for (const [order, source] of sources.entries()) {
    const registration = contender(source, order, serverName, environmentId, input.sharedState !== 'disabled')
    byRegistration.set(registration.source, source)
    builder.register(registration)
  }
  const catalog = builder.build()
  const winners = catalog.servers.map((registration) => ({
    winner: byRegistration.get(registration.source),
    pluginId: pluginOf(registration),
    environmentId: registration.key.environment,
    namespace: codexNaming({ multiEnvironment: true }).assign([{ key: registration.key, tool: 't' }])[0]?.namespace,
    warning: catalog.conflicts.length > 0,
  }))
  return winners.length === 1 ? winners[0] : { registered: winners.map(({ winner }) => winner) }
}

function contender(source: string, order: number, name: string, environment: string, enabled: boolean): Registration {
  if (source === 'sharedConfig')
    return { key: serverKey(name), source: { kind: 'config' }, config: stdioConfig({}, { enabled }) }
  const key = serverKey(name, environment)
  if (source === 'executorConfig')
    return {
      key,
      source: { kind: 'config' },
      config: httpConfig('http://127.0.0.1:4500/mcp', {}, { environmentId: environment }),
    }
  const id = source.replace('selectedRoot:', '')
  return { key, source: selectedPlugin(id, order), config: stdioConfig({}, { environmentId: environment }) }
}

function selectedPlugin(id: string, order: number): RegistrationSource {
  return { kind: 'selected_plugin', order, plugin: { id, displayName: id, agentPlugin: false } }
}

function pluginOf({ source }: Registration): string | null {
  return 'plugin' in source ? source.plugin.id : null
}

function filter(input: Of<'filter'>): unknown {
  const config = stdioConfig({}, { enabledTools: input.enabled_tools, disabledTools: input.disabled_tools })
  const refused = input.disabled_tools[0] ?? ''
  return {
    offered: input.tools.filter((tool) => isToolEnabled(config, tool)),
    directCallError: { tool: refused, message: new ToolDisabledError(serverKey('p'), refused).message },
  }
}

function executorConfig({ toml, environmentId = 'enva', pluginServers }: Of<'executorConfig'>): unknown {
  const { servers, skipped, problems } = readExecutorConfig('config.toml', toml)
  const builder = new CatalogBuilder({ multiEnvironment: true })
  for (const [order, name] of (pluginServers ?? []).entries())
    builder.register({
      key: serverKey(name, environmentId),
      source: selectedPlugin('rootA', order),
      config: stdioConfig({}, { environmentId }),
    })
  for (const { name, config } of servers)
    builder.register({ key: serverKey(name, environmentId), source: { kind: 'config' }, config })
  const catalog = builder.build()
  if (pluginServers === undefined) {
    expect(skipped).toEqual(['fresh'])
    return { used: enabledNames(catalog), pluginId: pluginOf(catalog.servers[0] ?? fail('nothing is used')) }
  }
  return { connected: enabledNames(catalog), warning: problems.length > 0 }
}

function enabledNames(catalog: Catalog): readonly string[] {
  return catalog.servers.filter(({ config }) => config.enabled).map(({ key }) => key.name)
}

function fail(message: string): never {
  throw new Error(message)
}

function pluginPolicy({ toml, roots, installations, tools = [] }: Of<'pluginPolicy'>): unknown {
  const { plugins: overlays } = parseCodexConfig(toml)
  const places =
    roots ?? (installations ?? []).map((environmentId) => ({ rootId: 'notesplug@demo-market', environmentId }))
  const perEnvironment = places.map(({ rootId, environmentId }, order) => {
    const { config } = underPluginOverlay(
      {
        key: serverKey('notes', environmentId),
        source: selectedPlugin(rootId, order),
        config: stdioConfig({}, { environmentId }),
      },
      overlays,
    )
    const offered = tools.filter((tool) => isToolEnabled(config, tool))
    return [
      environmentId,
      !config.enabled ? 'disabled' : tools.length === offered.length && !wantsTools(toml) ? 'connected' : offered,
    ]
  })
  return { perEnvironment: Object.fromEntries(perEnvironment) }
}

/** Cases about the tool filter list tools; the others only say whether the server is connected. */
function wantsTools(toml: string): boolean {
  return toml.includes('enabled_tools')
}

// ---- plugins ----

function pluginDeclaration({ pluginRoot, server, siblings }: Of<'pluginDeclaration'>): unknown {
  const declared = { ...Object.fromEntries(siblings.map((name) => [name, { command: 'node' }])), notes: server }
  const { servers, errors } = readPluginServers({ mcpServers: declared }, { root: pluginRoot, environmentId: 'enva' })
  const error = errors.get('notes')
  return {
    accepted: error === undefined,
    ...(error !== undefined && { text: error.message }),
    siblingsKept: siblings.every((name) => servers.has(name)) && servers.size === siblings.length,
  }
}

function checkManifest({ text }: Of<'pluginManifest'>, expected: unknown): void {
  const { accepted, textContains } = z
    .looseObject({ accepted: z.literal(false), textContains: z.string() })
    .parse(expected)
  expect(accepted).toBe(false)
  expect(() => readPluginManifest('plugin.json', text)).toThrow(ConfigError)
  expect(() => readPluginManifest('plugin.json', text)).toThrow(textContains)
}

// ---- startup ----

/** Known before anything is started: the load warns with the very text of the failure. */
function startup({ toml }: Of<'startup'>): unknown {
  const [problem] = parseCodexConfig(toml).problems.filter(({ code }) => code === 'missing_cwd')
  return problem && { status: 'failed', text: `MCP startup failed: ${problem.message}` }
}

async function checkRequired({ serverName, required }: Of<'startupRequired'>, expected: unknown): Promise<void> {
  const config = serverOf(`[mcp_servers.${serverName}]\ncommand = "x"\nrequired = ${required}\n`)
  const pool = new ConnectionPool({
    open: async () => {
      throw new Error('no such program')
    },
  })
  const manager = new ConnectionManager({
    pool,
    owner: 'test',
    profile: { clientInfo: { name: 'test', version: '0' }, capabilities: {} },
    env: {},
    fallbackCwd: '/',
  })
  try {
    manager.replace([{ key: serverKey(serverName), config, source: { kind: 'config' } }])
    const outcome = await manager.validateRequired().catch((error: unknown) => error)
    await manager.capture()
    expect(manager.statuses().map(({ status }) => status)).toEqual(['failed'])
    if (!required) return expect({ threadStart: outcome ?? 'ok', status: 'failed' }).toEqual(expected)
    expect(outcome).toBeInstanceOf(RequiredServersFailedError)
    const { messageStartsWith } = z
      .object({ threadStart: z.looseObject({ messageStartsWith: z.string() }) })
      .parse(expected).threadStart
    // What stands before is the reference's app server speaking.
    expect(messageStartsWith.endsWith(`required MCP servers failed to initialize: ${serverName}: `)).toBe(true)
    expect(String(outcome)).toContain(`required MCP servers failed to initialize: ${serverName}: `)
  } finally {
    await manager.close()
  }
}

// ---- listings ----

/** The configuration that the listings of the reference were taken from. */
const LISTED = `
[mcp_servers."bad/name"]
command = "echo"
args = ["hi"]
[mcp_servers.full]
command = "node"
args = ["a", "b"]
env = { SECRET = "x", B = "y" }
env_vars = ["FOO", { name = "BAR", source = "remote" }]
cwd = "/workspace"
startup_timeout_sec = 2.5
tool_timeout_sec = 30
enabled_tools = ["t1"]
disabled_tools = ["t2"]
[mcp_servers.h2]
url = "http://127.0.0.1:9/mcp"
bearer_token_env_var = "TOKEN"
[mcp_servers.h3]
url = "http://127.0.0.1:9/mcp"
[mcp_servers.http]
url = "http://127.0.0.1:9/mcp"
enabled = false
bearer_token_env_var = "TOK"
http_headers = { X = "secret" }
env_http_headers = { Y = "YENV" }
`

function sample(name: string): ServerConfig {
  const server = parseCodexConfig(LISTED).servers.find((one) => one.name === name)
  return server?.config ?? fail(`the sample has no ${name}`)
}
