import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/protocol/index.js'
import { NO_ANSWER } from '../standins/backend-apps.js'
import { type BackendReply, json } from '../standins/backend-model.js'
import { type BackendRuntime, schemes, startBackendRuntime } from '../standins/backend-runtime.js'

const MODES = ['off', 'dual_header', 'assertion_only'] as const
const VERIFIED = '/backend-api/accounts/verified_access'
const SERVER = fileURLToPath(new URL('../fixtures/threads/entitled.mjs', import.meta.url))
const grant = { level: 'tac1', source: 'user' }
const cyber = (more: object) => json(200, { programs: [{ program: 'cyber', ...more }, { program: 'other' }] })
const GRANTED = cyber({ status: 'active', grants: [grant] })

/** A thread with a plugin of this machine, whose server wants to know. */
async function startPlugin(reply: BackendReply, mode: (typeof MODES)[number] = 'off') {
  const world = await startBackendRuntime({ mode })
  const plugin = join(world.home, 'plugin')
  await mkdir(join(plugin, '.codex-plugin'), { recursive: true })
  await writeFile(join(plugin, '.codex-plugin', 'plugin.json'), '{"name":"entitled"}')
  const server = { command: process.execPath, args: [SERVER] }
  await writeFile(join(plugin, '.mcp.json'), JSON.stringify({ mcpServers: { entitled: server } }))
  world.backend.model.pathReplies.set(`GET ${VERIFIED}`, [reply])
  const roots = [{ id: 'entitled', environment: 'local', path: plugin }]
  const thread = await world.thread({ capabilityRoots: roots })
  const told = async (tool: string, args?: JsonObject, meta?: JsonObject) => {
    const call = { server: 'entitled', tool, ...(args && { arguments: args }), ...(meta && { _meta: meta }) }
    const { structuredContent } = await thread.callTool(call)
    return (structuredContent as { told: JsonObject | null }).told
  }
  return { world, thread, told, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
}

function asked({ backend: { model } }: BackendRuntime) {
  return model.requests.filter(({ path }) => path === VERIFIED)
}

const context = (status: string, grants: readonly object[] = []) => ({
  schemaVersion: 1,
  entitlements: { cyber_trusted_access: { schemaVersion: 1, status, grants, stale: false } },
})

describe('a tool that wants to know of trusted access', () => {
  it.each(MODES)('is told what the thread’s own account has: %s', async (mode) => {
    await using plugin = await startPlugin(GRANTED, mode)
    const { world, told } = plugin
    expect(await told('trusted', {}, { 'openai/entitlementContext': 'forged' })).toEqual(context('granted', [grant]))
    const requests = asked(world)
    expect(requests).toMatchObject([{ account: 'acct-1', method: 'GET' }])
    expect(schemes(requests)).toEqual([mode === 'assertion_only' ? 'AgentAssertion' : 'Bearer'])
    expect(world.backend.model.violations).toEqual([])
  })

  it('is told no more than is certain', async () => {
    await using plugin = await startPlugin(GRANTED)
    const { world, told } = plugin
    for (const [what, reply, status] of [
      ['inactive', cyber({ status: 'inactive', grants: [] }), 'not_granted'],
      ['unavailable', cyber({ status: 'unavailable', grants: [] }), 'unknown'],
      ['active without a grant', cyber({ status: 'active', grants: [] }), 'unknown'],
      ['inactive with a grant', cyber({ status: 'inactive', grants: [grant] }), 'unknown'],
      ['of a level that nobody knows', cyber({ status: 'active', grants: [{ ...grant, level: 'x' }] }), 'unknown'],
      ['of grants that are none', cyber({ status: 'active', grants: { 0: grant } }), 'unknown'],
      ['twice', json(200, { programs: [{ program: 'cyber' }, { program: 'cyber' }] }), 'unknown'],
      ['not 200', { ...GRANTED, status: 201 }, 'unknown'],
      ['no JSON', { status: 200, body: '{' }, 'unknown'],
      ['too long', { status: 200, body: `${GRANTED.body}${' '.repeat(1024 * 1024)}` }, 'unknown'],
      ['elsewhere', { status: 307, headers: { location: VERIFIED } }, 'unknown'],
    ] as const) {
      world.backend.model.pathReplies.set(`GET ${VERIFIED}`, [reply])
      const before = asked(world).length
      expect(await told('trusted'), what).toEqual(context(status))
      expect(asked(world).length - before, what).toBe(1)
    }
  })

  it('is told nothing where it is not exactly as it should be', async () => {
    await using plugin = await startPlugin(GRANTED)
    for (const [what, tool, args] of [
      ['it may write', 'writes', undefined],
      ['it did not ask', 'unasked', undefined],
      ['it asked for something else, too', 'odd', undefined],
      ['it is given arguments', 'trusted', { a: 1 }],
    ] as const)
      expect(await plugin.told(tool, args, { 'openai/entitlementContext': 'forged' }), what).toBeNull()
    expect(asked(plugin.world)).toEqual([])
  })

  it('is told nothing where nobody is signed in, or the server is no plugin’s', async () => {
    await using plugin = await startPlugin(GRANTED)
    await plugin.world.reeve.auth?.logout()
    expect(await plugin.told('trusted')).toBeNull()
    expect(asked(plugin.world)).toEqual([])
    const own = `[mcp_servers.own]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(SERVER)}]\n`
    await using world = await startBackendRuntime({ config: own })
    const thread = await world.thread()
    const { structuredContent } = await thread.callTool({ server: 'own', tool: 'trusted' })
    expect(structuredContent).toEqual({ told: null })
  })

  it('counts the question against the time of the call', async () => {
    await using plugin = await startPlugin(NO_ANSWER)
    const made = plugin.thread.callTool({ server: 'entitled', tool: 'trusted' }, { timeoutMs: 300 })
    await expect(made).rejects.toMatchObject({ code: 'timeout' })
  })
})
