import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { notesToml, ThreadWorld } from '../../test/fixtures/threads/thread-world.js'
import { auditOutcome, type StoredAuditRecord } from '../authority/index.js'
import { openStore } from '../store/index.js'

const ECHO = new URL('../../test/fixtures/stdio/echo.mjs', import.meta.url).pathname

function recorded(world: ThreadWorld): readonly StoredAuditRecord[] {
  using store = openStore(join(world.folder, 'state.sqlite'))
  return store.audit.query({ limit: 100 })
}

const shown = (record: StoredAuditRecord) =>
  [record.operation, record.server, record.tool, record.decision, record.decidedBy, auditOutcome(record)].join(' ')

describe('the audit of a thread', () => {
  it('has one record of each call, whichever way it is made, once the runtime is closed', async () => {
    await using world = await ThreadWorld.open({ config: notesToml('p') })
    const thread = await world.reeve.startThread()
    const step = await thread.step({ wait: 'all' })
    const tool = step.tools.find((one) => one.tool === 'whoami')
    if (tool === undefined) throw new Error('nothing is offered')
    await step.call({ ...tool, arguments: { note: 'x' } })
    await step.callFlat(tool.flat, {})
    await thread.callTool({ server: 'p', tool: 'whoami' })
    await expect(thread.callTool({ server: 'p', tool: 'hang' }, { timeoutMs: 20 })).rejects.toThrow()
    await step.callFunction('list_mcp_resources', { server: 'p' })
    await step.callFunction('list_mcp_resources', { server: 'nobody' })
    await expect(step.callFlat(tool.flat, [1])).rejects.toThrow('must be a JSON object')
    await world.reeve.close()
    const records = recorded(world)
    expect(records.map(shown)).toEqual([
      'tool p whoami run mode ok',
      'tool p whoami run mode ok',
      'tool p whoami run mode ok',
      'tool p hang run mode transport_error',
      'function p list_mcp_resources run mode ok',
      'function  list_mcp_resources   refused',
      'tool p whoami   refused',
    ])
    expect(new Set(records.map(({ callId }) => callId)).size).toBe(7)
    expect(new Set(records.map(({ threadId }) => threadId))).toEqual(new Set([thread.id]))
    const [first, second, third] = records
    expect(first).toMatchObject({ executionEnvironment: 'local', authority: expect.stringMatching(/^sha256:/) })
    expect(first?.argumentBytes).toBe('{"note":"x"}'.length)
    expect(first?.argumentDigest).not.toBe(second?.argumentDigest)
    expect(second?.authority).toBe(first?.authority)
    expect(third?.authority).toBe(first?.authority)
  })

  it('has the requests that call no tool, by what they are', async () => {
    await using world = await ThreadWorld.open({
      config: `[mcp_servers.p]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(ECHO)}]\n`,
    })
    const thread = await world.reeve.startThread()
    const server = { server: 'p' }
    await thread.resources.read({ ...server, uri: 'echo://none', _meta: { x: 1 } }).catch(() => undefined)
    await expect(thread.prompts.get({ ...server, name: 'nobody' })).rejects.toThrow()
    const params = { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'name', value: 'A' } }
    await thread.complete({ ...server, params })
    await expect(thread.resources.read({ server: 'nobody', uri: 'x:y' })).rejects.toThrow()
    await world.reeve.close()
    const records = recorded(world)
    expect(records.map(shown)).toEqual([
      'resource p resources/read run mode rpc_error',
      'prompt p nobody run mode rpc_error',
      'completion p completion/complete run mode ok',
    ])
    expect(records[0]).toMatchObject({ authority: expect.stringMatching(/^sha256:/), argumentBytes: 21 })
  })

  it('says who decided', async () => {
    await using world = await ThreadWorld.open({
      config: notesToml('p', [], 'default_tools_approval_mode = "prompt"'),
    })
    const answers: ('approve' | 'decline')[] = ['approve', 'decline']
    const thread = await world.reeve.startThread({ onApproval: async () => answers.shift() ?? 'decline' })
    await thread.callTool({ server: 'p', tool: 'whoami' })
    await expect(thread.callTool({ server: 'p', tool: 'whoami' })).rejects.toMatchObject({ code: 'approval_required' })
    await world.reeve.close()
    expect(recorded(world).map(shown)).toEqual(['tool p whoami run user ok', 'tool p whoami rejected user refused'])
  })

  it('is there before the result in strict mode, and absent when it is off; a reload changes that', async () => {
    await using world = await ThreadWorld.open({ config: `${notesToml('p')}[audit]\nmode = "strict"\n` })
    await using thread = await world.reeve.startThread()
    await thread.callTool({ server: 'p', tool: 'whoami' })
    expect(recorded(world)).toHaveLength(1)
    world.write('config.toml', `${notesToml('p')}[audit]\nmode = "off"\n`)
    await world.reeve.reload()
    await thread.callTool({ server: 'p', tool: 'whoami' })
    await world.reeve.close()
    expect(recorded(world)).toHaveLength(1)
  })
})
