import { describe, expect, it } from 'vitest'
import { eventually } from '../fixtures/stdio/running.js'
import { assertionIds, HUB, HUB_PATH, schemes, startBackendRuntime } from '../standins/backend-runtime.js'

const MODES = ['off', 'dual_header', 'assertion_only'] as const
const call = { ...HUB, tool: 't', arguments: {} }

describe('servers of the first-party backend', () => {
  it.each(MODES)('get fresh auth with every request, through a rotation too: %s', async (mode) => {
    await using world = await startBackendRuntime({ mode })
    const { backend, reeve } = world
    const thread = await world.thread()
    await thread.callTool(call)
    await reeve.auth?.refresh()
    // Nobody asked for this one while the credential changed: it waits for the new session.
    await thread.callTool(call)
    await thread.close()
    const sent = world.sent()
    expect(backend.model.violations).toEqual([])
    expect(new Set(sent.map(({ account }) => account))).toEqual(new Set(['acct-1']))
    expect(world.sent('tools/call')).toHaveLength(2)
    expect(new Set(schemes(sent))).toEqual(new Set([mode === 'assertion_only' ? 'AgentAssertion' : 'Bearer']))
    const ids = assertionIds(sent)
    if (mode === 'off') expect(new Set(ids)).toEqual(new Set([undefined]))
    else expect(new Set(ids).size).toBe(sent.length)
    // Another credential value is another instance, and so another session; each is ended with its own.
    const sessions = mode === 'off' ? 1 : 2
    expect(backend.model.registrations).toHaveLength(mode === 'off' ? 0 : 2)
    expect(world.sent('initialize')).toHaveLength(sessions)
    expect(world.sent('DELETE')).toHaveLength(sessions)
  })

  it.each(MODES)('take no auth of a thread that has none: %s', async (mode) => {
    await using world = await startBackendRuntime({ mode })
    const thread = await world.reeve.startThread()
    await thread.callTool(call)
    expect(new Set(schemes(world.sent()))).toEqual(new Set([null]))
  })

  it('share no connection between threads of different modes', async () => {
    await using world = await startBackendRuntime()
    const sharing = 'shared' as const
    const plain = await world.thread({ sharing })
    const signing = await world.thread({ sharing, runtimeAuthMode: 'assertion_only' })
    const same = await world.thread({ sharing })
    for (const thread of [plain, signing, same]) await thread.callTool(call)
    expect(schemes(world.sent('initialize')).toSorted()).toEqual(['AgentAssertion', 'Bearer'])
    expect(schemes(world.sent('tools/call'))).toEqual(['Bearer', 'AgentAssertion', 'Bearer'])
    expect(world.backend.model.violations).toEqual([])
  })

  it('keep the mode that a thread began with', async () => {
    await using world = await startBackendRuntime({ mode: 'dual_header' })
    const thread = await world.thread({ runtimeAuthMode: 'off' })
    await thread.callTool(call)
    await world.reeve.reload()
    await thread.callTool(call)
    expect(new Set(assertionIds(world.sent()))).toEqual(new Set([undefined]))
  })

  it.each(['dual_header', 'assertion_only'] as const)('are never followed elsewhere: %s', async (mode) => {
    await using world = await startBackendRuntime({ mode })
    const thread = await world.thread()
    await thread.callTool(call)
    for (const status of [307, 308])
      for (const location of [HUB_PATH, 'https://elsewhere.test/mcp']) {
        world.backend.model.rpcReplies.set('tools/call', [{ status, headers: { location } }])
        await expect(thread.callTool(call)).rejects.toMatchObject({ code: 'redirect_refused' })
      }
    expect(world.sent('tools/call')).toHaveLength(5)
    expect(world.backend.model.violations).toEqual([])
  })

  it('keep redirects within the origin when nothing is asserted', async () => {
    await using world = await startBackendRuntime()
    const thread = await world.thread()
    await thread.callTool(call)
    const { rpcReplies } = world.backend.model
    rpcReplies.set('tools/call', [{ status: 307, headers: { location: HUB_PATH } }])
    await thread.callTool(call)
    rpcReplies.set('tools/call', [{ status: 307, headers: { location: 'https://elsewhere.test/mcp' } }])
    await expect(thread.callTool(call)).rejects.toMatchObject({ code: 'redirect_refused' })
    expect(world.sent('tools/call')).toHaveLength(4)
  })
})

describe('a 401', () => {
  it.each(MODES)('is answered by one refresh, and by a repetition of what may be repeated: %s', async (mode) => {
    await using world = await startBackendRuntime({ mode })
    const thread = await world.thread()
    await thread.callTool(call)
    const unauthorized = { status: 401, headers: { 'www-authenticate': 'Bearer' } }
    world.backend.model.rpcReplies.set('resources/read', [unauthorized])
    await thread.resources.read({ ...HUB, uri: 'x:1' })
    expect(world.backend.model.refreshes).toEqual([{ reason: 'unauthorized_recovery' }])
    world.backend.model.rpcReplies.set('tools/call', [unauthorized])
    await expect(thread.callTool(call)).rejects.toMatchObject({ code: 'auth_required' })
    expect(world.backend.model.refreshes).toHaveLength(2)
    expect(world.sent('tools/call')).toHaveLength(2)
    await thread.callTool(call)
    expect(world.backend.model.violations).toEqual([])
  })
})

describe('the account’s permission', () => {
  it.each(MODES)('ends a call in flight and the stream at once when another account signs in: %s', async (mode) => {
    await using world = await startBackendRuntime({ mode })
    const { model } = world.backend
    const stream = { status: 200, headers: { 'content-type': 'text/event-stream' }, fault: 'open' as const }
    model.pathReplies.set(`GET ${HUB_PATH}`, [stream])
    const thread = await world.thread()
    await thread.callTool(call)
    await eventually(() => expect(world.sent('GET')).toHaveLength(1))
    model.rpcReplies.set('tools/call', [{ status: 200, fault: 'silent' }])
    const inFlight = expect(thread.callTool(call)).rejects.toMatchObject({
      code: 'auth_revoked',
      message: 'HTTP request failed: http/request failed: application network permission was revoked',
    })
    await eventually(() => expect(world.sent('tools/call')).toHaveLength(2))
    await world.signIn('acct-2')
    await inFlight
    await thread.callTool(call)
    const accounts = world.sent('tools/call').map(({ account }) => account)
    expect(accounts).toEqual(['acct-1', 'acct-1', 'acct-2'])
    expect(model.violations).toEqual([])
  })

  it.each(MODES)('ends with a logout, and nothing goes out without it afterwards: %s', async (mode) => {
    await using world = await startBackendRuntime({ mode })
    const { model } = world.backend
    const thread = await world.thread()
    await thread.callTool(call)
    model.rpcReplies.set('tools/call', [{ status: 200, fault: 'silent' }])
    const inFlight = expect(thread.callTool(call)).rejects.toMatchObject({ code: 'auth_revoked' })
    await eventually(() => expect(world.sent('tools/call')).toHaveLength(2))
    await world.reeve.auth?.logout()
    await inFlight
    expect(world.sent('DELETE').map(({ account }) => account)).toEqual(['acct-1'])
    expect(model.revocations).toEqual(['acct-1'])
    const before = world.sent().length
    await expect(thread.callTool(call)).rejects.toThrow('signed out')
    await expect(thread.resources.read({ ...HUB, uri: 'x:1' })).rejects.toThrow('signed out')
    expect(world.sent()).toHaveLength(before)
    await world.signIn('acct-1')
    await thread.callTool(call)
    expect(model.violations).toEqual([])
    expect(schemes(world.sent())).not.toContain(null)
  })

  it('can be the network policy’s, before a call and during one', async () => {
    const policy = new AbortController()
    const networks = () => ({ refusal: () => undefined, revoked: policy.signal })
    await using world = await startBackendRuntime({ mode: 'dual_header', firstParty: { networks } })
    const { model } = world.backend
    const thread = await world.thread()
    await thread.callTool(call)
    model.rpcReplies.set('tools/call', [{ status: 200, fault: 'silent' }])
    const inFlight = expect(thread.callTool(call)).rejects.toMatchObject({ code: 'auth_revoked' })
    await eventually(() => expect(world.sent('tools/call')).toHaveLength(2))
    policy.abort()
    await inFlight
    await expect(thread.callTool(call)).rejects.toThrow('application network permission was revoked')
    expect(world.sent('tools/call')).toHaveLength(2)
  })
})
