import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { webSocketConnector } from '../../src/environments/index.js'
import { became, offered } from '../fixtures/connections/real-servers.js'
import { cuttingProxy } from '../fixtures/executor/cutting-proxy.js'
import { echoOn, PlacedConnections, webOn } from '../fixtures/executor/placed-connections.js'
import { silentExecutor } from '../fixtures/executor/silent-executor.js'
import { failure } from '../fixtures/http/plain.js'
import { startSdkV2Server } from '../fixtures/http/sdk-v2-server.js'
import { buildCli } from './built-cli.js'
import { executorProgram } from './executor-program.js'

beforeAll(buildCli, 300_000)

const notes = echoOn('far')
const pidOf = async (connections: PlacedConnections, server = notes): Promise<number> =>
  JSON.parse(await connections.call(server, 'process')).pid

/** Resolves when the server has got a message of this method. */
async function recorded(file: string, method: string): Promise<void> {
  const text = () => readFile(file, 'utf8').catch(() => '')
  while (!(await text()).includes(`"method":"${method}"`)) await pause(20)
}

/** Patience that a test can sit out. */
function impatient(url: string, environment = 'far') {
  return {
    connector: webSocketConnector({ environment, url }),
    refusedMs: 200,
    times: { recoveringWaitMs: 1000 },
  }
}

describe('a link that is cut while its executor lives', () => {
  it('costs neither the calls in flight nor the process', async () => {
    await using executor = await executorProgram()
    await using proxy = await cuttingProxy(executor.url)
    await using connections = await PlacedConnections.open({ executors: { far: proxy.url } })
    await connections.up(notes)
    const pid = await pidOf(connections)
    const calls = Array.from({ length: 5 }, () => connections.call(notes, 'slow', { ms: 300 }))
    const recovering = new Promise<void>((resolve) => {
      connections.environment('far').onstate(({ is }) => is === 'recovering' && resolve())
    })
    proxy.cut()
    await recovering
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 5 }, () => 'done'))
    expect(await pidOf(connections)).toBe(pid)
    expect(connections.statusesOf('notes')).toEqual(['starting', 'ready'])
  })

  it('lets new calls wait a little, and then says what is going on', async () => {
    await using executor = await executorProgram()
    await using proxy = await cuttingProxy(executor.url)
    await using connections = await PlacedConnections.open({ executors: { far: impatient(proxy.url) } })
    await connections.up(notes)
    const pid = await pidOf(connections)
    proxy.let(false)
    proxy.cut()
    await new Promise<void>((resolve) => {
      connections.environment('far').onstate(({ is }) => is === 'recovering' && resolve())
    })
    expect(await failure(connections.call(notes, 'echo', { message: 'now' }))).toMatchObject({
      code: 'environment_recovering',
      key: notes.key,
      data: { environment: 'far' },
    })
    const [captured] = await connections.manager.capture({ required: [notes.key] })
    expect(captured?.key).toEqual(notes.key)
    const ready = new Promise<void>((resolve) => {
      connections.environment('far').onstate(({ is }) => is === 'ready' && resolve())
    })
    proxy.let(true)
    await ready
    expect(await pidOf(connections)).toBe(pid)
  })

  it('answers a question of the server that came before it', async () => {
    await using executor = await executorProgram()
    await using proxy = await cuttingProxy(executor.url)
    let cut = () => {}
    await using connections = await PlacedConnections.open({
      executors: { far: proxy.url },
      manager: {
        profile: { clientInfo: { name: 'test', version: '1' }, capabilities: { elicitation: { form: {} } } },
        onRequest: async () => {
          cut()
          return { action: 'accept', content: {} }
        },
      },
    })
    await connections.up(notes)
    cut = () => proxy.cut()
    expect(await connections.call(notes, 'ask', { method: 'elicitation/create', params: {} })).toContain('accept')
  })
})

describe('an executor that is killed', () => {
  it('fails its calls at once, and brings its servers back with it, without a reload', async () => {
    await using executor = await executorProgram()
    await using other = await executorProgram()
    await using connections = await PlacedConnections.open({
      executors: { far: impatient(executor.url), other: other.url },
    })
    const elsewhere = echoOn('other', 'elsewhere')
    await connections.up(notes, elsewhere)
    const [pid, kept] = [await pidOf(connections), await pidOf(connections, elsewhere)]
    const failing = failure(connections.call(notes, 'hang'))
    const failed = connections.next(became('notes', 'failed'))
    const dropped = connections.next(offered('notes'))
    await executor.kill()
    expect(await failing).toMatchObject({
      code: 'transport_closed',
      key: notes.key,
      message: expect.stringMatching(/^Transport closed/),
      cause: { code: 'environment_lost' },
    })
    expect(await failed).toMatchObject({ error: expect.stringContaining("environment 'far'") })
    await dropped
    const captured = await connections.manager.capture()
    expect(captured.map(({ key, live, tools }) => [key.name, live, tools.length > 0])).toEqual([
      ['notes', false, false],
      ['elsewhere', true, true],
    ])

    const back = connections.next(became('notes', 'ready'))
    await executor.restart()
    await back
    expect(await pidOf(connections)).not.toBe(pid)
    expect(await pidOf(connections, elsewhere)).toBe(kept)
    expect(connections.statusesOf('notes')).toEqual(['starting', 'ready', 'failed', 'starting', 'ready'])
    expect(connections.statusesOf('elsewhere')).toEqual(['starting', 'ready'])
  })

  it('is noticed by its forgotten session when it is back at once', async () => {
    await using executor = await executorProgram()
    await using connections = await PlacedConnections.open({ executors: { far: executor.url } })
    await connections.up(notes)
    const pid = await pidOf(connections)
    const failing = failure(connections.call(notes, 'hang'))
    const back = connections.next(became('notes', 'ready'))
    await executor.kill()
    await executor.restart()
    expect(await failing).toMatchObject({ code: 'transport_closed' })
    await back
    expect(await pidOf(connections)).not.toBe(pid)
  })

  it('keeps nobody waiting: neither a call nor a step', async () => {
    await using executor = await executorProgram()
    await using connections = await PlacedConnections.open({ executors: { far: impatient(executor.url) } })
    const needed = echoOn('far', 'notes', [], { required: true })
    await connections.up(needed)
    const failed = connections.next(became('notes', 'failed'))
    await executor.kill()
    await failed
    const refused = failure(connections.call(needed, 'echo', { message: 'x' }))
    // In the middle of the start that the call asked for.
    const captured = await connections.manager.capture({ required: [needed.key] })
    expect(captured.map(({ live, tools }) => [live, tools.length])).toEqual([[false, 0]])
    expect(await refused).toMatchObject({ code: 'environment_recovering', key: needed.key })
  })

  it.each([
    ['in the middle of a handshake', 'initialize', '--start-delay'],
    ['in the middle of a listing', 'tools/list', '--list-delay'],
  ])('%s fails that start, and makes it again when it is back', async (_, method, delay) => {
    await using executor = await executorProgram()
    await using connections = await PlacedConnections.open({ executors: { far: impatient(executor.url) } })
    const record = join(connections.home, 'record')
    const server = echoOn('far', 'late', [delay, '20000', '--record', record])
    connections.manager.replace([server])
    await recorded(record, method)
    const failed = connections.next(became('late', 'failed'))
    await executor.kill()
    expect(await failed).toMatchObject({ error: expect.stringContaining("environment 'far'") })
    expect(connections.manager.statuses()).toMatchObject([{ status: 'failed', retryAt: expect.any(Number) }])
    await rm(record)
    const again = recorded(record, method)
    await executor.restart()
    await again
    expect(connections.statusesOf('late')).toEqual(['starting', 'failed', 'starting'])
  })

  it('in the middle of a question fails the call that asked it', async () => {
    await using executor = await executorProgram()
    let told: (signal: AbortSignal) => void = () => {}
    const asked = new Promise<AbortSignal>((resolve) => {
      told = resolve
    })
    await using connections = await PlacedConnections.open({
      executors: { far: impatient(executor.url) },
      manager: {
        profile: { clientInfo: { name: 'test', version: '1' }, capabilities: { elicitation: { form: {} } } },
        onRequest: (_, signal) => {
          told(signal)
          return new Promise(() => {})
        },
      },
    })
    await connections.up(notes)
    const failing = failure(connections.call(notes, 'ask', { method: 'elicitation/create', params: {} }))
    const signal = await asked
    await executor.kill()
    expect(await failing).toMatchObject({ code: 'transport_closed' })
    expect(signal.aborted).toBe(true)
  })

  it('is there again for HTTP servers whose sessions outlived it', async () => {
    await using executor = await executorProgram()
    await using web = await startSdkV2Server()
    await using connections = await PlacedConnections.open({ executors: { far: impatient(executor.url) } })
    const server = webOn('far', 'web', { url: web.url })
    await connections.up(server)
    await executor.kill()
    const refused = await failure(connections.call(server, 'echo', {}))
    expect(['environment_recovering', 'environment_unreachable', 'transport_closed']).toContain(
      'code' in refused ? refused.code : refused,
    )
    const ready = new Promise<void>((resolve) => {
      connections.environment('far').onstate(({ is }) => is === 'ready' && resolve())
    })
    await executor.restart()
    await ready
    expect(await connections.call(server, 'echo', { again: true })).toBe('{"again":true}')
    expect(web.sessions()).toBe(1)
  })
})

describe('an executor that was given up', () => {
  it('is looked for again at the next step, and its HTTP servers do not count as up before', async () => {
    await using executor = await executorProgram()
    await using web = await startSdkV2Server()
    const reached = { ...impatient(executor.url), recoveryMs: 300 }
    await using connections = await PlacedConnections.open({ executors: { far: reached } })
    const far = connections.environment('far')
    const became = (state: string) =>
      new Promise<void>((resolve) => {
        const end = far.onstate(({ is }) => {
          if (is !== state) return
          end()
          resolve()
        })
      })
    const server = webOn('far', 'web', { url: web.url })
    await connections.up(server)
    const failed = became('failed')
    await executor.kill()
    await failed
    const [lost] = await connections.manager.capture()
    expect([lost?.live, lost?.client, lost?.tools.length]).toEqual([false, undefined, 4])
    const ready = became('ready')
    await executor.restart()
    await connections.manager.capture()
    await ready
    const [found] = await connections.manager.capture()
    expect(found?.live).toBe(true)
    expect(await connections.call(server, 'echo', {})).toBe('{}')
  })
})

describe('an executor that is not there yet', () => {
  it('may take longer than a server has to start: the server waits for it all the same', async () => {
    await using silent = await silentExecutor()
    await using connections = await PlacedConnections.open({ executors: { far: silent.url } })
    const hasty = echoOn('far', 'hasty', [], { startupTimeoutMs: 200 })
    connections.manager.replace([hasty])
    expect(await failure(connections.manager.ready(hasty.key))).toMatchObject({
      code: 'startup_failed',
      data: { code: 'startup_timeout' },
    })
    expect(connections.manager.statuses()).toMatchObject([{ status: 'failed', retryAt: expect.any(Number) }])
  })

  it('is taken up when it comes, by servers that were published before', async () => {
    await using executor = await executorProgram()
    await executor.kill()
    await using connections = await PlacedConnections.open({ executors: { far: impatient(executor.url) } })
    const failed = connections.next(became('notes', 'failed'))
    connections.manager.replace([notes])
    await failed
    const ready = connections.next(became('notes', 'ready'))
    await executor.restart()
    await ready
    expect(await connections.call(notes, 'echo', { message: 'here' })).toBe('here')
  })
})
