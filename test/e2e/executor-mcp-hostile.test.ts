import { describe, expect, it } from 'vitest'
import { webSocketConnector } from '../../src/environments/index.js'
import { became } from '../fixtures/connections/real-servers.js'
import { stdioServer } from '../fixtures/connections/servers.js'
import { ECHO, echoOn, PlacedConnections } from '../fixtures/executor/placed-connections.js'
import { type ScriptedConnection, scriptedExecutor } from '../fixtures/executor/scripted-executor.js'
import { failure } from '../fixtures/http/plain.js'

/** Processes there never end as they are told. */
const soonGivenUp = (url: string) => ({
  connector: webSocketConnector({ environment: 'far', url }),
  times: { graceMs: 50, killWaitMs: 50 },
})

const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** An executor whose one MCP server answers as it should, until it is called. */
function untilCalled(lie: (connection: ScriptedConnection, processId: unknown, seq: number) => void) {
  const last = new Map<number, number>()
  return scriptedExecutor(({ id, method, params }, connection) => {
    if (method !== 'process/write') return undefined
    connection.send({ id, result: { status: 'accepted' } })
    for (const line of Buffer.from(String(params.chunk), 'base64').toString().split('\n')) {
      if (line === '') continue
      const message = JSON.parse(line)
      const seq = (last.get(connection.number) ?? 0) + 1
      const answer = answerTo(message)
      if (message.method === 'tools/call') lie(connection, params.processId, seq)
      else if (answer !== undefined) {
        last.set(connection.number, seq)
        const text = `${JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answer })}\n`
        connection.send(output(params.processId, seq, base64(text)))
      }
    }
    return false
  })
}

const output = (processId: unknown, seq: number, chunk: string) => ({
  method: 'process/output',
  params: { processId, seq, stream: 'stdout', chunk },
})

function answerTo({ id, method, params }: { id?: unknown; method: string; params?: { protocolVersion?: string } }) {
  if (id === undefined) return undefined
  if (method === 'initialize') {
    const serverInfo = { name: 'far', version: '1' }
    return { result: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo } }
  }
  if (method === 'tools/list') return { result: { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] } }
  return { error: { code: -32601, message: `no method '${method}'` } }
}

describe('an executor that turns hostile in the middle of a call', () => {
  it.each<[string, (connection: ScriptedConnection, processId: unknown, seq: number) => void, string]>([
    ['speaks of another process', (to, _, seq) => to.send(output('other', seq, base64('x'))), 'protocol_violation'],
    ['numbers an event with a fraction', (to, id, seq) => to.send(output(id, seq + 0.5, '')), 'protocol_violation'],
    [
      'leaves a hole and goes on',
      (to, id, seq) => {
        for (let n = 1; n <= 300; n += 1) to.send(output(id, seq + n, base64('x')))
      },
      'limit_exceeded',
    ],
    ['sends output that is no base64', (to, id, seq) => to.send(output(id, seq, '!')), 'protocol_violation'],
    ['sends 17 MiB at once', (to) => to.sendRaw(Buffer.alloc(17 * 1024 * 1024, 'x')), 'environment_lost'],
    ['sends what is not JSON', (to) => to.sendRaw('{'), 'environment_lost'],
    ['answers what nobody asked', (to) => to.send({ id: 4711, result: {} }), 'environment_lost'],
    [
      'ends the process in the middle of it',
      (to, id, seq) => {
        to.send({ method: 'process/exited', params: { processId: id, seq, exitCode: 3 } })
        to.send({ method: 'process/closed', params: { processId: id, seq: seq + 1 } })
      },
      'process_failed',
    ],
  ])('%s: the call fails and says why, and nobody else is concerned', async (_, lie, code) => {
    await using executor = await untilCalled(lie)
    await using connections = await PlacedConnections.open({ executors: { far: soonGivenUp(executor.url) } })
    const far = echoOn('far', 'notes')
    const here = stdioServer('notes', {}, { command: process.execPath, args: [ECHO] })
    await connections.up(far, here)
    const [failed, again] = [connections.next(became('notes', 'failed')), connections.next(became('notes', 'ready'))]
    expect(await failure(connections.call(far, 'echo'))).toMatchObject({
      code: 'transport_closed',
      key: far.key,
      cause: { code },
    })
    expect(await failed).toMatchObject({ key: far.key, error: expect.stringContaining('stopped: Transport closed') })
    expect(await connections.call(here, 'echo', { message: 'here' })).toBe('here')
    expect(await again).toMatchObject({ key: far.key })
  })
})

describe('an executor that starts another process than the one asked for', () => {
  it('costs that server its start', async () => {
    await using executor = await scriptedExecutor(({ method }) =>
      method === 'process/start' ? { result: { processId: 'other' } } : undefined,
    )
    await using connections = await PlacedConnections.open({ executors: { far: soonGivenUp(executor.url) } })
    const far = echoOn('far', 'notes')
    connections.manager.replace([far])
    expect(await failure(connections.manager.ready(far.key))).toMatchObject({
      code: 'startup_failed',
      data: { code: 'protocol_violation' },
    })
  })
})
