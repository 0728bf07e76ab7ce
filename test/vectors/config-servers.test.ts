import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { approvalModeOf, type Catalog, type Registration, threadCatalog } from '../../src/catalog/index.js'
import {
  parseCodexConfig,
  plugins,
  referenceGetEntry,
  referenceListEntry,
  type ServerConfig,
} from '../../src/config/index.js'
import { ConnectionManager, ConnectionPool, isToolEnabled } from '../../src/connections/index.js'
import type { DiscoveredPlugin, EnvironmentCapabilities } from '../../src/environments/index.js'
import { ConfigError, RequiredServersFailedError, ToolDisabledError } from '../../src/errors.js'
import { codexNaming, serverKey } from '../../src/identity/index.js'
import { stdioConfig } from '../fixtures/server-config.js'
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

/** Lets every source declare the server and looks who stands in the thread's catalog. */
function contest(
  input: Of<'precedence'>,
  sources: readonly string[],
  mode: { readonly compatibility: boolean },
): unknown {
  const { serverName: name = '', environmentId = 'enva' } = input
  const shared = { name, config: stdioConfig({}, { enabled: input.sharedState !== 'disabled' }) }
  const plugins = sources.filter(isRoot).map((source) => pluginAt(idOf(source), environmentId, [name]))
  const executor = sources.includes('executorConfig')
    ? readExecutorConfig([layerOf(webServer(name))], environmentId)
    : undefined
  const catalog = threadCatalog(
    {
      servers: sources.includes('sharedConfig') ? [shared] : [],
      environments: [offered(environmentId, plugins, executor?.servers)],
      roots: plugins.map(rootOf),
    },
    { multiEnvironment: true, ...mode },
  )
  const winners = catalog.servers.map((registration) => ({
    winner: sourceNameOf(registration, sources),
    pluginId: pluginOf(registration),
    environmentId: registration.key.environment,
    namespace: codexNaming({ multiEnvironment: true }).assign([{ key: registration.key, tool: 't' }])[0]?.namespace,
    warning: catalog.problems.some(({ code }) => code === 'plugin_conflict'),
  }))
  return winners.length === 1 ? winners[0] : { registered: winners.map(({ winner }) => winner) }
}

const isRoot = (source: string) => source.startsWith('selectedRoot')
const idOf = (source: string) => source.replace('selectedRoot:', '')
const layerOf = (toml: string) => ({ source: 'user (config.toml)', toml })
const webServer = (name: string) => `[mcp_servers.${name}]\nurl = "http://127.0.0.1:4500/mcp"\n`
const rootOf = ({ id, environment, path }: DiscoveredPlugin) => ({ id, environment, path })

function sourceNameOf({ source, key }: Registration, sources: readonly string[]): string | undefined {
  if ('plugin' in source) return sources.find((one) => isRoot(one) && idOf(one) === source.plugin.id)
  return key.environment === null ? 'sharedConfig' : 'executorConfig'
}

function pluginAt(id: string, environment: string, names: readonly string[]): DiscoveredPlugin {
  const servers = new Map(names.map((name) => [name, stdioConfig({}, { environmentId: environment })]))
  return { id, displayName: id, agentPlugin: false, environment, path: `/plugins/${id}`, servers }
}

function offered(
  environment: string,
  plugins: readonly DiscoveredPlugin[],
  executorServers: ReadonlyMap<string, ServerConfig> = new Map(),
): EnvironmentCapabilities {
  return { environment, plugins, executorServers, problems: [] }
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
  const { servers, skipped, problems } = readExecutorConfig([layerOf(toml)], environmentId)
  const plugins = pluginServers === undefined ? [] : [pluginAt('rootA', environmentId, pluginServers)]
  const catalog = threadCatalog(
    { servers: [], environments: [offered(environmentId, plugins, servers)], roots: plugins.map(rootOf) },
    { multiEnvironment: true },
  )
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
  const plugins = places.map(({ rootId, environmentId }) => pluginAt(rootId, environmentId, ['notes']))
  const catalog = threadCatalog(
    {
      servers: [],
      environments: plugins.map((plugin) => offered(plugin.environment, [plugin])),
      roots: roots === undefined ? [] : plugins.map(rootOf),
      policies: { overlays },
    },
    { multiEnvironment: true },
  )
  const perEnvironment = catalog.servers.map(({ key, config }) => {
    const offeredTools = tools.filter((tool) => isToolEnabled(config, tool))
    return [key.environment, !config.enabled ? 'disabled' : wantsTools(toml) ? offeredTools : 'connected']
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
