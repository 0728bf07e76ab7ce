import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveExecutorWebSocket, type WebSocketExecutor } from '../../src/executor/index.js'
import { AuthorizationServer } from '../standins/authorization-server.js'
import { buildCli, type CliHome, cliHome } from './built-cli.js'

let home: CliHome
let tools: string
let executor: WebSocketExecutor
let server: AuthorizationServer

beforeAll(async () => {
  await buildCli()
  home = await cliHome()
  tools = await mkdtemp(join(tmpdir(), 'reeve-browser-'))
  server = await AuthorizationServer.listen()
  executor = await serveExecutorWebSocket({
    host: '127.0.0.1',
    port: 0,
    authentication: { kind: 'none' },
    env: { PATH: process.env.PATH ?? '', HOME: home.folder },
    cwd: home.folder,
  })
  const plugin = join(home.folder, 'plugins', 'tracker')
  await mkdir(join(plugin, '.codex-plugin'), { recursive: true })
  await writeFile(join(plugin, '.codex-plugin', 'plugin.json'), JSON.stringify({ name: 'tracker', version: '1.0.0' }))
  const mcpServers = { tracker: { type: 'http', url: server.resourceUrl } }
  await writeFile(join(plugin, '.mcp.json'), JSON.stringify({ mcpServers }))
  await writeFile(
    join(home.folder, 'config.toml'),
    `[mcp_servers.tracker]\nurl = "${server.resourceUrl}"\n` +
      `[[environments]]\nid = "devbox"\nurl = "${executor.url}"\nworkspace = ${JSON.stringify(home.folder)}\n` +
      `[[capability_roots]]\nid = "tracker@devbox"\nenvironment = "devbox"\npath = ${JSON.stringify(plugin)}\n`,
  )
}, 300_000)
afterAll(async () => {
  await home[Symbol.asyncDispose]()
  await executor[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  await rm(tools, { recursive: true, force: true })
})

describe('a server that an environment contributes', () => {
  it('is logged in to by its environment, and a server of the same name and URL here gets nothing of it', async () => {
    const wanted = await home.reeve(['call', 'tracker', 'whoami', '--env', 'devbox'])
    expect(wanted.stderr).toContain('Run `reeve login tracker --env devbox`')
    const browser = join(tools, 'browser.mjs')
    await writeFile(browser, `#!${process.execPath}\nawait fetch(process.argv[2])\n`, { mode: 0o755 })
    const login = await home.reeve(['login', 'tracker', '--env', 'devbox'], { env: { BROWSER: browser } })
    expect(login).toMatchObject({ code: 0 })
    const called = await home.reeve(['call', 'tracker', 'whoami', '--env', 'devbox'])
    expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining('you') })
    expect((await home.reeve(['status', 'tracker'])).stdout).toContain('needs auth')
    expect((await home.reeve(['logout', 'tracker'])).code).toBe(1)
    expect((await home.reeve(['logout', 'tracker', '--env', 'devbox'])).code).toBe(0)
  })

  it('is named when it is not there', async () => {
    const { code, stderr } = await home.reeve(['--json', 'login', 'absent', '--env', 'devbox'])
    expect(code).toBe(1)
    expect(stderr).toContain('"unknown_server"')
  })
})
