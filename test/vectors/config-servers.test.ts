import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  parseCodexConfig,
  plugins,
  referenceGetEntry,
  referenceListEntry,
  type ServerConfig,
} from '../../src/config/index.js'
import { ConnectionManager, ConnectionPool } from '../../src/connections/index.js'
import { ConfigError, RequiredServersFailedError } from '../../src/errors.js'
import { serverKey } from '../../src/identity/index.js'
import { oursOf, vectorCases } from './cases.js'
import { FILE, Input, type Of } from './config-servers-cases.js'
import { executorConfig, fail, filter, pluginPolicy, precedence, serverOf } from './config-servers-effects.js'

const { readPluginManifest, readPluginServers } = await plugins()

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
