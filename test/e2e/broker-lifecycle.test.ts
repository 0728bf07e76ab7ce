import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventually, isRunning } from '../fixtures/stdio/running.js'
import { BrokerHome, type RunOptions } from './broker/home.js'
import { installVersion } from './broker/other-version.js'
import { buildCli } from './built-cli.js'

let home: BrokerHome
beforeAll(buildCli)
beforeEach(async () => {
  home = await BrokerHome.make()
})
afterEach(() => home[Symbol.asyncDispose]())

const call = (message: string, options: RunOptions = {}) =>
  home.reeve(['call', 'notes', 'echo', `message=${message}`], options)
const inRun = (name: string) => join(home.folder, 'run', name)

describe('a broker', () => {
  it('ends by itself when nobody has used it for a while, with its servers', async () => {
    expect(await call('hi', { env: { REEVE_BROKER_IDLE_MS: '300' } })).toMatchObject({ code: 0, stdout: 'hi\n' })
    const [broker] = home.brokers()
    expect(broker).toBeDefined()
    await eventually(() => expect([home.brokers(), home.servers()]).toEqual([[], []]))
    expect(existsSync(inRun('broker.sock'))).toBe(false)
  })

  it('stays as long as the configuration of its home says', async () => {
    writeFileSync(join(home.folder, 'config.toml'), '[broker]\nidle_timeout_sec = 77\n')
    await call('hi')
    expect((await home.reeve(['broker', 'status'])).stdout).toContain('77 s after its last client')
  })

  it('keeps servers up between two calls', async () => {
    const pid = async () => JSON.parse((await home.reeve(['call', 'notes', 'process'])).stdout).pid
    expect(await pid()).toBe(await pid())
  })

  it('ends in order at SIGTERM: answers what is under way, and leaves no process', async () => {
    const client = home.client()
    await client.open()
    const slow = client.begin('tools/call', { name: 'notes__slow', arguments: { ms: 500 } })
    await eventually(() => expect(home.recorded('notes')).toContain('"slow"'))
    process.kill(await home.brokerPid(), 'SIGTERM')
    expect(await client.answerTo(slow)).toMatchObject({ result: { content: [{ text: 'done' }] } })
    await eventually(() => expect([home.brokers(), home.servers()]).toEqual([[], []]))
  })

  it('is followed by another one after SIGKILL, which ends what that left running', async () => {
    await call('one')
    const [server] = home.servers()
    if (server === undefined) throw new Error('no server runs')
    const broker = await home.brokerPid()
    // Held, since its closed stdin would end it by itself.
    process.kill(server, 'SIGSTOP')
    process.kill(broker, 'SIGKILL')
    await eventually(() => expect(isRunning(broker)).toBe(false))
    expect(isRunning(server)).toBe(true)
    expect(await call('two')).toMatchObject({ code: 0, stdout: 'two\n' })
    await eventually(() => expect(home.servers()).not.toContain(server))
    expect(home.brokers()).toHaveLength(1)
  })

  it('outlives whoever started it, and is no child of it', async () => {
    const client = home.client()
    await client.open()
    const [broker = 0] = home.brokers()
    const parent = () => Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${broker}/stat`, 'latin1'))?.[1])
    expect(parent()).not.toBe(client.program.child.pid)
    client.program.child.kill('SIGKILL')
    await client.program.exited
    expect(await call('still there')).toMatchObject({ code: 0 })
    expect(home.brokers()).toEqual([broker])
  })

  it('tells how it is doing, and ends when it is told to', async () => {
    expect(await home.reeve(['broker', 'status'])).toMatchObject({ code: 0, stderr: 'no broker runs\n' })
    const client = home.client()
    await client.open({}, 'a client')
    const { stdout } = await home.reeve(['--json', 'broker', 'status'])
    expect(JSON.parse(stdout)).toMatchObject({
      running: true,
      broker: {
        pid: home.brokers()[0],
        state: 'serving',
        sessions: [{ mode: 'mcp', pid: client.program.child.pid, client: { info: { name: 'a client' } } }],
        workspaces: [{ clients: 1, servers: ['notes'] }],
      },
    })
    expect((await home.reeve(['broker', 'status'])).stdout).toContain('a client 1')
    expect((await home.reeve(['broker', 'stop'])).stdout).toMatch(/^stopped the broker/)
    expect(home.brokers()).toEqual([])
    expect(await home.reeve(['broker', 'nonsense'])).toMatchObject({ code: 2 })
  })

  it('keeps its log to itself, and writes no value of a variable into it', async () => {
    await home.configure({ notes: [] }, { env_vars: ['SECRET'] })
    await call('hi', { env: { SECRET: 'a-secret-value' } })
    const log = readFileSync(inRun('broker.log'), 'utf8')
    expect(log).toContain('server ready')
    expect(log).not.toContain('a-secret-value')
    expect(statSync(inRun('broker.log')).mode & 0o077).toBe(0)
  })

  it('goes on for its clients when its home is removed, and ends all the same', async () => {
    const client = home.client({ env: { REEVE_BROKER_IDLE_MS: '200' } })
    await client.open()
    rmSync(inRun(''), { recursive: true })
    expect(await client.call('notes__echo', { message: 'on' })).toBe('on')
    await client.leave()
    await eventually(() => expect([home.brokers(), home.servers()]).toEqual([[], []]))
  })

  it('loses no call that comes while it stops: the next one answers', async () => {
    await call('first')
    const calls = Array.from({ length: 8 }, (_, index) => call(`${index}`))
    const stops = [home.reeve(['broker', 'stop']), home.reeve(['broker', 'stop'])]
    expect(await Promise.all(calls)).toEqual(
      calls.map((_, index) => expect.objectContaining({ code: 0, stdout: `${index}\n` })),
    )
    for (const { stderr } of await Promise.all(calls)) expect(stderr).not.toContain('warning')
    await Promise.all(stops)
    expect(home.brokers().length).toBeLessThan(2)
  })

  it('has its socket elsewhere when the home has a long path', async () => {
    const long = join(home.folder, 'x'.repeat(120))
    const options = { env: { REEVE_HOME: long } }
    expect(await call('far', options)).toMatchObject({
      code: 0,
      stdout: 'far\n',
      stderr: expect.not.stringContaining('warning'),
    })
    const { stdout } = await home.reeve(['broker', 'status'], options)
    expect(stdout).toMatch(/socket +\/tmp\/reeve-\d+\/[0-9a-f]{24}\.sock/)
    await home.reeve(['broker', 'stop'], options)
  })
})

describe('an upgrade', () => {
  it('makes the older broker give way at once, without costing a session anything', async () => {
    const old = installVersion('0.0.9', home.folder)
    const client = home.client({ reeve: old })
    await client.open({ elicitation: {} })
    const before = await home.brokerPid()
    const asking = client.begin('tools/call', { name: 'notes__ask' })
    const question = await client.notified('elicitation/create')

    expect(await call('new')).toMatchObject({
      code: 0,
      stdout: 'new\n',
      stderr: expect.not.stringContaining('warning'),
    })
    const after = await home.brokerPid()
    expect(after).not.toBe(before)
    const later = client.begin('tools/list')
    expect(isRunning(before)).toBe(true)
    client.send({ id: question.id ?? null, result: { action: 'accept', content: { name: 'Ada' } } })
    expect(JSON.stringify(await client.answerTo(asking))).toContain('Ada')
    expect(await client.answerTo(later)).toMatchObject({ result: { tools: expect.any(Array) } })
    await eventually(() => expect(home.brokers()).toEqual([after]))
    expect(await client.call('notes__echo', { message: 'carried on' })).toBe('carried on')
    expect(client.heard.filter(({ error }) => error !== undefined)).toEqual([])
  })

  it('of one client does not make the others go back: an older one uses the newer broker', async () => {
    await call('new')
    const broker = await home.brokerPid()
    const old = installVersion('0.0.9', home.folder)
    expect(await call('old', { reeve: old })).toMatchObject({ code: 0, stdout: 'old\n' })
    expect(home.brokers()).toEqual([broker])
  })
})

describe('a place that can not be trusted', () => {
  const listeners: Server[] = []
  afterEach(() => {
    for (const server of listeners.splice(0)) server.close()
  })

  /** Somebody who listens where the broker should. */
  async function impostor(answer: string): Promise<string[]> {
    const heard: string[] = []
    mkdirSync(join(home.folder, 'run'), { recursive: true, mode: 0o700 })
    const server = createServer((socket) => {
      socket.on('error', () => undefined).on('data', (chunk) => heard.push(chunk.toString()))
      socket.write(answer)
    })
    listeners.push(server)
    await new Promise<void>((resolve) => server.listen(inRun('broker.sock'), resolve))
    chmodSync(inRun('broker.sock'), 0o600)
    return heard
  }

  const KEY = 'k'.repeat(43)
  const writeKey = () => writeFileSync(inRun('broker.key'), KEY, { mode: 0o600 })

  it.each([
    ['nothing', ''],
    ['nonsense', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
    [
      'an opening without the key',
      `${JSON.stringify({ reeve: '9.9.9', protocol: 1, nonce: '0'.repeat(32), proof: 'f'.repeat(64) })}\n`,
    ],
  ])(
    'is told nothing of the client when it answers with %s, and the call has servers of its own',
    async (_what, answer) => {
      const heard = await impostor(answer)
      writeKey()
      expect(await call('alone', { env: { SECRET: 'a-secret-value' } })).toMatchObject({
        code: 0,
        stdout: 'alone\n',
        stderr: expect.stringContaining('warning: '),
      })
      expect(
        heard
          .join('')
          .split('\n')
          .filter((line) => line !== ''),
      ).toHaveLength(1)
      expect(heard.join('')).not.toMatch(/proof|a-secret-value|cwd/)
    },
  )

  it('is one whose socket, key or folder others may use, or own', async () => {
    await call('first')
    for (const [path, mode] of [
      [inRun('broker.sock'), 0o666],
      [inRun('broker.key'), 0o644],
      [inRun(''), 0o755],
    ] as const) {
      const before = statSync(path).mode
      chmodSync(path, mode)
      expect(await call('alone')).toMatchObject({
        code: 0,
        stdout: 'alone\n',
        stderr: expect.stringMatching(/others have rights on it .*chmod/),
      })
      chmodSync(path, before)
    }
    if (process.getuid?.() !== 0) return
    chownSync(inRun('broker.sock'), 12345, 0)
    expect(await call('alone')).toMatchObject({ code: 0, stderr: expect.stringContaining('it belongs to user 12345') })
    chownSync(inRun('broker.sock'), 0, 0)
    expect(await call('together')).toMatchObject({ code: 0, stderr: expect.not.stringContaining('warning') })
  })

  it('is not the socket of a dead broker: a new one takes it over', async () => {
    mkdirSync(join(home.folder, 'run'), { recursive: true, mode: 0o700 })
    const left = createServer()
    await new Promise<void>((resolve) => left.listen(inRun('made'), resolve))
    // As a kill leaves it: the file stays, nobody listens.
    renameSync(inRun('made'), inRun('broker.sock'))
    await new Promise((resolve) => left.close(resolve))
    chmodSync(inRun('broker.sock'), 0o600)
    expect(await call('taken over')).toMatchObject({
      code: 0,
      stdout: 'taken over\n',
      stderr: expect.not.stringContaining('warning'),
    })
    expect(home.brokers()).toHaveLength(1)
  })

  it('is replaced by servers of the process where no broker can be started', async () => {
    mkdirSync(inRun('broker.log'), { recursive: true, mode: 0o700 })
    expect(await call('no log')).toMatchObject({
      code: 0,
      stdout: 'no log\n',
      stderr: expect.stringMatching(/no broker can be started: EISDIR/),
    })
    rmSync(inRun(''), { recursive: true })
    writeFileSync(join(home.folder, 'run'), 'in the way')
    expect(await call('no folder')).toMatchObject({
      code: 0,
      stdout: 'no folder\n',
      stderr: expect.stringContaining('it is no folder'),
    })
    rmSync(join(home.folder, 'run'))
  })

  it('is one that hangs: nobody waits for long, and it is named', async () => {
    await call('first')
    const pid = await home.brokerPid()
    process.kill(pid, 'SIGSTOP')
    expect(await call('alone')).toMatchObject({
      code: 0,
      stdout: 'alone\n',
      stderr: expect.stringContaining('warning: no answer to the handshake in time'),
    })
    expect(await home.reeve(['broker', 'stop'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`kill -9 ${pid}`),
    })
    process.kill(pid, 'SIGKILL')
    expect(await call('together')).toMatchObject({ code: 0, stderr: expect.not.stringContaining('warning') })
  })

  it('tells why, when the broker that was started does not come up', async () => {
    mkdirSync(inRun('broker.lock'), { recursive: true, mode: 0o700 })
    expect(await call('alone')).toMatchObject({
      code: 0,
      stdout: 'alone\n',
      stderr: expect.stringMatching(/warning: the broker did not start: .*broker.lock can.t be locked/),
    })
  })
})
