import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { serveExecutorWebSocket, type WebSocketExecutor } from '../../src/executor/index.js'
import { buildCli, reeveCommand } from '../e2e/built-cli.js'
import { cuttingProxy } from '../fixtures/executor/cutting-proxy.js'
import { startSdkV2Server } from '../fixtures/http/sdk-v2-server.js'
import { type ClientHome, clientHome } from './client-home.js'
import { startCodexAppServer } from './codex-app-server.js'
import { codexModel } from './codex-home.js'
import type { JsonLines } from './json-lines.js'
import { ROOT } from './peers.js'

const ECHO = join(ROOT, 'test', 'fixtures', 'stdio', 'echo.mjs')
const Started = z.object({ thread: z.object({ id: z.string() }) })
const Statuses = z.object({ data: z.array(z.object({ name: z.string(), tools: z.record(z.string(), z.unknown()) })) })
const TOKEN = 'a token of the tests'.replaceAll(' ', '-')

let home: ClientHome
beforeEach(async ({ task }) => {
  home = await clientHome(basename(task.file.name).split('.')[0] ?? 'client')
})
afterEach(() => home[Symbol.asyncDispose]())

const quote = (text: string) => JSON.stringify(text)

/** Codex whose servers run where `environment` says. */
async function codexWith(environment: string, servers: string) {
  await writeFile(
    join(home.folder, 'environments.toml'),
    `include_local = true\n[[environments]]\nid = "box"\n${environment}\n`,
  )
  await writeFile(
    join(home.folder, 'config.toml'),
    `${codexModel()}${servers}
`,
  )
  return startCodexAppServer({ env: { ...home.env, CODEX_HOME: home.folder }, cwd: home.folder })
}

const onBox = () => `[mcp_servers.notes]
environment_id = "box"
command = ${quote(process.execPath)}
args = [${quote(ECHO)}, "--name", "notes"]
cwd = ${quote(home.folder)}
startup_timeout_sec = 60
`

async function startThread(codex: Pick<JsonLines, 'request'>): Promise<string> {
  return Started.parse(await codex.request('thread/start', { cwd: home.folder, approvalPolicy: 'never' })).thread.id
}

const call = (codex: Pick<JsonLines, 'request'>, threadId: string, tool: string, args: object) =>
  codex.request('mcpServer/tool/call', { threadId, server: 'notes', tool, arguments: args })
const echo = (codex: Pick<JsonLines, 'request'>, threadId: string, message: string) =>
  call(codex, threadId, 'echo', { message })

const said = (text: string) => ({ content: [{ type: 'text', text }] })

describe('Codex takes our executor as an environment', () => {
  let executor: WebSocketExecutor
  beforeEach(async () => {
    const sha256 = createHash('sha256').update(TOKEN).digest()
    executor = await serveExecutorWebSocket({
      host: '127.0.0.1',
      port: 0,
      authentication: { kind: 'capability-token', sha256 },
      env: { PATH: home.env.PATH, HOME: home.folder, BOX: 'of the box' },
    })
  })
  afterEach(() => executor[Symbol.asyncDispose]())

  const remote = (url: string) => `url = ${quote(url)}\nauth_bearer_token = ${quote(TOKEN)}`

  it('and calls a stdio server that runs there, with variables of that place', async () => {
    await using codex = await codexWith(
      remote(executor.url),
      `${onBox()}env_vars = [{ name = "BOX", source = "remote" }]\n`,
    )
    const { data } = Statuses.parse(await codex.request('mcpServerStatus/list', {}))
    expect(Object.keys(data.find(({ name }) => name === 'notes')?.tools ?? {})).toContain('echo')
    const threadId = await startThread(codex)
    expect(await call(codex, threadId, 'env', { name: 'BOX' })).toMatchObject(said('of the box'))
    for (let count = 0; count < 20; count += 1)
      expect(await echo(codex, threadId, `call ${count}`)).toMatchObject(said(`call ${count}`))
  })

  it('and finds its servers again after a lost socket', async () => {
    await using proxy = await cuttingProxy(executor.url)
    await using codex = await codexWith(remote(proxy.url), onBox())
    const threadId = await startThread(codex)
    const before = await call(codex, threadId, 'process', {})
    for (let cut = 0; cut < 3; cut += 1) {
      proxy.cut()
      expect(await echo(codex, threadId, `after ${cut}`)).toMatchObject(said(`after ${cut}`))
    }
    expect(await call(codex, threadId, 'process', {})).toEqual(before)
  })

  it('and calls an HTTP server from there', async () => {
    await using server = await startSdkV2Server()
    await using codex = await codexWith(
      remote(executor.url),
      `[mcp_servers.notes]\nenvironment_id = "box"\nurl = ${quote(server.url)}\nstartup_timeout_sec = 60\n`,
    )
    const threadId = await startThread(codex)
    expect(await echo(codex, threadId, 'by the box')).toMatchObject(said('{"message":"by the box"}'))
    expect(server.sessions()).toBeGreaterThan(0)
  })

  it('and is turned away without the token', async () => {
    await using codex = await codexWith(`url = ${quote(executor.url)}\nauth_bearer_token = "wrong"`, onBox())
    const threadId = await startThread(codex)
    await expect(echo(codex, threadId, 'x')).rejects.toThrow()
  })
})

describe('Codex starts our executor itself', () => {
  beforeAll(buildCli, 300_000)

  it('and speaks with it on stdio', async () => {
    const { command, args } = reeveCommand('executor', '--listen', 'stdio')
    const program = `program = ${quote(command)}\nargs = [${args.map(quote).join(', ')}]`
    await using codex = await codexWith(program, onBox())
    const threadId = await startThread(codex)
    expect(await echo(codex, threadId, 'over pipes')).toMatchObject(said('over pipes'))
  })
})
