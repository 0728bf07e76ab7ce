import { once } from 'node:events'
import { existsSync, readFileSync, statSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { BrokerHome, textOf, VERSION } from '../../../../test/fixtures/broker/broker-home.js'
import { askBroker, stopBroker } from '../client/control-broker.js'
import { RemoteThread } from '../client/remote-thread.js'

let home: BrokerHome
beforeEach(async () => {
  home = await BrokerHome.make()
})
afterEach(() => home[Symbol.asyncDispose]())

const variable = (name: string) => `\${${name}}`
const WITHIN = { timeout: 10_000, interval: 20 }
const status = () => askBroker({ home: home.path, version: VERSION })

/** The frames of a client that opens its session and says this. */
function opened(...messages: object[]): string {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  return [{ id: 1, method: 'initialize', params }, { method: 'notifications/initialized' }, ...messages]
    .map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    .join('')
}

/** Everything that comes until the other side ends. */
async function everything(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString()
  })
  await once(socket, 'close')
  return text
}

describe('the place of a broker', () => {
  it('is closed to others: socket, key and folder', async () => {
    await home.open()
    const { socket, key, folder } = home.place
    expect(statSync(socket.path).mode & 0o777).toBe(0o600)
    expect(statSync(key).mode & 0o777).toBe(0o600)
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(readFileSync(key, 'utf8').trim()).toHaveLength(43)
  })

  it('has one broker only, and takes the next when that has ended', async () => {
    const first = await home.open()
    expect(await home.tryOpen()).toBeUndefined()
    await first.close()
    expect(existsSync(home.place.socket.path)).toBe(false)
    expect(await home.tryOpen()).toBeDefined()
  })
})

describe('strangers', () => {
  const opening = (more: object = {}) =>
    `${JSON.stringify({ reeve: VERSION, protocol: 3, nonce: '0'.repeat(32), ...more })}\n`

  it.each([
    ['text that is no JSON', 'GET / HTTP/1.1\r\n\r\n', 'no JSON object'],
    ['an array', '[1]\n', 'no JSON object'],
    ['an opening without a nonce', '{"reeve":"1.0.0","protocol":1}\n', 'no opening of ours'],
    ['a line without an end', 'x'.repeat(5000), 'longer than 4096 bytes'],
    ['a wrong proof', `${opening()}{"proof":"${'0'.repeat(64)}"}\n{"mode":"mcp"}\n`, "doesn't know this broker's key"],
    ['no proof', `${opening()}{}\n{"mode":"control","action":"stop"}\n`, "doesn't know this broker's key"],
  ])('are refused with %s', async (_what, said, reason) => {
    await home.open()
    const socket = await home.stranger()
    socket.write(said)
    const lines = (await everything(socket)).trimEnd().split('\n')
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
      error: { code: 'broker_refused', message: expect.stringContaining(reason) },
    })
    expect(await askBroker({ home: home.path, version: VERSION })).toMatchObject({ sessions: [] })
  })

  it('are cut off when they say nothing', async () => {
    await home.open({ handshakeMs: 50 })
    const socket = await home.stranger()
    expect(await everything(socket)).toContain('broker_unreachable')
  })
})

describe('clients', () => {
  it('call tools, and servers see the variables of the client and none of the broker', async () => {
    await home.open()
    const thread = await home.thread({}, { env: { HOME: home.path, PATH: process.env.PATH, LANG: 'tlh', SECRET: 'x' } })
    const env = JSON.parse(textOf(await thread.callTool({ server: 'notes', tool: 'env' })))
    expect(env).toMatchObject({ LANG: 'tlh', HOME: home.path, TERM: 'dumb' })
    expect(Object.keys(env).filter((name) => !['LANG', 'HOME', 'PATH', 'TERM'].includes(name))).toEqual([])
  })

  it('are asked for the variables that their configuration names, whatever file names them', async () => {
    await home.configure(
      { notes: [] },
      `env_vars = ["TOKEN"]\n[mcp_servers.other]\ncommand = "${variable('PROGRAM')}"\n`,
    )
    await home.open()
    const env = { HOME: home.path, PATH: process.env.PATH, TOKEN: 'of this client', PROGRAM: '/nowhere/program' }
    const thread = await home.thread({}, { env })
    expect(textOf(await thread.callTool({ server: 'notes', tool: 'env', arguments: { name: 'TOKEN' } }))).toContain(
      'of this client',
    )
    await thread.step({ wait: 'all' })
    const other = thread.servers().find(({ key }) => key.name === 'other')
    expect(other?.error?.message).toContain('/nowhere/program')
  })

  it('find their configuration as it is on disk now', async () => {
    await home.open()
    await home.thread()
    await home.configure({ notes: [], more: [] })
    const thread = await home.thread()
    expect(thread.servers().map(({ key }) => key.name)).toEqual(['more', 'notes'])
  })

  it('are told what is wrong with their configuration', async () => {
    await home.configure({ notes: [] }, 'nonsense = 1\n')
    await home.open()
    const { problems } = await home.join('thread')
    expect(problems).toMatchObject([{ place: expect.stringContaining('config.toml'), message: expect.any(String) }])
  })

  it.each(['mcp', 'thread'] as const)('end the calls that are under way when they vanish (%s)', async (mode) => {
    const record = join(home.path, 'record')
    await home.configure({ notes: ['--record', record] })
    await home.open()
    const { socket } = await home.join(mode)
    if (mode === 'thread') {
      const thread = await RemoteThread.start(socket)
      thread.callTool({ server: 'notes', tool: 'hang' }).catch(() => undefined)
    } else socket.write(opened({ id: 2, method: 'tools/call', params: { name: 'notes__hang' } }))
    await vi.waitFor(() => expect(readFileSync(record, 'utf8')).toContain('"hang"'), WITHIN)
    socket.destroy()
    await vi.waitFor(() => expect(readFileSync(record, 'utf8')).toContain('notifications/cancelled'), WITHIN)
    await vi.waitFor(async () => expect(await status()).toMatchObject({ sessions: [] }), WITHIN)
    expect(home.log.filter(({ level }) => level === 'warn')).toEqual([])
  })
})

describe('the end of a broker', () => {
  it('comes by itself when nobody has used it for a while, and not before', async () => {
    const broker = await home.open({ idleMs: 100 })
    const thread = await home.thread()
    await thread.callTool({ server: 'notes', tool: 'slow', arguments: { ms: 300 } })
    await thread.close()
    await broker.closed
    expect(existsSync(home.place.socket.path)).toBe(false)
  })

  it('is waited for by whoever stops it', async () => {
    const broker = await home.open()
    let ended = false
    void broker.closed.then(() => {
      ended = true
    })
    expect(await stopBroker({ home: home.path, version: VERSION })).toMatchObject({
      pid: process.pid,
      version: VERSION,
    })
    expect(ended).toBe(true)
    expect(await stopBroker({ home: home.path, version: VERSION })).toBeUndefined()
  })
})

describe('clients with different working directories', () => {
  const pidOf = async (thread: RemoteThread, server: string) =>
    Number(JSON.parse(textOf(await thread.callTool({ server, tool: 'process' }))).pid)
  const from = (cwd: string, env: Record<string, string> = {}) =>
    home.thread(
      {},
      {
        hello: { mode: 'thread', cwd, configFiles: [], environments: [], resumed: 0, transparent: false },
        env: { PATH: process.env.PATH, HOME: home.path, ...env },
      },
    )

  it('share the servers that have a directory of their own, and no others', async () => {
    await home.configure({ anywhere: [], fixed: [] }, `cwd = ${JSON.stringify(home.path)}\n`)
    await home.open()
    const [here, there] = [await from(home.path), await from('/')]
    expect(await pidOf(here, 'fixed')).toBe(await pidOf(there, 'fixed'))
    expect(await pidOf(here, 'anywhere')).not.toBe(await pidOf(there, 'anywhere'))
    const { cwd } = JSON.parse(textOf(await there.callTool({ server: 'anywhere', tool: 'process' })))
    expect(cwd).toBe('/')
    const stranger = await from('/', { LANG: 'tlh' })
    expect(await pidOf(stranger, 'fixed')).not.toBe(await pidOf(here, 'fixed'))
  })
})
