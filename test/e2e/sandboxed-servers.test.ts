import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ServerSandbox, StdioServer } from '../../src/config/index.js'
import { Reeve } from '../../src/reeve.js'
import { type SandboxCommandLine, sandboxCommandLine } from '../fixtures/sandbox/command-line.js'
import { NO_SANDBOX } from '../fixtures/sandbox/namespaces.js'
import { type Conversation, INITIALIZE, server, stdioConversations } from '../fixtures/stdio/conversation.js'
import { eventually } from '../fixtures/stdio/running.js'

const SERVER = fileURLToPath(new URL('../fixtures/sandbox/confined-server.mjs', import.meta.url))
const CACHE = fileURLToPath(new URL('../../.cache', import.meta.url))
const WRITE = { mode: 'workspace-write', network: false } as const

describe.skipIf(NO_SANDBOX !== undefined)(`a server${NO_SANDBOX === undefined ? '' : ` (${NO_SANDBOX})`}`, () => {
  const conversations = stdioConversations()
  let reeve: SandboxCommandLine
  // Not in the temporary folder, which may be written to.
  let folder: string
  let cwd: string
  beforeAll(async () => {
    reeve = await sandboxCommandLine()
    folder = await mkdtemp(join(CACHE, 'sandboxed-'))
    cwd = join(folder, 'workspace')
    await mkdir(cwd)
  })
  afterAll(async () => {
    await reeve[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })

  async function start(sandbox: ServerSandbox | undefined, rest: Partial<StdioServer> = {}): Promise<Conversation> {
    const config = server('', [], { args: [SERVER], cwd, ...(sandbox && { sandbox }), ...rest })
    const [commandLine = ''] = reeve.args
    const started = await conversations.open(config, { launcher: { commandLine, home: join(folder, 'home') } })
    await started.transport.start()
    return started
  }

  let id = 0
  async function call(to: Conversation, name: string, args: object = {}): Promise<unknown> {
    id += 1
    await to.request(id, 'tools/call', { name, arguments: args })
    return (await to.answer(id)) satisfies object
  }
  const said = (it: unknown) => ({ result: { structuredContent: { it } } })

  it('that may write to its folder writes there, and nowhere else', async () => {
    const confined = await start(WRITE)
    await confined.request(0, 'initialize', INITIALIZE)
    expect(await confined.answer(0)).toMatchObject({ result: { serverInfo: { name: 'confined' } } })
    expect(await call(confined, 'cwd')).toMatchObject(said(cwd))
    expect(await call(confined, 'write', { path: join(cwd, 'inside') })).toMatchObject(said('written'))
    expect(await readFile(join(cwd, 'inside'), 'utf8')).toBe('written')
    expect(await call(confined, 'write', { path: join(folder, 'outside') })).toMatchObject(said('EROFS'))
    expect(await call(confined, 'write', { path: join(cwd, '.git') })).not.toMatchObject(said('written'))
    await expect(stat(join(folder, 'outside'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('is started in its sandbox by a runtime that has our command line, and by no other', async () => {
    const home = join(folder, 'home')
    await mkdir(home, { recursive: true })
    const config = join(home, 'config.toml')
    const entry = { command: process.execPath, args: [SERVER], cwd, sandbox: 'workspace-write' }
    const members = Object.entries(entry).map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
    await writeFile(config, `[mcp_servers.confined]\n${members.join('\n')}\n`)
    const [commandLine = ''] = reeve.args
    const options = { home, cwd: home, configFiles: [config], env: { PATH: process.env.PATH, HOME: home } }
    const statusIn = async (runtime: Reeve) => {
      await using thread = await runtime.startThread()
      await thread.step({ wait: 'all' })
      return thread.servers()
    }
    await using runtime = await Reeve.open({ ...options, commandLine })
    const sandbox = { mode: 'workspace-write', network: false }
    expect(await statusIn(runtime)).toMatchObject([{ status: 'connected', sandbox }])
    await using other = await Reeve.open(options)
    expect(await statusIn(other)).toMatchObject([
      {
        status: 'failed',
        sandbox,
        error: { message: expect.stringContaining("can't have its sandbox: this program") },
      },
    ])
  })

  it('that may only read writes nothing', async () => {
    const confined = await start({ mode: 'read-only', network: false })
    expect(await call(confined, 'write', { path: join(cwd, 'refused') })).toMatchObject(said('EROFS'))
  })

  it('reaches the network only where it may', async () => {
    const listener = createServer((socket) => socket.end())
    const port = await new Promise<number>((resolve) => {
      listener.listen(0, '127.0.0.1', () => {
        const address = listener.address()
        resolve(typeof address === 'object' ? (address?.port ?? 0) : 0)
      })
    })
    try {
      expect(await call(await start(WRITE), 'connect', { port })).not.toMatchObject(said('connected'))
      const free = await start({ ...WRITE, network: true })
      expect(await call(free, 'connect', { port })).toMatchObject(said('connected'))
    } finally {
      listener.close()
    }
  })

  it('gets the environment that it gets without a sandbox, and is told that it has no network', async () => {
    const env = { GIVEN: 'a b', NODE_ENV: 'test' }
    const free: object = Object(await call(await start(undefined, { env }), 'environment'))
    const confined = await call(await start({ ...WRITE, network: true }, { env }), 'environment')
    const { it: plain } = Object(Reflect.get(free, 'result')).structuredContent
    const inSandbox = (more: object) => ({
      result: { content: [], structuredContent: { it: { ...plain, PWD: cwd, ...more } } },
    })
    expect(Object(confined).result).toEqual(inSandbox({}).result)
    const offline = await call(await start(WRITE, { env }), 'environment')
    expect(Object(offline).result).toEqual(inSandbox({ CODEX_SANDBOX_NETWORK_DISABLED: '1' }).result)
  })

  it('leaves nothing running, whatever its processes hear', async () => {
    const confined = await start(WRITE)
    const file = join(cwd, 'beats')
    await call(confined, 'leave', { file })
    await eventually(() => readFile(file))
    await confined.transport.close()
    // Nobody is left to make it again.
    await rm(file)
    const other = await start({ mode: 'read-only', network: false })
    await call(other, 'cwd')
    await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('that ends by itself is told of with its status and its last words', async () => {
    const confined = await start(WRITE)
    await confined.request(1, 'tools/call', { name: 'crash', arguments: {} })
    const { error } = await confined.closed
    expect(error?.message).toMatch(/code 7.*crashing as asked/s)
  })

  it('whose program is not there is told of with the reason', async () => {
    const confined = await start(WRITE, { command: 'no-such-program-anywhere' })
    const { error } = await confined.closed
    expect(error?.message).toMatch(/no-such-program-anywhere/)
  })
})
