import { describe, expect, it } from 'vitest'
import type { ThreadEvent } from '../../src/reeve.js'
import { APPS, APPS_PATH, type AppTool, appsRequests, appTool, offerApps } from '../standins/backend-apps.js'
import { json } from '../standins/backend-model.js'
import { assertionIds, type BackendRuntime, schemes, startBackendRuntime } from '../standins/backend-runtime.js'

const MODES = ['off', 'dual_header', 'assertion_only'] as const
const ON = { features: { apps: true } } as const
const DIRECTORY = 'GET /backend-api/connectors/directory/list'

async function startListing(tools: readonly AppTool[]) {
  const world = await startBackendRuntime(ON)
  offerApps(world.backend.model, () => tools)
  return world
}

/** Resolves with the first event that is wanted. */
function heard(wanted: (event: ThreadEvent) => boolean) {
  let onEvent: (event: ThreadEvent) => void = () => {}
  const event = new Promise<ThreadEvent>((resolve) => {
    onEvent = (one) => wanted(one) && resolve(one)
  })
  return { event, onEvent: (one: ThreadEvent) => onEvent(one) }
}

const ofApps = (status: string) => (event: ThreadEvent) =>
  event.type === 'status' && event.key.name === 'codex_apps' && event.status === status

describe('a hostile list of apps', () => {
  it('may be long, and no longer than the limit', async () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, n) =>
        appTool(`tool_${n}`, { connector_id: `c${n % 50}`, connector_name: `App ${n % 7}` }),
      )
    await using world = await startListing(many(8192))
    const { onEvent, event } = heard(ofApps('failed'))
    const thread = await world.thread({ onEvent })
    const tools = (await thread.step()).tools.filter(({ key }) => key.name === 'codex_apps')
    expect(tools).toHaveLength(8192)
    expect(new Set(tools.map(({ namespace, name }) => `${namespace}/${name}`)).size).toBe(8192)
    expect(new Set(tools.map(({ flat }) => flat)).size).toBe(8192)
    offerApps(world.backend.model, () => many(10_000))
    await expect(thread.apps.refresh()).rejects.toThrow(/8192|8,192/)
    const other = await world.thread({ onEvent, only: [APPS] })
    expect(await event).toMatchObject({ error: expect.any(String) })
    expect((await other.step()).tools).toEqual([])
  })

  it('may have names that come to the same, each of which is called by its own', async () => {
    await using world = await startListing([
      appTool('a.b', { connector_id: 'c1', connector_name: 'Mail!' }),
      appTool('a-b', { connector_id: 'c1', connector_name: 'Mail!' }),
      appTool('a_b', { connector_id: 'c2', connector_name: 'mail?' }),
      appTool('mail', { connector_id: 'c3', connector_name: 'mail' }),
      appTool('日本', { connector_id: 'c4', connector_name: '日本' }),
    ])
    const step = await (await world.thread()).step()
    const tools = step.tools.filter(({ key }) => key.name === 'codex_apps')
    expect(new Set(tools.map(({ flat }) => flat)).size).toBe(5)
    const byTool = new Map(tools.map((tool) => [tool.tool, tool]))
    expect(byTool.get('a.b')?.namespace).toBe(byTool.get('a-b')?.namespace)
    expect(byTool.get('a.b')?.namespace).not.toBe(byTool.get('a_b')?.namespace)
    expect(byTool.get('日本')).toMatchObject({ namespace: 'mcp__codex_apps__app' })
    for (const { namespace, name } of tools) await step.call({ namespace, name, arguments: {} })
    const called = appsRequests(world.backend.model, 'tools/call').map(({ body }) => JSON.parse(body).params.name)
    expect(called.sort()).toEqual(tools.map(({ tool }) => tool).sort())
  })

  it('may say anything of its connectors', async () => {
    const metas = [
      null,
      'text',
      7,
      [],
      { connector_id: 1, connector_name: {}, connector_description: [] },
      { connector_id: '  ', connector_name: '' },
      { connector_id: '__proto__', connector_name: 'constructor', connector_description: 'x'.repeat(100_000) },
      JSON.parse('{"__proto__":{"connector_id":"inherited"},"_codex_apps":[1]}'),
      { connector_display_name: ' Shown ', connectorDescription: ' Told. ', _codex_apps: 'x' },
    ]
    await using world = await startListing([
      ...metas.map((meta, n) => appTool(`tool_${n}`, meta)),
      appTool('__proto__', { connector_id: 'toString', connector_name: '__proto__' }),
    ])
    const thread = await world.thread()
    const step = await thread.step()
    const tools = step.tools.filter(({ key }) => key.name === 'codex_apps')
    expect(tools).toHaveLength(10)
    for (const { namespace, name } of tools) await step.call({ namespace, name, arguments: {} })
    expect(step.namespaces.find(({ name }) => name === 'mcp__codex_apps__shown')?.description).toBe('Told.')
    const apps = await thread.apps.list()
    expect(apps.map(({ id }) => id)).toEqual([null, '__proto__', null, 'toString'])
    expect(JSON.stringify(apps)).not.toContain('inherited')
  })
})

describe('a server of hosted apps that does not come up', () => {
  it('is tried again by itself, and no step waits for that', async () => {
    await using world = await startListing([appTool('t', {})])
    const { model } = world.backend
    offerApps(model, () => ({ status: 403 }))
    const { event, onEvent } = heard(ofApps('ready'))
    const thread = await world.thread({ onEvent, only: [APPS] })
    expect((await thread.step()).tools).toEqual([])
    offerApps(model, () => [appTool('t', {})])
    await event
    expect((await thread.step()).tools).toMatchObject([{ tool: 't' }])
  })
})

describe('the directory of apps', () => {
  const page = (apps: readonly unknown[], more: object = {}) => json(200, { apps, ...more })

  function told({ backend: { model } }: BackendRuntime) {
    return model.requests.filter(({ path }) => path.endsWith('/directory/list'))
  }

  it.each(MODES)('is asked with the auth of the thread, page by page: %s', async (mode) => {
    await using world = await startBackendRuntime({ mode, ...ON })
    const { model } = world.backend
    model.pathReplies.set(DIRECTORY, [
      page([{ id: ' a ', name: 'Alpha', description: ' About. ', logo: 1 }, { id: 'h', visibility: 'HIDDEN' }, 5, {}], {
        nextToken: 'two&more',
      }),
      page([{ id: 'a', name: 'Again' }, { id: '__proto__' }]),
    ])
    const thread = await world.thread()
    expect(await thread.apps.discover()).toMatchObject([
      { id: 'a', name: 'Alpha', description: 'About.', installUrl: 'https://chatgpt.com/apps/alpha/a' },
      { id: '__proto__', name: '__proto__' },
    ])
    const requests = told(world)
    expect(requests).toHaveLength(2)
    expect(new Set(requests.map(({ account }) => account))).toEqual(new Set(['acct-1']))
    expect(new Set(schemes(requests))).toEqual(new Set([mode === 'assertion_only' ? 'AgentAssertion' : 'Bearer']))
    if (mode !== 'off') expect(new Set(assertionIds(requests)).size).toBe(2)
    expect(model.violations).toEqual([])
  })

  it('fails in so many words when it is no directory, and asks nothing for who signed out', async () => {
    await using world = await startBackendRuntime({ mode: 'dual_header', ...ON })
    const thread = await world.thread()
    for (const [what, replies, code] of [
      ['no list', [json(200, { apps: {} })], 'app_directory'],
      ['no JSON', [{ status: 200, body: '<html>' }], 'app_directory'],
      ['a refusal', [json(403, {})], 'app_directory'],
      ['a page twice', [page([], { next_token: 'x' }), page([], { next_token: 'x' })], 'protocol_violation'],
      ['another place', [{ status: 307, headers: { location: 'https://elsewhere.test/' } }], 'redirect_refused'],
    ] as const) {
      world.backend.model.pathReplies.set(DIRECTORY, [...replies])
      await expect(thread.apps.discover(), what).rejects.toMatchObject({ code })
    }
    await world.reeve.auth?.logout()
    const before = told(world).length
    await expect(thread.apps.discover()).rejects.toMatchObject({ code: 'signed_out' })
    expect(told(world)).toHaveLength(before)
  })
})

it('other servers can’t be an app, whatever they say', async () => {
  await using world = await startBackendRuntime(ON)
  const { model } = world.backend
  model.mcpResults.set('/backend-api/test/mcp tools/list', () => ({
    tools: [appTool('t', { connector_id: 'c1', connector_name: 'Bank' })],
  }))
  offerApps(model, () => [])
  const thread = await world.thread()
  const { namespaces } = await thread.step()
  expect(namespaces.map(({ name }) => name)).toEqual(['mcp__hub'])
  expect(JSON.stringify(namespaces)).not.toContain('Bank')
  expect(await thread.apps.list()).toEqual([])
  await thread.callTool({ server: 'hub', tool: 't', arguments: {} })
  expect(model.requests.filter(({ path }) => path === APPS_PATH).length).toBeGreaterThan(0)
  expect(JSON.stringify(world.sent('tools/call'))).not.toContain('_codex_apps')
})
