import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ExecutorEnvironment, webSocketConnector } from '../../src/environments/index.js'
import { serveExecutorWebSocket, type WebSocketExecutor } from '../../src/executor/index.js'
import { environmentId } from '../../src/identity/index.js'
import { StdioTransport } from '../../src/transports/index.js'
import { cuttingProxy } from '../fixtures/executor/cutting-proxy.js'
import { reading } from '../fixtures/executor/reading.js'
import { listen } from '../fixtures/http/listen.js'
import { failure, get, text } from '../fixtures/http/plain.js'

const ECHO = new URL('../fixtures/stdio/echo.mjs', import.meta.url).pathname
let executor: WebSocketExecutor
beforeAll(async () => {
  const env = { PATH: process.env.PATH ?? '', HOME: '/', FAR_TOKEN: 'stays-there' }
  executor = await serveExecutorWebSocket({
    host: '127.0.0.1',
    port: 0,
    authentication: { kind: 'none' },
    env,
    cwd: '/',
  })
})
afterAll(() => executor[Symbol.asyncDispose]())

function over(url: string) {
  const environment = new ExecutorEnvironment({
    id: environmentId('far'),
    connector: webSocketConnector({ environment: 'far', url }),
  })
  return Object.assign(environment, { [Symbol.asyncDispose]: () => environment.close() })
}
const node = (...args: string[]) => ({ program: process.execPath, args, env: {}, cwd: '/', label: 'notes' })
const CAT = { program: 'cat', args: [], env: {}, cwd: '/', label: 'cat' }

describe("Reeve's own executor", () => {
  it('runs programs, and tells how they end', async () => {
    await using environment = over(executor.url)
    expect(await environment.status()).toBe('ready')
    const running = await environment.spawn(node('-e', 'console.log(1); console.error(2); process.exitCode = 7'))
    const said = reading(running)
    expect(await running.exited).toEqual({ code: 7, signal: null })
    expect([said.stdout, said.stderr]).toEqual(['1\n', '2\n'])
    const missing = await failure(environment.spawn({ ...CAT, program: '/no/such' }))
    expect(missing).toMatchObject({ code: 'process_failed', data: { kind: 'spawnNotFound' } })
  })

  it('hosts an MCP server over the stdio transport', async () => {
    await using environment = over(executor.url)
    const transport = new StdioTransport(await environment.spawn(node(ECHO)), { label: 'notes', secrets: [] })
    const answered = new Promise((resolve) => {
      transport.onmessage = resolve
    })
    await transport.start()
    const clientInfo = { name: 'test', version: '1' }
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
    await transport.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
    expect(await answered).toMatchObject({ id: 1, result: { serverInfo: {} } })
    await transport.close()
  })

  it('keeps 500 lines whole while the connection is cut every 50', async () => {
    await using proxy = await cuttingProxy(executor.url)
    await using environment = over(proxy.url)
    const running = await environment.spawn(CAT)
    const said = reading(running)
    let expected = ''
    for (let n = 1; n <= 500; n += 1) {
      const written = running.write(`${n}\n`)
      expected += `${n}\n`
      if (n % 50 === 0) proxy.cut()
      await written
    }
    await said.until('\n500\n')
    expect(said.stdout).toBe(expected)
  })

  it('makes HTTP exchanges with secrets of its own, and stops them', async () => {
    await using environment = over(executor.url)
    let upstream: Promise<void> | undefined
    await using web = await listen((request, response) => {
      if (request.url !== '/stream') return void response.end(request.headers.authorization)
      upstream = new Promise((resolve) => response.on('close', resolve))
      response.write('data: 1\n\n')
    })
    const executorHeaders = [{ name: 'Authorization', prefix: 'Bearer ', variable: 'FAR_TOKEN' }]
    expect(await text(await environment.http.request({ ...get(web.origin), executorHeaders }))).toBe(
      'Bearer stays-there',
    )
    const endless = await environment.http.request(get(`${web.origin}/stream`))
    for await (const _piece of endless.body) break
    await upstream
  })

  it('reads files', async () => {
    await using environment = over(executor.url)
    expect((await environment.files.readFile(ECHO)).length).toBe((await environment.files.metadata(ECHO)).size)
  })
})
