import { describe, expect, it } from 'vitest'
import { hostTokensSource, Reeve, type Thread } from '../../src/reeve.js'
import { APPS, APPS_PATH, appsRequests, appTool, offerApps, privateApp } from '../standins/backend-apps.js'
import { assertionIds, type BackendRuntime, schemes, startBackendRuntime } from '../standins/backend-runtime.js'

const MODES = ['off', 'dual_header', 'assertion_only'] as const
const ON = { features: { apps: true } } as const
const CALENDAR = { connector_id: 'c1', connector_name: 'Calendar', connector_description: 'Meets.' }
const call = { ...APPS, tool: 'calendar_create', arguments: {} }

describe('the hosted apps of a thread', () => {
  it.each(MODES)('are reached with its auth, and named by their connectors: %s', async (mode) => {
    await using world = await startBackendRuntime({ mode, ...ON })
    const { model } = world.backend
    offerApps(model, () => [appTool('calendar_create', CALENDAR, { title: 'Calendar_Create' })])
    const thread = await world.thread({ client: { clientInfo: { name: 'my-program', version: '1' } } })
    const step = await thread.step()
    const namespace = step.namespaces.find(({ key }) => key.name === 'codex_apps')
    expect(namespace).toMatchObject({ name: 'mcp__codex_apps__calendar', description: 'Meets.' })
    expect(namespace?.tools).toMatchObject([
      { name: '_create', tool: 'calendar_create', definition: { title: 'Create' } },
    ])
    await step.call({ namespace: 'mcp__codex_apps__calendar', name: '_create', arguments: {} })
    const requests = appsRequests(model)
    expect(new Set(requests.map(({ account }) => account))).toEqual(new Set(['acct-1']))
    expect(new Set(schemes(requests))).toEqual(new Set([mode === 'assertion_only' ? 'AgentAssertion' : 'Bearer']))
    const ids = assertionIds(requests)
    expect(mode === 'off' ? ids.every((id) => id === undefined) : new Set(ids).size === ids.length).toBe(true)
    for (const { headers } of requests) {
      expect(headers).toContainEqual(['x-openai-product-sku', 'codex'])
      expect(headers).toContainEqual(['originator', 'my-program'])
    }
    expect(JSON.parse(appsRequests(model, 'tools/call')[0]?.body ?? '').params._meta._codex_apps).toEqual({
      call_id: expect.any(String),
    })
    expect(model.violations).toEqual([])
  })

  it('are there only where the feature is on, and somebody is signed in', async () => {
    await using off = await startBackendRuntime()
    const without = await off.thread()
    await expect(without.callTool(call)).rejects.toThrow("unknown MCP server 'codex_apps'")
    await expect(without.apps.list()).rejects.toMatchObject({ code: 'unknown_server' })
    expect(without.apps.isOn).toBe(false)
    await using on = await startBackendRuntime({ ...ON, account: null })
    const signedOut = await on.thread()
    expect(signedOut.servers().map(({ key }) => key.name)).not.toContain('codex_apps')
    const unowned = await on.reeve.startThread()
    for (const made of [unowned.apps.list(), unowned.apps.refresh(), unowned.apps.discover()])
      await expect(made).rejects.toMatchObject({ code: 'no_owning_context' })
    // It was there all along, and takes part from the login on.
    await on.signIn('acct-1')
    await signedOut.callTool({ ...call, tool: 't' })
    expect(appsRequests(on.backend.model, 'tools/call')).toMatchObject([{ account: 'acct-1' }])
  })

  it('are not a server that the configuration calls by their name, which is not there beside them', async () => {
    const config = '[mcp_servers.codex_apps]\ncommand = "/nowhere/at/all"\n'
    await using world = await startBackendRuntime({ ...ON, config })
    const thread = await world.thread()
    await thread.callTool({ ...call, tool: 't' })
    expect(appsRequests(world.backend.model, 'tools/call')).toHaveLength(1)
    await world.reeve.auth?.logout()
    await expect(thread.callTool({ ...call, tool: 't' })).rejects.toThrow("unknown MCP server 'codex_apps'")
    expect(world.reeve.problems.map(({ code }) => code)).toEqual(['reserved_name'])
  })

  it('have names for clients of the gateway, each of its own', async () => {
    await using world = await startBackendRuntime(ON)
    const named = (id: string) => appTool(`${id}.create`, { connector_id: id, connector_name: 'Same' })
    offerApps(world.backend.model, () => [named('c1'), named('c2')])
    const thread = await world.thread({ naming: 'readable' })
    const flats = (await thread.step()).tools.filter(({ key }) => key.name === 'codex_apps').map(({ flat }) => flat)
    expect(new Set(flats).size).toBe(2)
  })

  it('go with a logout, and their sessions end before the authority is told', async () => {
    await using world = await startBackendRuntime({ mode: 'dual_header', ...ON })
    const { model } = world.backend
    const thread = await world.thread()
    await thread.callTool({ ...call, tool: 't' })
    await world.reeve.auth?.logout()
    await expect(thread.callTool({ ...call, tool: 't' })).rejects.toThrow("unknown MCP server 'codex_apps'")
    expect((await thread.step()).namespaces.map(({ key }) => key.name)).not.toContain('codex_apps')
    expect(thread.apps.isOn).toBe(false)
    const order = model.requests.filter(({ path, method }) => method === 'DELETE' || path === '/oauth/revoke')
    expect(order.map(({ path }) => path)).toContain(APPS_PATH)
    expect(order.at(-1)?.path).toBe('/oauth/revoke')
    expect(appsRequests(model).at(-1)?.method).toBe('DELETE')
    expect(model.violations).toEqual([])
  })

  it.each(MODES)('are another account’s after its login, with nothing left of the first: %s', async (mode) => {
    await using world = await startBackendRuntime({ mode, ...ON })
    const { model } = world.backend
    offerApps(model, (account) => [privateApp(account ?? 'nobody')])
    const thread = await world.thread()
    expect(JSON.stringify((await thread.step()).namespaces)).toContain('acct-1')
    await world.signIn('acct-2')
    const [namespace] = (await thread.step()).namespaces.filter(({ key }) => key.name === 'codex_apps')
    expect(namespace?.name).toBe('mcp__codex_apps__acct_2_calendar')
    expect(JSON.stringify(namespace)).not.toContain('acct-1')
    expect(JSON.stringify(await thread.apps.list())).not.toContain('acct-1')
    expect(model.violations).toEqual([])
  })

  it('keep the name of a tool from another account that has one of the same name', async () => {
    await using world = await startBackendRuntime(ON)
    offerApps(world.backend.model, (account) => [
      appTool('create', { connector_id: 'c1', connector_name: `${account} secrets` }),
    ])
    const thread = await world.thread()
    await thread.step()
    await world.signIn('acct-2')
    const { tools } = await thread.step()
    expect(tools.filter(({ key }) => key.name === 'codex_apps')).toMatchObject([
      { namespace: 'mcp__codex_apps__acct_2_secrets' },
    ])
  })
})

describe('two threads of two accounts at the same time', () => {
  it.each(MODES)('have nothing of each other: %s', async (mode) => {
    await using world = await startBackendRuntime({ mode, ...ON })
    const { model } = world.backend
    offerApps(model, (account) => [privateApp(account ?? 'nobody')])
    await using other = await startOther(world)
    const first = await world.thread()
    // One runtime, one pool, one cache.
    const second = await world.reeve.startThread({ ...(other.reeve.auth && { auth: other.reeve.auth }) })
    for (let round = 0; round < 3; round += 1) {
      const [a, b] = await Promise.all([seenBy(first), seenBy(second)])
      expect(a).toContain('acct-1')
      expect(a).not.toContain('acct-2')
      expect(b).toContain('acct-2')
      expect(b).not.toContain('acct-1')
      await Promise.all([first.apps.refresh(), second.apps.refresh()])
    }
    await second.callTool({ ...APPS, tool: 'acct-2_calendar_create', arguments: {} })
    const mine = (rpc: string) => appsRequests(model, rpc).map(({ account }) => account)
    expect(mine('tools/call')).toEqual(['acct-2'])
    expect(model.violations).toEqual([])
  })
})

async function seenBy(thread: Thread) {
  const { namespaces, tools } = await thread.step()
  return JSON.stringify([namespaces, tools, await thread.apps.list(), thread.servers()])
}

/** Whoever signs another account in, in the same process. */
async function startOther(world: BackendRuntime) {
  const issued = world.backend.model.issue({ account: 'acct-2', user: 'user-2' })
  const reeve = await Reeve.open({
    home: world.home,
    env: world.env,
    cwd: world.home,
    configFiles: [`${world.home}/config.toml`],
    firstParty: { route: world.backend.route },
    credentials: hostTokensSource(issued),
    ...ON,
  })
  return { reeve, [Symbol.asyncDispose]: () => reeve.close() }
}
