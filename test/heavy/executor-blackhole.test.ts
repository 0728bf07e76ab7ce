import { beforeAll, describe, expect, it } from 'vitest'
import { webSocketConnector } from '../../src/environments/index.js'
import { buildCli } from '../e2e/built-cli.js'
import { executorProgram } from '../e2e/executor-program.js'
import { cuttingProxy } from '../fixtures/executor/cutting-proxy.js'
import { echoOn, PlacedConnections, webOn } from '../fixtures/executor/placed-connections.js'
import { listen } from '../fixtures/http/listen.js'
import { failure } from '../fixtures/http/plain.js'
import { webServer } from '../fixtures/http/web-server.js'

beforeAll(buildCli, 300_000)

describe('a network that swallows everything without a word', () => {
  it('ends the calls in flight of processes and HTTP servers, long before their own time is over', async () => {
    await using executor = await executorProgram()
    await using proxy = await cuttingProxy(executor.url)
    await using web = await webServer()
    let asked = () => {}
    const reached = new Promise<void>((resolve) => {
      asked = resolve
    })
    await using slow = await listen(async (request, response, body) => {
      if (body.includes('"tools/call"')) return asked()
      const answer = await fetch(web.url, { method: String(request.method), body: body === '' ? null : body })
      response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(await answer.text())
    })
    const times = { healthMs: 100, recoveryMs: 300, initializeMs: 300 }
    const connector = webSocketConnector({ environment: 'far', url: proxy.url, connectMs: 300 })
    await using connections = await PlacedConnections.open({ executors: { far: { connector, ...times } } })
    const [notes, hello] = [echoOn('far'), webOn('far', 'web', { url: `${slow.origin}/mcp` })]
    await connections.up(notes, hello)
    const failing = [failure(connections.call(notes, 'hang')), failure(connections.call(hello, 'hello'))]
    await reached
    proxy.stall()
    const failed = await Promise.all(failing)
    expect(failed).toMatchObject([{ code: 'transport_closed' }, { code: 'transport_closed' }])
    const later = await failure(connections.call(hello, 'hello'))
    expect(later).toMatchObject({ code: expect.stringMatching(/^environment_/) })
  })
})
