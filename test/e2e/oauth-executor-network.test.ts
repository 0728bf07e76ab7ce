import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundled } from '../fixtures/bundled.js'
import { buildCli, type CliHome, cliHome, reeveCommand } from './built-cli.js'

const NO_NETWORK =
  spawnSync('unshare', ['-rn', 'sh', '-c', 'ip link set lo up']).status === 0
    ? undefined
    : 'networks of their own cannot be made here'

let home: CliHome
let tools: string
let server: ChildProcessByStdio<Writable, Readable, null>
let lines: AsyncIterator<string>
let resourceUrl: string

/** The command that runs another one in the network of the server. */
const inside = () => ['nsenter', '-U', '-n', '--preserve-credentials', '-t', String(server.pid)]

async function ask(line: string): Promise<{ requests: string[]; refreshes: number }> {
  server.stdin.write(`${line}\n`)
  return JSON.parse((await lines.next()).value)
}

/** A browser of the other network, whose user says yes; where it ends is opened here, as a user would paste it. */
async function browser(): Promise<string> {
  const file = join(tools, 'browser.mjs')
  const visit = "const r = await fetch(process.argv[1], { redirect: 'manual' }); console.log(r.headers.get('location'))"
  const [program, ...args] = inside()
  const script = `#!${process.execPath}
import { execFileSync } from 'node:child_process'
const args = ${JSON.stringify([...args, process.execPath, '--input-type=module', '-e', visit])}
const back = execFileSync(${JSON.stringify(program)}, [...args, process.argv[2]], { encoding: 'utf8' })
await fetch(back.trim())
`
  await writeFile(file, script, { mode: 0o755 })
  return file
}

describe.skipIf(NO_NETWORK !== undefined)(
  `the login to a server that only its executor can reach${NO_NETWORK ? ` (${NO_NETWORK})` : ''}`,
  () => {
    beforeAll(async () => {
      await buildCli()
      tools = await mkdtemp(join(tmpdir(), 'reeve-network-'))
      const program = join(tools, 'server.mjs')
      await bundled('test/fixtures/auth/authorization-server-program.ts', program)
      const start = 'ip link set lo up && exec "$@"'
      server = spawn('unshare', ['-rn', 'sh', '-c', start, 'sh', process.execPath, program], {
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]()
      resourceUrl = JSON.parse((await lines.next()).value).resourceUrl
      home = await cliHome()
      const plugin = join(home.folder, 'plugins', 'tracker')
      await mkdir(join(plugin, '.codex-plugin'), { recursive: true })
      await writeFile(join(plugin, '.codex-plugin', 'plugin.json'), JSON.stringify({ name: 'tracker', version: '1' }))
      const mcpServers = { tracker: { type: 'http', url: resourceUrl } }
      await writeFile(join(plugin, '.mcp.json'), JSON.stringify({ mcpServers }))
      const reeve = reeveCommand('executor', '--listen', 'stdio')
      const [command, ...args] = [...inside(), reeve.command, ...reeve.args]
      await writeFile(
        join(home.folder, 'config.toml'),
        `[mcp_servers.tracker]\nurl = "${resourceUrl}"\n` +
          `[[environments]]\nid = "lab"\nprogram = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n` +
          `workspace = ${JSON.stringify(home.folder)}\n` +
          `[[capability_roots]]\nid = "tracker@lab"\nenvironment = "lab"\npath = ${JSON.stringify(plugin)}\n`,
      )
    }, 300_000)
    afterAll(async () => {
      await home?.[Symbol.asyncDispose]()
      if (server !== undefined && server.exitCode === null) {
        const gone = once(server, 'exit')
        server.kill('SIGKILL')
        await gone
      }
      if (tools !== undefined) await rm(tools, { recursive: true, force: true })
    })

    const there = (...args: string[]) => [...args, '--env', 'lab']

    it('is found out, made, renewed and ended by that executor alone', async () => {
      const called = await home.reeve(there('call', 'tracker', 'whoami'))
      expect(called.stderr).toContain('Run `reeve login tracker --env lab`')
      const login = await home.reeve(there('login', 'tracker'), { env: { BROWSER: await browser() } })
      expect(login).toMatchObject({ code: 0 })
      expect(await home.reeve(there('call', 'tracker', 'whoami'))).toMatchObject({ code: 0 })
      await ask('expire')
      expect(await home.reeve(there('call', 'tracker', 'whoami'))).toMatchObject({ code: 0 })
      expect(await home.reeve(there('logout', 'tracker'))).toMatchObject({ code: 0 })
      const { requests, refreshes } = await ask('requests')
      expect(refreshes).toBe(1)
      for (const each of [
        'GET /.well-known/oauth-protected-resource/mcp',
        'GET /.well-known/oauth-authorization-server',
        'POST /register',
        'GET /authorize',
        'POST /token',
        'POST /revoke',
      ])
        expect(requests).toContain(each)
    })

    it('is not possible from here, where the same address leads nowhere', async () => {
      const before = (await ask('requests')).requests.length
      const login = await home.reeve(['--json', 'login', 'tracker'], { env: { BROWSER: await browser() } })
      expect(login).toMatchObject({ code: 1, stderr: expect.stringContaining('"oauth_unreachable"') })
      expect((await home.reeve(['call', 'tracker', 'whoami'])).code).toBe(1)
      expect((await ask('requests')).requests).toHaveLength(before)
    })
  },
)
