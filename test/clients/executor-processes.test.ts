import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  commandConnector,
  createHttpClient,
  ExecutorEnvironment,
  type ExecutorEnvironmentOptions,
  LocalEnvironment,
  webSocketConnector,
} from '../../src/environments/index.js'
import { environmentId } from '../../src/identity/index.js'
import { cuttingProxy } from '../fixtures/executor/cutting-proxy.js'
import { reading } from '../fixtures/executor/reading.js'
import { type ExecServer, execServer } from './exec-server.js'
import { PEER } from './peers.js'

let server: ExecServer
beforeAll(async () => {
  server = await execServer()
})
afterAll(() => server[Symbol.asyncDispose]())

function over(url: string, options: Partial<ExecutorEnvironmentOptions> = {}) {
  const environment = new ExecutorEnvironment({
    id: environmentId('far'),
    connector: webSocketConnector({ environment: 'far', url }),
    ...options,
  })
  return Object.assign(environment, { [Symbol.asyncDispose]: () => environment.close() })
}

function script(code: string) {
  return { program: 'node', args: ['-e', code], env: {}, cwd: '/', label: 'notes' }
}
const CAT = { program: 'cat', args: [], env: {}, cwd: '/', label: 'cat' }

/** Answers each line once, numbered, so that what came twice or not at all shows. */
const COUNTING = script(`
  let n = 0
  require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    n += 1
    console.log(n + ':' + line)
  })`)

describe('a process on the real executor', () => {
  it('answers what is written to it, keeps its streams apart and ends with its code', async () => {
    await using environment = over(server.url)
    const code = `process.stdin.on('data', (d) => { console.log('echo ' + d); console.error('err'); setTimeout(() => process.exit(7), 50) })`
    const running = await environment.spawn(script(code))
    const said = reading(running)
    await running.write('hello')
    await said.until('hello')
    expect(await running.exited).toEqual({ code: 7, signal: null })
    expect(said.stderr).toBe('err\n')
  })

  it('has the usual variables of the executor, those named, and ours on top', async () => {
    await using own = await execServer({ env: { FAR_ONLY: 'far', FAR_OTHER: 'no' } })
    await using environment = over(own.url)
    const print = script('console.log(JSON.stringify(process.env))')
    const running = await environment.spawn({ ...print, env: { OURS: '1' }, executorVariables: ['FAR_ONLY'] })
    const said = reading(running)
    await running.exited
    const env = JSON.parse(said.stdout)
    expect(env).toMatchObject({ FAR_ONLY: 'far', OURS: '1', HOME: own.home.folder })
    expect(env).not.toHaveProperty('FAR_OTHER')
  })

  it('says what it could not start', async () => {
    await using environment = over(server.url)
    const error = await environment.spawn({ ...CAT, program: '/no/such' }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'process_failed', data: { kind: 'spawnNotFound', environment: 'far' } })
  })

  it('gives back many bytes in order, in both streams', async () => {
    await using environment = over(server.url)
    const running = await environment.spawn(CAT)
    const said = reading(running)
    const text = `${'0123456789é'.repeat(300_000)}\nend\n`
    await running.write(text)
    await said.until('\nend\n')
    expect(said.stdout).toBe(text)
    await running.terminate()
  })

  it('is interrupted first, and killed when it does not mind, with what it started', async () => {
    await using environment = over(server.url, { times: { graceMs: 300 } })
    const gentle = await environment.spawn(
      script(`process.on('SIGINT', () => process.exit(3)); console.log('up'); setInterval(() => {}, 1e6)`),
    )
    await reading(gentle).until('up')
    expect(await gentle.terminate()).toEqual({ code: 3, signal: null })
    const deaf = await environment.spawn(
      script(`process.on('SIGINT', () => {}); console.log('up'); setInterval(() => {}, 1e6)`),
    )
    await reading(deaf).until('up')
    expect(await deaf.terminate()).toEqual({ code: 137, signal: null })
  })

  it('that never reads is ended although a write to it blocks its connection', async () => {
    await using environment = over(server.url, { times: { graceMs: 200, killWaitMs: 1000 } })
    const running = await environment.spawn({ ...CAT, program: 'sh', args: ['-c', "trap '' INT; echo up; sleep 1000"] })
    await reading(running).until('up')
    // The executor queues 128 of them, and then answers nothing more on that connection.
    const writes = Array.from({ length: 150 }, () => running.write(Buffer.alloc(64 * 1024)))
    const last = Promise.all(writes).catch((reason: unknown) => reason)
    await writes[100]
    const echo = await environment.spawn(CAT)
    const said = reading(echo)
    await echo.write('not blocked\n')
    await said.until('not blocked')
    expect(await running.terminate()).toEqual({ code: 137, signal: null })
    expect(await last).toMatchObject({ code: 'process_failed' })
    await Promise.allSettled(writes)
  })

  it('ends with its leftovers when it exits and leaves something that holds its pipes', async () => {
    await using environment = over(server.url, { times: { graceMs: 200, killWaitMs: 1000 } })
    const running = await environment.spawn({ ...CAT, program: 'sh', args: ['-c', 'sleep 1000 & echo out; exit 4'] })
    expect(await running.exited).toMatchObject({ code: 4 })
  })
})

describe('a connection that is cut', () => {
  it('loses and doubles nothing over 1,000 calls, cut every 50', async () => {
    await using proxy = await cuttingProxy(server.url)
    await using environment = over(proxy.url)
    const running = await environment.spawn(COUNTING)
    const said = reading(running)
    const expected: string[] = []
    for (let n = 1; n <= 1000; n += 1) {
      const written = running.write(`call-${n}\n`)
      expected.push(`${n}:call-${n}\n`)
      if (n % 50 === 0) proxy.cut()
      await written
      if (n % 10 === 0) await said.until(`:call-${n}\n`)
    }
    await said.until(':call-1000\n')
    expect(said.stdout).toBe(expected.join(''))
  })

  it('brings what was said meanwhile, the exit included', async () => {
    await using proxy = await cuttingProxy(server.url)
    await using environment = over(proxy.url)
    const running = await environment.spawn(
      script(`process.stdin.once('data', () => setTimeout(() => { console.log('late'); process.exit(5) }, 200))`),
    )
    const said = reading(running)
    await running.write('go')
    proxy.let(false)
    proxy.cut()
    setTimeout(() => proxy.let(true), 600)
    expect(await running.exited).toEqual({ code: 5, signal: null })
    expect(said.stdout).toBe('late\n')
  })

  it('fails a process whose output was dropped meanwhile, rather than join its ends', async () => {
    await using proxy = await cuttingProxy(server.url)
    await using environment = over(proxy.url)
    const running = await environment.spawn(
      script(`process.stdin.once('data', () => { process.stdout.write('x'.repeat(3e6)); setInterval(() => {}, 1e6) })`),
    )
    reading(running)
    await running.write('go')
    proxy.let(false)
    proxy.cut()
    setTimeout(() => proxy.let(true), 1500)
    expect((await running.exited).failure).toMatchObject({ code: 'protocol_violation' })
  })

  it('turns new work away in time and says so, and goes on when it is back', async () => {
    await using proxy = await cuttingProxy(server.url)
    await using environment = over(proxy.url, { times: { recoveringWaitMs: 100 } })
    const running = await environment.spawn(CAT)
    const said = reading(running)
    const states: string[] = []
    const ready = new Promise<void>((resolve) => {
      environment.onstate(({ is }) => {
        states.push(is)
        if (is === 'ready') resolve()
      })
    })
    proxy.let(false)
    proxy.cut()
    await expect.poll(() => states).toContain('recovering')
    expect(await environment.spawn(CAT).catch((reason: unknown) => reason)).toMatchObject({
      code: 'environment_recovering',
    })
    expect(await running.write('early\n').catch((reason: unknown) => reason)).toMatchObject({
      code: 'environment_recovering',
      data: { sent: false },
    })
    proxy.let(true)
    await ready
    await expect
      .poll(() =>
        running.write('now\n').then(
          () => true,
          () => false,
        ),
      )
      .toBe(true)
    await said.until('now')
    expect(said.stdout).toBe('now\n')
    expect(states).toEqual(['recovering', 'ready'])
  })

  it('gives up what ran on an executor that was killed, and starts anew on its successor', async () => {
    const first = await execServer()
    await using environment = over(first.url, { recoveryMs: 20_000 })
    const running = await environment.spawn(CAT)
    await first.kill()
    await using _second = await execServer({ listen: first.url })
    expect((await running.exited).failure).toMatchObject({ code: 'environment_lost' })
    await expect
      .poll(() => environment.spawn(CAT).then((again) => again.terminate()), { timeout: 10_000 })
      .toBeDefined()
    await first[Symbol.asyncDispose]()
  })
})

describe('over the pipes of a command', () => {
  it('does the same, without a resume', async () => {
    await using host = Object.assign(new LocalEnvironment({ http: createHttpClient({ env: {} }) }), {
      async [Symbol.asyncDispose]() {
        await host.close()
      },
    })
    const { command, args } = PEER.codex()
    const connector = commandConnector({
      environment: 'piped',
      host,
      program: command,
      args: [...args, 'exec-server', '--listen', 'stdio'],
      env: { ...server.home.env, CODEX_HOME: server.home.folder },
      cwd: server.home.folder,
    })
    await using environment = over('ws://unused', { id: environmentId('piped'), connector })
    expect(await environment.status()).toBe('ready')
    const running = await environment.spawn(CAT)
    const said = reading(running)
    await running.write('hello\n')
    await said.until('hello')
    expect(await running.terminate()).toEqual({ code: 130, signal: null })
    await environment.close()
    expect(host.running).toBe(0)
  })
})
