import { beforeAll, describe, expect, it } from 'vitest'
import { webSocketConnector } from '../../src/environments/index.js'
import { became } from '../fixtures/connections/real-servers.js'
import { httpServer, stdioServer } from '../fixtures/connections/servers.js'
import { ECHO, echoOn, PlacedConnections, webOn } from '../fixtures/executor/placed-connections.js'
import { scriptedExecutor } from '../fixtures/executor/scripted-executor.js'
import { silentExecutor } from '../fixtures/executor/silent-executor.js'
import { failure } from '../fixtures/http/plain.js'
import { startSdkV2Server } from '../fixtures/http/sdk-v2-server.js'
import { webServer } from '../fixtures/http/web-server.js'
import { buildCli } from './built-cli.js'
import { executorProgram } from './executor-program.js'

beforeAll(buildCli, 300_000)

describe('a stdio server on an executor', () => {
  it('sees the variables of its executor and its configuration, and nothing of the host', async () => {
    await using executor = await executorProgram({ FAR_SECRET: 'far', LEVEL: 'of the executor', OTHER: 'far too' })
    const env = { NEAR: 'near', NEAR_SECRET: 'near secret', FAR_SECRET: 'must not be sent' }
    await using connections = await PlacedConnections.open({ executors: { far: executor.url }, env })
    const plain = echoOn('far', 'plain', [], {}, { env: { LEVEL: 'literal' }, envVars: ['NEAR', 'NOT_SET'] })
    const asking = echoOn('far', 'asking', [], {}, { envVars: [{ name: 'FAR_SECRET', source: 'remote' }, 'NEAR'] })
    await connections.up(plain, asking)

    const seen = JSON.parse(await connections.call(plain, 'env'))
    expect(seen).toMatchObject({ NEAR: 'near', LEVEL: 'literal', PATH: process.env.PATH })
    expect(seen).not.toHaveProperty('NEAR_SECRET')
    expect(seen).not.toHaveProperty('FAR_SECRET')
    expect(seen).not.toHaveProperty('OTHER')
    expect(seen.HOME).toMatch(/reeve-cli-/)

    const asked = JSON.parse(await connections.call(asking, 'env'))
    expect(asked).toMatchObject({ FAR_SECRET: 'far', NEAR: 'near' })
    expect(asked).not.toHaveProperty('OTHER')
  })

  it('runs where its configuration says, and its program is looked up there', async () => {
    await using executor = await executorProgram({ PATH: `${new URL('.', `file://${process.execPath}`).pathname}` })
    await using connections = await PlacedConnections.open({ executors: { far: executor.url } })
    const server = echoOn('far', 'notes', [], {}, { command: 'node', cwd: '/usr' })
    await connections.up(server)
    expect(JSON.parse(await connections.call(server, 'process'))).toMatchObject({ cwd: '/usr' })
  })

  it('needs a working directory of its own, absolute on the executor', async () => {
    await using executor = await executorProgram()
    await using connections = await PlacedConnections.open({ executors: { far: executor.url } })
    const { config, ...none } = stdioServer(
      'none',
      { environmentId: 'far' },
      { command: process.execPath, args: [ECHO] },
    )
    const relative = echoOn('far', 'relative', [], {}, { cwd: 'here' })
    connections.manager.replace([{ ...none, config }, relative])
    const explicit = await failure(connections.manager.ready(none.key))
    expect(explicit).toMatchObject({ code: 'startup_failed', data: { code: 'explicit_cwd' } })
    expect(explicit.message).toBe(
      'MCP client for `none` failed to start: MCP startup failed: executor stdio server requires an explicit cwd',
    )
    const reason = (await failure(connections.manager.ready(relative.key))).message
    expect(reason).toContain("the working directory 'here' is no absolute path on the executor")
  })

  it('has its folder and its arguments told in the way of its own system', async () => {
    await using executor = await scriptedExecutor(({ method }) =>
      method === 'initialize'
        ? {
            result: { sessionId: 's', environmentInfo: { shell: { name: 'cmd', path: 'cmd' }, platformOs: 'windows' } },
          }
        : undefined,
    )
    await using connections = await PlacedConnections.open({
      executors: {
        far: {
          connector: webSocketConnector({ environment: 'far', url: executor.url }),
          times: { graceMs: 50, killWaitMs: 50 },
        },
      },
    })
    const program = { command: 'C:\\Program Files\\notes.exe', args: ['a b', '"c"', '%PATH%'] }
    const brief = { startupTimeoutMs: 300 }
    const server = echoOn('far', 'notes', [], brief, { ...program, cwd: 'C:\\srv\\my notes' })
    const posix = echoOn('far', 'posix', [], brief, { cwd: '/srv' })
    connections.manager.replace([server, posix])
    expect((await failure(connections.manager.ready(posix.key))).message).toContain("'/srv' is no absolute path")
    await failure(connections.manager.ready(server.key))
    const [start] = executor.asked.filter(({ method }) => method === 'process/start')
    expect(start?.params).toMatchObject({
      argv: [program.command, ...program.args],
      cwd: 'file:///C:/srv/my%20notes',
      env: {},
      envPolicy: { inherit: 'core' },
      sandbox: null,
    })
  })

  it('says what the executor cannot start', async () => {
    await using executor = await executorProgram()
    await using connections = await PlacedConnections.open({ executors: { far: executor.url } })
    const missing = echoOn('far', 'missing', [], {}, { command: '/no/such/program' })
    connections.manager.replace([missing])
    expect(await failure(connections.manager.ready(missing.key))).toMatchObject({
      code: 'startup_failed',
      data: { code: 'process_failed', kind: 'spawnNotFound', environment: 'far' },
    })
  })

  it('is refused where nobody knows its environment, and its neighbours are not', async () => {
    await using executor = await executorProgram()
    await using connections = await PlacedConnections.open({ executors: { far: executor.url } })
    const lost = echoOn('nowhere', 'lost')
    const here = stdioServer('here', {}, { command: process.execPath, args: [ECHO] })
    connections.manager.replace([lost, here, echoOn('far')])
    expect(await failure(connections.manager.ready(lost.key))).toMatchObject({
      code: 'startup_failed',
      data: { code: 'unknown_environment' },
    })
    expect(await connections.call(here, 'echo', { message: 'near' })).toBe('near')
    expect(await connections.call(echoOn('far'), 'echo', { message: 'far' })).toBe('far')
  })
})

describe('two runtimes that share a pool', () => {
  it('never meet on two executors that they call by one name', async () => {
    await using first = await executorProgram({ WHICH: 'first' })
    await using second = await executorProgram({ WHICH: 'second' })
    await using one = await PlacedConnections.open({ executors: { devbox: first.url } })
    await using two = await PlacedConnections.open({
      executors: { devbox: second.url },
      manager: { pool: one.pool, owner: 'test' },
    })
    const server = echoOn('devbox', 'notes', [], {}, { envVars: [{ name: 'WHICH', source: 'remote' }] })
    await Promise.all([one.up(server), two.up(server)])
    expect(await one.call(server, 'env', { name: 'WHICH' })).toBe('first')
    expect(await two.call(server, 'env', { name: 'WHICH' })).toBe('second')
  })
})

describe('an HTTP server that an executor reaches', () => {
  it('is initialised, listed and called through it, its stream of its own included', async () => {
    await using executor = await executorProgram()
    await using web = await startSdkV2Server()
    await using connections = await PlacedConnections.open({ executors: { far: executor.url } })
    const server = webOn('far', 'web', { url: web.url })
    const [captured] = await connections.up(server)
    expect(captured?.tools.map(({ name }) => name)).toContain('echo')
    expect(await connections.call(server, 'echo', { a: 1 })).toBe('{"a":1}')
    expect(web.sessions()).toBe(1)
  })

  it('gets the secrets of the executor in its headers, which the host never sees', async () => {
    await using executor = await executorProgram({ NOTES_TOKEN: 'far token', TEAM: 'far team' })
    await using web = await webServer()
    const env = { NOTES_TOKEN: 'near token', TEAM: 'near team' }
    await using connections = await PlacedConnections.open({ executors: { far: executor.url }, env })
    await connections.up(
      webOn('far', 'web', {
        url: web.url,
        bearerTokenEnvVar: 'NOTES_TOKEN',
        envHttpHeaders: { 'X-Team': 'TEAM' },
        httpHeaders: { 'X-Plain': 'plain', 'x-team': 'static' },
      }),
    )
    expect(web.requests.length).toBeGreaterThan(1)
    for (const { headers } of web.requests) {
      expect(headers).toMatchObject({
        authorization: 'Bearer far token',
        'x-team': 'far team',
        'x-plain': 'plain',
      })
    }
  })

  it('is told which variable the executor lacks', async () => {
    await using executor = await executorProgram()
    await using web = await webServer()
    const env = { NOTES_TOKEN: 'near token' }
    await using connections = await PlacedConnections.open({ executors: { far: executor.url }, env })
    const server = webOn('far', 'web', { url: web.url, bearerTokenEnvVar: 'NOTES_TOKEN' })
    connections.manager.replace([server])
    const refused = await failure(connections.manager.ready(server.key))
    expect(refused).toMatchObject({ code: 'startup_failed', data: { code: 'invalid_arguments' } })
    expect(refused.message).toContain('NOTES_TOKEN')
    expect(web.requests).toEqual([])
  })

  it('gets no header from here that would cross a network in the clear, and those of the executor all the same', async () => {
    await using executor = await executorProgram({ NOTES_TOKEN: 'far token' })
    await using web = await webServer()
    // As if it were not on this machine.
    const connector = { ...webSocketConnector({ environment: 'far', url: executor.url }), isExposed: true }
    await using connections = await PlacedConnections.open({ executors: { far: { connector } } })
    const told = webOn('far', 'told', { url: web.url, httpHeaders: { Authorization: 'Bearer near' } })
    const named = webOn('far', 'named', { url: web.url, bearerTokenEnvVar: 'NOTES_TOKEN' })
    const bare = webOn('far', 'bare', { url: web.url })
    connections.manager.replace([told, named, bare])
    const refused = await failure(connections.manager.ready(told.key))
    expect(refused).toMatchObject({ code: 'startup_failed', data: { code: 'unsupported' } })
    expect(refused.message).toContain('in the clear')
    expect(await connections.call(named, 'hello')).toBe('hello')
    expect(await connections.call(bare, 'hello')).toBe('hello')
    expect(new Set(web.requests.map(({ headers }) => headers.authorization))).toEqual(
      new Set(['Bearer far token', undefined]),
    )
  })

  it('cannot have a headers helper, which would run on the host', async () => {
    await using executor = await executorProgram()
    await using web = await webServer()
    await using connections = await PlacedConnections.open({ executors: { far: executor.url } })
    const server = webOn('far', 'web', { url: web.url, httpHeadersHelper: 'echo "{}"' })
    connections.manager.replace([server])
    expect(await failure(connections.manager.ready(server.key))).toMatchObject({ data: { code: 'unsupported' } })
  })

  it('leaves the same address to the host where the host is meant', async () => {
    await using web = await webServer()
    await using connections = await PlacedConnections.open({ executors: {}, env: { NOTES_TOKEN: 'near' } })
    const server = httpServer('web', {}, { url: web.url, bearerTokenEnvVar: 'NOTES_TOKEN' })
    await connections.up(server)
    expect(web.requests[0]?.headers.authorization).toBe('Bearer near')
  })
})

describe('an executor that never answers', () => {
  it('delays nobody beyond its own bound', async () => {
    await using executor = await executorProgram()
    await using silent = await silentExecutor()
    await using connections = await PlacedConnections.open({
      executors: {
        far: executor.url,
        silent: { connector: webSocketConnector({ environment: 'silent', url: silent.url }), initializeMs: 700 },
      },
    })
    const dead = echoOn('silent', 'dead')
    const failed = connections.next(became('dead', 'failed'))
    connections.manager.replace([dead, echoOn('far')])
    expect(await connections.call(echoOn('far'), 'echo', { message: 'on time' })).toBe('on time')
    expect(connections.statusesOf('dead')).toEqual(['starting'])
    const captured = await connections.manager.capture()
    expect(captured.map(({ key, live }) => [key.name, live])).toEqual([
      ['dead', false],
      ['notes', true],
    ])
    expect(await failed).toMatchObject({ error: expect.stringContaining('silent') })
    expect(connections.manager.statuses().find(({ key }) => key.name === 'dead')).toMatchObject({
      status: 'failed',
      error: { data: { code: 'environment_unreachable' } },
    })
  })
})
