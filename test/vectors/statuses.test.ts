import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { displayKey, serverKey, type Thread, type ThreadEvent } from '../../src/reeve.js'
import { eventually } from '../fixtures/stdio/running.js'
import { notes, notesToml, ThreadWorld } from '../fixtures/threads/thread-world.js'
import { oursOf, type VectorCase, vectorCases } from './cases.js'
import {
  type Api,
  CallParams,
  ListParams,
  ReadParams,
  RUNTIME_STATUS,
  resourceRead,
  rowOf,
  statusList,
  toolCall,
  toolsError,
} from './statuses-api.js'

const FILE = 'statuses.json'

const of = (...kinds: readonly string[]) => vectorCases(FILE).filter(({ input }) => kinds.includes(input.kind))
/** As it is for us: the reference's own answer where there is no other. */
const wantedOf = (one: VectorCase): unknown => oursOf(FILE, one) ?? one.expected
const titleOf = (one: VectorCase) => (oursOf(FILE, one) === undefined ? one.name : `${one.name}, ours`)

/** Needs what isn't here yet; each with what it waits for. Counted below, so that none is forgotten. */
const PENDING: ReadonlyMap<string, string> = new Map([
  ['exactScope mcpServer/oauth/login 1', 'login'],
  ['exactScope mcpServer/oauth/login 2', 'login'],
  ['sharedApi mcpServer/oauth/login 1', 'login'],
  ['authStatus values', 'login'],
  ['toolCallStatus values', 'thread items, which the host keeps'],
  ['detail values', 'an API of the host'],
  ['tool call item keys', 'thread items, which the host keeps'],
])

const PLACES = { localcfg: null, q6envA: 'enva', q6envB: 'envb' }
const ROOTS = [
  { id: 'rootA', environment: 'enva', servers: { notes: notes('--as', 'q6envA') } },
  { id: 'rootB', environment: 'envb', servers: { notes: notes('--as', 'q6envB') } },
]

describe('rows and calls of two owners of one name', () => {
  let world: ThreadWorld
  beforeAll(async () => {
    world = await ThreadWorld.open({
      executors: ['enva', 'envb'],
      plugins: ROOTS,
      config: notesToml('localonly', ['--as', 'localcfg']),
    })
  })
  afterAll(() => world[Symbol.asyncDispose]())

  async function start(options: { readonly begun: boolean; readonly compatibility?: boolean }): Promise<Api> {
    const { begun, compatibility = false } = options
    const thread = await world.reeve.startThread({
      environments: world.select('enva', 'envb'),
      capabilityRoots: world.roots,
      appTools: true,
      compatibility,
    })
    if (begun) await thread.step({ wait: 'all' })
    else await eventually(() => expect(listed(thread)).toEqual(['localonly connected', 'notes', 'notes']))
    return { reeve: world.reeve, thread, places: PLACES }
  }
  const begun = once(() => start({ begun: true }))
  const reference = once(() => start({ begun: true, compatibility: true }))

  for (const one of of('list')) {
    const { params, afterFirstTurn } = z
      .looseObject({ params: ListParams, afterFirstTurn: z.boolean() })
      .parse(one.input)
    it(titleOf(one), async () => {
      const api = afterFirstTurn ? await begun() : await start({ begun: false })
      expect(await statusList(api, params)).toEqual(wantedOf(one))
    })
    if (oursOf(FILE, one) !== undefined && params.environmentId === undefined)
      it(`${one.name}, in compatibility mode`, async () => {
        expect(await statusList(await reference(), params)).toEqual(one.expected)
      })
  }

  for (const one of of('exactScope').filter(({ name }) => !PENDING.has(name))) {
    const { method, params } = z.looseObject({ method: z.string(), params: z.looseObject({}) }).parse(one.input)
    const answer = (api: Api) => asked(api, method, params)
    it(titleOf(one), async () => {
      expect(await answer(await scopeOf(params, begun))).toMatchObject(asObject(wantedOf(one)))
    })
    if (oursOf(FILE, one) !== undefined && !('environmentId' in params))
      it(`${one.name}, in compatibility mode`, async () => {
        expect(await answer(await reference())).toMatchObject(asObject(one.expected))
      })
  }

  /** Without a thread there is nothing that an environment could own. */
  async function scopeOf(params: object, usual: () => Promise<Api>): Promise<Api> {
    if ('threadId' in params) return usual()
    const thread = await world.reeve.startThread({ environments: [] })
    return { reeve: world.reeve, thread, places: PLACES }
  }

  for (const one of of('row')) {
    it(one.name, async () => {
      const { thread } = await begun()
      expect({ row: await fullRow(thread, one) }).toEqual(one.expected)
    })
  }

  for (const one of of('startupSequence')) {
    it(titleOf(one), async () => {
      const told: ThreadEvent[] = []
      await using thread = await world.reeve.startThread({
        environments: world.select('enva', 'envb'),
        capabilityRoots: world.roots,
        onEvent: (event) => told.push(event),
      })
      await thread.step({ wait: 'all' })
      const statuses = told.flatMap((event) => (event.type === 'status' ? [event] : []))
      // Each server has a stream of its own; how they mix is nobody's promise.
      const streams = statuses
        .map(({ key, status }) => [key.name, key.environment, status] as const)
        .sort((a, b) => compare(`${a[0]} ${a[1] ?? ''}`, `${b[0]} ${b[1] ?? ''}`))
      expect({ notifications: streams }).toEqual(wantedOf(one))
    })
  }
})

describe('a name alone', () => {
  for (const one of of('nameOnly')) {
    const { serverName, roots, sharedServers, selectedEnvironments } = z
      .looseObject({
        serverName: z.string(),
        roots: z.array(z.string()),
        sharedServers: z.array(z.string()).default([]),
        selectedEnvironments: z.array(z.string()).optional(),
      })
      .parse(one.input)
    const ownerOf = (root: string) => ({ rootA: 'enva', rootB: 'envb' })[root] ?? root
    const owners = roots.map(ownerOf)
    const selected = selectedEnvironments ?? owners
    const run = async (compatibility: boolean): Promise<unknown> => {
      await using world = await ThreadWorld.open({
        executors: selected.filter((id) => id !== 'local'),
        plugins: owners.map((environment) => ({
          id: `root-${environment}`,
          environment,
          servers: { [serverName]: notes('--as', environment) },
        })),
        config: sharedServers.map((name) => notesToml(name, ['--as', 'shared'])).join(''),
      })
      await using thread = await world.reeve.startThread({
        environments: world.select(...selected),
        capabilityRoots: world.roots,
        compatibility,
      })
      const places = Object.fromEntries([['shared', null], ...owners.map((id) => [id, id] as const)])
      const answer = await toolCall({ reeve: world.reeve, thread, places }, { server: serverName, tool: 'whoami' })
      const { answeredBy, errorCode } = z
        .looseObject({ answeredBy: z.string().nullish(), errorCode: z.string().optional() })
        .parse(answer)
      return errorCode === undefined ? { environmentId: answeredBy } : { errorCode }
    }
    it(titleOf(one), async () => {
      expect(await run(false)).toEqual(wantedOf(one))
    })
    if (oursOf(FILE, one) !== undefined)
      it(`${one.name}, in compatibility mode`, async () => {
        expect(await run(true)).toEqual(one.expected)
      })
  }
})

describe('the API of thread-wide servers', () => {
  let world: ThreadWorld
  let api: Api
  beforeAll(async () => {
    const names = ['probe', 'probenone', 'probeold']
    world = await ThreadWorld.open({ config: names.map((name) => notesToml(name, ['--as', name])).join('') })
    const thread = await world.reeve.startThread({ onApproval: () => Promise.reject(new Error('asked')) })
    api = { reeve: world.reeve, thread, places: { probe: null } }
  })
  afterAll(() => world[Symbol.asyncDispose]())

  for (const one of of('sharedApi').filter(({ name }) => !PENDING.has(name))) {
    const { method, params } = z.looseObject({ method: z.string(), params: z.looseObject({}) }).parse(one.input)
    it(titleOf(one), async () => {
      const { asked: wasAsked, ...wanted } = asObject(wantedOf(one))
      // Whoever is asked throws.
      expect(wasAsked ?? false).toBe(false)
      expect(await asked(api, method, params)).toMatchObject(wanted)
    })
  }
})

describe('a server of an environment before the first step', () => {
  for (const one of of('beforeFirstTurn')) {
    it(titleOf(one), async () => {
      const { server } = z
        .looseObject({ server: z.object({ serverName: z.string(), environmentId: z.string() }) })
        .parse(one.input)
      const { serverName, environmentId } = server
      await using world = await ThreadWorld.open({
        executors: [environmentId],
        plugins: [{ id: 'root', environment: environmentId, servers: { [serverName]: notes('--as', environmentId) } }],
      })
      await using thread = await world.reeve.startThread({ capabilityRoots: world.roots })
      await eventually(() => expect(listed(thread)).toEqual([serverName]))
      const [row] = thread.servers().map(rowOf)
      const filtered = thread
        .servers()
        .filter(({ key }) => key.name === serverName && key.environment === environmentId)
      const api: Api = { reeve: world.reeve, thread, places: { [environmentId]: environmentId } }
      const { answeredBy } = asObject(await toolCall(api, { server: serverName, environmentId, tool: 'whoami' }))
      expect({
        listed: row !== undefined,
        runtimeStatus: row?.[3],
        answeredBy,
        filteredListEmpty: filtered.length === 0,
      }).toEqual(wantedOf(one))
    })
  }
})

it('leaves only named cases to what is not here yet', () => {
  const names = vectorCases(FILE).map(({ name }) => name)
  for (const name of PENDING.keys()) expect(names).toContain(name)
  expect(PENDING.size).toBe(7)
})

describe('how a key is shown', () => {
  for (const one of of('displayKey')) {
    it(one.name, () => {
      const { keys } = z
        .looseObject({ keys: z.array(z.object({ serverName: z.string(), environmentId: z.string().nullable() })) })
        .parse(one.input)
      const values = keys.map(({ serverName, environmentId }) => displayKey(serverKey(serverName, environmentId)))
      expect({ values }).toEqual(one.expected)
    })
  }
})

async function asked(api: Api, method: string, params: object): Promise<unknown> {
  if (method === 'mcpServerStatus/list') return statusList(api, ListParams.parse(params))
  if (method === 'mcpServer/tool/call') return toolCall(api, CallParams.parse(params))
  expect(method).toBe('mcpServer/resource/read')
  return resourceRead(api, ReadParams.parse(params))
}

/** A row in full, from what a thread says of a server and what the server lists. */
async function fullRow(thread: Thread, { input }: VectorCase): Promise<unknown> {
  const { serverName, environmentId } = z
    .looseObject({ serverName: z.string(), environmentId: z.string().nullable() })
    .parse(input)
  const selector = { server: serverName, environment: environmentId }
  const status = thread.servers().find(({ key }) => key.name === serverName && key.environment === environmentId)
  if (status === undefined) throw new Error('no such row')
  const step = await thread.step()
  const tools = step.tools.filter(({ key }) => key.name === serverName && key.environment === environmentId)
  const { description, icons, websiteUrl, ...info } = status.serverInfo ?? {}
  const [name, environment, pluginId, runtimeStatus] = rowOf(status)
  return {
    name,
    environmentId: environment,
    runtimeStatus,
    pluginId,
    httpOrigin: null,
    serverInfo: { ...info, description: description ?? null, icons: icons ?? null, websiteUrl: websiteUrl ?? null },
    serverCapabilities: status.capabilities,
    toolListMeta: status.toolList?._meta ?? null,
    tools: Object.fromEntries(tools.map(({ tool, definition }) => [tool, definition])),
    toolsError: toolsError(status),
    resources: (await thread.resources.list(selector)).items,
    resourceTemplates: (await thread.resources.templates.list(selector)).items,
    // Nothing can be stored for a process.
    authStatus: status.transport === 'stdio' ? 'unsupported' : 'unknown',
  }
}

/** Names in the order of the rows, with what is known of those that run. */
function listed(thread: Thread): readonly string[] {
  return thread
    .servers()
    .map(({ key, status }) => (status === 'not_started' ? key.name : `${key.name} ${RUNTIME_STATUS[status]}`))
}

function asObject(value: unknown): Record<string, unknown> {
  return z.record(z.string(), z.unknown()).parse(value)
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
