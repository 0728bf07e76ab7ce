import { describe, expect, it } from 'vitest'
import { webSocketConnector } from '../../src/environments/index.js'
import { became, textOf } from '../fixtures/connections/real-servers.js'
import { cuttingProxy } from '../fixtures/executor/cutting-proxy.js'
import { echoOn, PlacedConnections, webOn } from '../fixtures/executor/placed-connections.js'
import { failure } from '../fixtures/http/plain.js'
import { webServer } from '../fixtures/http/web-server.js'
import { execServer } from './exec-server.js'

const notes = echoOn('far')
const pidOf = async (connections: PlacedConnections): Promise<number> =>
  JSON.parse(await connections.call(notes, 'process')).pid

describe('MCP servers on the real executor', () => {
  it('see its variables and their configuration, and nothing of the host', async () => {
    await using executor = await execServer({ env: { FAR_SECRET: 'far', OTHER: 'far too', LEVEL: 'of the executor' } })
    const env = { NEAR: 'near', NEAR_SECRET: 'near secret', FAR_SECRET: 'must not be sent' }
    await using connections = await PlacedConnections.open({ executors: { far: executor.url }, env })
    const plain = echoOn('far', 'plain', [], {}, { env: { LEVEL: 'literal' }, envVars: ['NEAR'], cwd: '/usr' })
    const asking = echoOn('far', 'asking', [], {}, { envVars: [{ name: 'FAR_SECRET', source: 'remote' }] })
    await connections.up(plain, asking)
    const seen = JSON.parse(await connections.call(plain, 'env'))
    expect(seen).toMatchObject({ NEAR: 'near', LEVEL: 'literal', HOME: executor.home.folder })
    for (const name of ['NEAR_SECRET', 'FAR_SECRET', 'OTHER']) expect(seen).not.toHaveProperty(name)
    expect(JSON.parse(await connections.call(plain, 'process'))).toMatchObject({ cwd: '/usr' })
    const asked = JSON.parse(await connections.call(asking, 'env'))
    expect(asked).toMatchObject({ FAR_SECRET: 'far' })
    expect(asked).not.toHaveProperty('OTHER')
  })

  it('are reached by HTTP with secrets that stay there', async () => {
    await using executor = await execServer({ env: { NOTES_TOKEN: 'far token', TEAM: 'far team' } })
    await using web = await webServer()
    await using connections = await PlacedConnections.open({
      executors: { far: executor.url },
      env: { NOTES_TOKEN: 'near token' },
    })
    const server = webOn('far', 'web', {
      url: web.url,
      bearerTokenEnvVar: 'NOTES_TOKEN',
      envHttpHeaders: { 'X-Team': 'TEAM' },
    })
    await connections.up(server)
    expect(await connections.call(server, 'hello')).toBe('hello')
    for (const { headers } of web.requests)
      expect(headers).toMatchObject({ authorization: 'Bearer far token', 'x-team': 'far team' })

    const unset = webOn('far', 'unset', { url: web.url, bearerTokenEnvVar: 'NOT_SET' })
    connections.manager.replace([unset])
    expect(await failure(connections.manager.ready(unset.key))).toMatchObject({ data: { code: 'invalid_arguments' } })
  })

  it('answer every one of 500 calls, once, while the link is cut every 50', async () => {
    await using executor = await execServer()
    await using proxy = await cuttingProxy(executor.url)
    await using connections = await PlacedConnections.open({ executors: { far: proxy.url } })
    const [captured] = await connections.up(notes)
    const pid = await pidOf(connections)
    const call = captured?.prepareCall('echo')
    for (let n = 1; n <= 500; n += 1) {
      const out = call?.run({ arguments: { message: `${n}` } })
      if (n % 50 === 0) proxy.cut()
      expect(textOf((await out) ?? {})).toBe(`${n}`)
    }
    expect(await pidOf(connections)).toBe(pid)
  })

  it('fail at once with it, and come back with it, without a reload', async () => {
    await using executor = await execServer()
    const reached = { connector: webSocketConnector({ environment: 'far', url: executor.url }), refusedMs: 200 }
    await using connections = await PlacedConnections.open({ executors: { far: reached } })
    await connections.up(notes)
    const pid = await pidOf(connections)
    const failing = failure(connections.call(notes, 'hang'))
    await executor.kill()
    expect(await failing).toMatchObject({
      code: 'transport_closed',
      message: expect.stringMatching(/^Transport closed/),
      cause: { code: 'environment_lost' },
    })
    const back = connections.next(became('notes', 'ready'))
    await using _again = await execServer({ listen: executor.url })
    await back
    expect(await pidOf(connections)).not.toBe(pid)
    expect(connections.statusesOf('notes')).toEqual(['starting', 'ready', 'failed', 'starting', 'ready'])
  })
})
