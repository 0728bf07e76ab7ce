import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ProcessFailedError } from '../../src/errors.js'
import { type ServerKey, serverKey } from '../../src/identity/index.js'
import type { JsonObject, JsonRpcMessage, JsonValue } from '../../src/protocol/index.js'
import { functionTools } from '../../src/threads/functions/functions.js'
import type { FunctionOutput } from '../../src/threads/types.js'
import type { Script } from '../fixtures/connections/scripted-server.js'
import { FunctionWorld, type WorldServer } from '../fixtures/functions/function-world.js'
import { vectorCases } from './cases.js'

const FILE = 'resources-resolution.json'

const Json = z.record(z.string(), z.json())
const Tool = z.enum(['list_mcp_resources', 'list_mcp_resource_templates', 'read_mcp_resource'])
const Result = z.strictObject({
  serverName: z.string(),
  environmentId: z.string().nullable(),
  resources: z.array(Json).optional(),
  resourceTemplates: z.array(Json).optional(),
  contents: z.array(Json).optional(),
  pages: z.array(z.array(Json)).optional(),
  nextCursor: z.string().optional(),
})
const Call = { tool: Tool, arguments: Json, multiEnvironment: z.boolean().optional() }
const Placed = { ...Call, servers: z.array(z.string()), selectedEnvironments: z.array(z.string()) }

const Input = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('resolve'), ...Placed }),
  z.strictObject({
    kind: z.literal('serverFailure'),
    ...Placed,
    serverState: z.enum(['startup_failed', 'connection_lost']),
    failed: z.array(z.string()).optional(),
  }),
  z.strictObject({ kind: z.literal('output'), ...Call, results: z.array(Result) }),
  z.strictObject({ kind: z.literal('argumentSchema'), multiEnvironment: z.boolean() }),
  z.strictObject({ kind: z.literal('requestMeta'), methods: z.array(z.string()) }),
])
type Input = z.infer<typeof Input>
type Of<K extends Input['kind']> = Extract<Input, { kind: K }>

describe(FILE, () => {
  for (const { name, input, expected } of vectorCases(FILE)) {
    const parsed = Input.parse(input)
    it(name, async () => {
      expect(await answer(parsed)).toEqual(expected)
    })
  }
})

function answer(input: Input): Promise<unknown> {
  switch (input.kind) {
    case 'resolve':
      return resolve(input)
    case 'serverFailure':
      return serverFailure(input)
    case 'output':
      return output(input)
    case 'argumentSchema':
      return Promise.resolve(argumentSchema(input))
    case 'requestMeta':
      return requestMeta(input)
  }
}

async function resolve(input: Of<'resolve'>): Promise<unknown> {
  await using world = new FunctionWorld(input.servers.map((id) => ({ ...placeOf(id), script: answering(id) })))
  const functions = await world.functions(input.selectedEnvironments, input)
  return told(await functions.call(input.tool, input.arguments), input.servers)
}

async function serverFailure(input: Of<'serverFailure'>): Promise<unknown> {
  const { servers, failed: failing = servers, serverState } = input
  const isDown = serverState === 'startup_failed'
  const notWell = ({ name }: WorldServer): Partial<WorldServer> | undefined =>
    isDown ? NOT_STARTING[name] : { script: ENDING }
  await using world = new FunctionWorld(
    servers.map((id) => ({
      ...placeOf(id),
      ...(failing.includes(id) ? notWell(placeOf(id)) : { script: answering(id) }),
    })),
  )
  const functions = world.functions(input.selectedEnvironments, input)
  if (isDown) await world.timers.advance(STARTUP)
  const taken = await functions
  const called = taken.call(input.tool, input.arguments)
  if (isDown) await world.timers.advance(STARTUP)
  const { error, resolved, servers: seen } = told(await called, servers)
  return error === undefined ? { resolved, servers: seen } : { error }
}

async function output(input: Of<'output'>): Promise<unknown> {
  await using world = new FunctionWorld(input.results.map(giving))
  const environments = input.results.flatMap(({ environmentId }) => environmentId ?? [])
  const { output: text } = await (await world.functions(environments, input)).call(input.tool, input.arguments)
  return { text }
}

function argumentSchema(options: Of<'argumentSchema'>): unknown {
  return Object.fromEntries(
    functionTools(options).map(({ name, parameters, strict }) => {
      const { type: _, properties, ...rest } = Parameters.parse(parameters)
      return [name, { properties: Object.keys(properties), ...rest, strict }]
    }),
  )
}

async function requestMeta({ methods }: Of<'requestMeta'>): Promise<unknown> {
  await using world = new FunctionWorld([{ name: 'notes' }])
  const functions = await world.functions(['local'])
  const { received } = world.server(serverKey('notes'))
  const atStart = received.length
  for (const tool of ['list_mcp_resources', 'list_mcp_resource_templates']) {
    await functions.call(tool, { server: 'notes' })
    await functions.call(tool, {})
  }
  await functions.call('read_mcp_resource', { server: 'notes', uri: 'note://one' })
  const requests = received.slice(atStart).filter((message) => 'method' in message && methods.includes(message.method))
  expect(requests.length).toBe(5)
  const [first, ...others] = requests.map(metaKeys)
  for (const other of others) expect(other).toEqual(first)
  return { metaKeys: first }
}

/** What a call came to, in the terms of the vectors; `servers` of a call about all of them alone. */
interface Told {
  readonly error?: { readonly code: string; readonly text: string }
  readonly resolved?: string | undefined
  readonly servers?: readonly string[]
  readonly outputKeys?: readonly string[]
  readonly item: string | null
}

function told({ output: text, error, item }: FunctionOutput, servers: readonly string[]): Told {
  const status = item?.status ?? null
  if (error !== undefined) return { error: { code: error.code, text: withElapsed(text) }, item: status }
  const outputKeys = Object.keys(Json.parse(JSON.parse(text)))
  const seen = servers
    .filter((id) => text.includes(uriOf(id)))
    .sort((a, b) => text.indexOf(uriOf(a)) - text.indexOf(uriOf(b)))
  if (item?.server === 'codex') {
    expect(item.environment).toBeNull()
    return { resolved: 'all', servers: seen, outputKeys, item: status }
  }
  const [only = '', ...others] = seen
  expect(others).toEqual([])
  expect(item).toMatchObject({ server: keyOf(only).name, environment: keyOf(only).environment })
  return { resolved: only, outputKeys, item: status }
}

function withElapsed(text: string): string {
  return text.replace(/after \d+s: deadline/, 'after <elapsed>s: deadline')
}

const Parameters = z.object({
  type: z.literal('object'),
  properties: Json,
  required: z.array(z.string()),
  additionalProperties: z.boolean(),
})

/** Milliseconds; more than a startup may take. */
const STARTUP = 60_000

/** How the servers of the vectors fail to start. */
const NOT_STARTING: Record<string, Partial<WorldServer>> = {
  notes: {
    opens() {
      throw new ProcessFailedError('exec-server rejected request (-32603): No such file or directory (os error 2)')
    },
  },
  slow: { script: { initialize: () => new Promise<never>(() => {}) } },
}

/** A server that ends with the first request after its startup, whenever it is started. */
const ENDING: Record<string, Script> = {
  'resources/list': async (_params, { server }) => {
    if (server.count('resources/list') > 1) await server.crash()
    return { resources: [] }
  },
}

/** `name` = shared and local, `name>env` = shared but placed there, `name@env` = scoped. */
function placeOf(id: string): WorldServer {
  const [, name = '', sign, place = ''] = /^([^@>]+)([@>])?(.*)$/.exec(id) ?? []
  if (sign === '@') return { name, environment: place }
  return sign === '>' ? { name, placedIn: place } : { name }
}

function keyOf(id: string): ServerKey {
  const { name, environment } = placeOf(id)
  return serverKey(name, environment)
}

const uriOf = (id: string): string => `note://of/${id}/`

/** A server whose every answer shows that it is its own. */
function answering(id: string): Record<string, Script> {
  return {
    'resources/list': () => ({ resources: [{ uri: uriOf(id), name: 'one' }] }),
    'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: uriOf(id), name: 'one' }] }),
    'resources/read': ({ uri = '' }) => ({ contents: [{ uri, text: uriOf(id) }] }),
  }
}

function giving({ serverName, environmentId, ...result }: z.infer<typeof Result>): WorldServer {
  const { pages, resources = [], resourceTemplates = [], contents = [], nextCursor } = result
  const only: JsonObject = nextCursor === undefined ? { resources } : { resources, nextCursor }
  return {
    name: serverName,
    ...(environmentId !== null && { environment: environmentId }),
    script: {
      'resources/list': ({ cursor }) => (pages === undefined ? only : pageOf(pages, cursor)),
      'resources/templates/list': () => ({ resourceTemplates }),
      'resources/read': () => ({ contents }),
    },
  }
}

function pageOf(pages: readonly JsonObject[][], cursor: JsonValue = '0'): JsonObject {
  const index = Number(cursor)
  const more = index + 1 < pages.length
  const resources: JsonObject[] = pages[index] ?? []
  return more ? { resources, nextCursor: String(index + 1) } : { resources }
}

function metaKeys(message: JsonRpcMessage): readonly string[] {
  const { params } = z.object({ params: z.object({ _meta: Json }) }).parse(message)
  return Object.keys(params._meta)
}
