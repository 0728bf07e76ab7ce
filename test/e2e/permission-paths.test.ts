import { mkdir, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { serveExecutorWebSocket } from '../../src/executor/index.js'
import { StdioClient } from './broker/stdio-client.js'
import { buildCli, type CliHome, cliHome, printed } from './built-cli.js'

beforeAll(buildCli, 300_000)

const SERVER = fileURLToPath(new URL('../fixtures/sandbox/state-server.mjs', import.meta.url))
const quote = (text: string) => JSON.stringify(text)
const Told = z.object({ state: z.string().nullable() })
const State = z.looseObject({ permissionProfile: z.unknown(), sandboxCwd: z.string() })

let home: CliHome
let folder: string
const opened: AsyncDisposable[] = []
beforeEach(async () => {
  home = await cliHome()
  folder = await realpath(home.folder)
})
afterEach(async () => {
  // The broker that a command line started ends with its home.
  await home.reeve(['broker', 'stop'], BROKER)
  for (const one of opened.splice(0)) await one[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

const BROKER = { env: { REEVE_NO_BROKER: '' } }
const SERVERS = (more = '') => `launcher = "none"
${more}
[mcp_servers.state]
command = ${quote(process.execPath)}
args = [${quote(SERVER)}]
default_tools_approval_mode = "approve"
`

/** What a server was told, in short. */
function short(text: string): { readonly mode: string; readonly cwd: string } {
  const { state } = Told.parse(JSON.parse(text))
  if (state === null) return { mode: 'nothing', cwd: '' }
  const { permissionProfile, sandboxCwd } = State.parse(JSON.parse(state))
  const profile = JSON.stringify(permissionProfile)
  const writes = [...profile.matchAll(/"path":"([^"]+)"\},"access":"write"/g)].map(([, path]) => path)
  const mode = profile === '{"type":"disabled"}' ? 'open' : writes.length > 0 ? `writes ${writes.join(' ')}` : 'reads'
  return { mode: profile.includes('"entries":[]') ? 'none' : mode, cwd: sandboxCwd }
}

async function called(args: readonly string[], options = {}) {
  const { stdout, stderr, code } = await home.reeve(['call', 'state', 'told', ...args], options)
  if (code !== 0) return { code, stderr }
  return short(stdout.trim())
}

describe.each([
  ['in this process', {}],
  ['through the broker', BROKER],
] as const)('reeve call %s', (_name, options) => {
  it('tells what is configured, and before that what was asked for', async () => {
    const cwd = `file://${folder}`
    await writeFile(join(folder, 'config.toml'), SERVERS())
    expect(await called([], options)).toEqual({ mode: 'reads', cwd })
    expect(await called(['--permissions', 'workspace-write'], options)).toEqual({ mode: `writes ${folder}`, cwd })
    await writeFile(join(folder, 'config.toml'), SERVERS('sandbox_mode = "danger-full-access"'))
    expect(await called([], options)).toEqual({ mode: 'open', cwd })
    expect(await called(['--permissions', ':read-only'], options)).toEqual({ mode: 'reads', cwd })
  }, 60_000)

  it('refuses a profile that is not there, with those that are', async () => {
    await writeFile(join(folder, 'config.toml'), SERVERS('[permissions.mine.filesystem]\n":root" = "read"'))
    const refused = await called(['--permissions', 'my'], options)
    expect(refused).toMatchObject({ code: 1 })
    expect(refused).toMatchObject({ stderr: expect.stringContaining('there are mine, read-only, workspace-write') })
  }, 60_000)

  it('allows nothing, and says where, until a choice can be read', async () => {
    await writeFile(join(folder, 'config.toml'), SERVERS('sandbox_mode = "workspace"'))
    const { stdout, stderr } = await home.reeve(['call', 'state', 'told'], options)
    expect(short(stdout.trim())).toMatchObject({ mode: 'none' })
    expect(stderr).toContain('config.toml:2')
    expect(stderr).toContain('expected one of `read-only`')
  }, 60_000)
})

describe('the gateway', () => {
  /** Two servers of one name: here, and on an executor that has a profile of its own. */
  async function twoPlaces(): Promise<void> {
    const executor = await serveExecutorWebSocket({
      host: '127.0.0.1',
      port: 0,
      authentication: { kind: 'none' },
      env: { HOME: folder, PATH: process.env.PATH ?? '' },
      cwd: folder,
    })
    opened.push(executor)
    await mkdir(join(folder, 'there'))
    const place = `[[environments]]\nid = "box"\nurl = ${quote(executor.url)}\nworkspace = ${quote(join(folder, 'there'))}\npermissions = "tight"\n`
    const far = `[mcp_servers.far]\nenvironment_id = "box"\ncommand = ${quote(process.execPath)}\nargs = [${quote(SERVER)}]\ncwd = ${quote(folder)}\n`
    const tight = '[permissions.tight.filesystem]\n":minimal" = "read"\n":workspace_roots" = "write"\n'
    await writeFile(join(folder, 'config.toml'), SERVERS('sandbox_mode = "workspace-write"') + far + place + tight)
  }

  it.each([
    ['stdio, in this process', {}],
    ['stdio, through the broker', BROKER],
  ] as const)(
    'over %s tells each server what holds where it runs',
    async (_name, options) => {
      await twoPlaces()
      const client = new StdioClient(home.start(['serve', '--stdio'], options))
      await client.open()
      await client.ask('tools/list')
      expect(short(await client.call('state__told'))).toEqual({ mode: `writes ${folder}`, cwd: `file://${folder}` })
      const there = join(folder, 'there')
      expect(short(await client.call('far__told'))).toEqual({ mode: `writes ${there}`, cwd: `file://${there}` })
      client.program.child.stdin.end()
      await client.program.exited
      const asked = new StdioClient(home.start(['serve', '--stdio', '--permissions', 'read-only'], options))
      await asked.open()
      for (const tool of ['state__told', 'far__told'])
        expect(short(await asked.call(tool))).toMatchObject({ mode: 'reads' })
      asked.program.child.stdin.end()
      await asked.program.exited
    },
    60_000,
  )

  it('over HTTP tells it too, whatever its client says of a sandbox', async () => {
    await twoPlaces()
    const program = home.start(['serve', '--http', '127.0.0.1:0', '--no-token', '--permissions', 'workspace-write'])
    const [, url = ''] = await printed(program, /endpoint\s+(http:\/\/\S+)/)
    const post = async (body: object, headers: Record<string, string> = {}) => {
      const accept = 'application/json, text/event-stream'
      const request = { method: 'POST', headers: { 'content-type': 'application/json', accept, ...headers } }
      return fetch(url, { ...request, body: JSON.stringify({ jsonrpc: '2.0', ...body }) })
    }
    const clientInfo = { name: 'test', version: '1' }
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
    const session = (await post({ id: 1, method: 'initialize', params })).headers.get('mcp-session-id') ?? ''
    const headers = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }
    await post({ method: 'notifications/initialized' }, headers)
    const spoofed = { permissionProfile: { type: 'disabled' }, sandboxCwd: 'file:///' }
    const _meta = { 'codex/sandbox-state': spoofed, 'codex/sandbox-state-meta': spoofed }
    const call = { id: 2, method: 'tools/call', params: { name: 'state__told', arguments: {}, _meta } }
    const text = await (await post(call, headers)).text()
    const frame = z
      .looseObject({ result: z.looseObject({ content: z.tuple([z.looseObject({ text: z.string() })]) }) })
      .parse(JSON.parse(/\{"jsonrpc".*"id":2.*\}|\{.*"id":2.*\}/.exec(text)?.[0] ?? text))
    expect(short(frame.result.content[0].text)).toEqual({ mode: `writes ${folder}`, cwd: `file://${folder}` })
  }, 60_000)

  it('does not start with a profile that is not there', async () => {
    await writeFile(join(folder, 'config.toml'), SERVERS())
    const { code, stderr } = await home.reeve(['serve', '--stdio', '--permissions', 'open'])
    expect(code).not.toBe(0)
    expect(stderr).toContain('there is no permission profile `open`')
  }, 60_000)
})
