import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Launcher, type LauncherFinding, LauncherTrials } from '../../src/authority/index.js'
import { createHttpClient, LocalEnvironment } from '../../src/environments/index.js'
import { printed } from '../e2e/built-cli.js'
import { type ClientHome, clientHome } from './client-home.js'
import { startCodexAppServer } from './codex-app-server.js'
import { codexModel } from './codex-home.js'
import { execServer } from './exec-server.js'
import { type JsonLines, speakJsonLines } from './json-lines.js'
import { PEER } from './peers.js'
import { startProgram } from './program.js'
import { Outcome, openShellServerWorld, writing } from './shell-server.js'

const NODE = process.execPath
const CODEX = PEER.codex().command
const quote = (text: string) => JSON.stringify(text)

/** What this machine can do: containers without user namespaces can't sandbox anything. */
let launcher: LauncherFinding
beforeAll(async () => {
  await using probed = await clientHome('launcher')
  const host = new LocalEnvironment({ http: createHttpClient({ env: {} }) })
  const variables = { ...probed.env, CODEX_HOME: probed.folder }
  launcher = await (await Launcher.open(CODEX, [], new LauncherTrials({ host, variables }))).current()
  await host.close()
})

let home: ClientHome
let server: string
let workspace: string
let outside: string
beforeEach(async () => {
  ;({ home, server, workspace, outside } = await openShellServerWorld('shell-server'))
})
afterEach(() => home[Symbol.asyncDispose]())

const Started = z.object({ thread: z.object({ id: z.string() }) })

type Call = (tool: string, args: object) => Promise<z.infer<typeof Outcome>['structuredContent']>

/** A thread of the real Codex whose only server is the example. */
async function codexWith(entry: string, thread: object, environments = '') {
  await writeFile(
    join(home.folder, 'config.toml'),
    `${codexModel()}[mcp_servers.shell]
startup_timeout_sec = 60
${entry}
`,
  )
  if (environments !== '') await writeFile(join(home.folder, 'environments.toml'), environments)
  const codex = await startCodexAppServer({ env: { ...home.env, CODEX_HOME: home.folder }, cwd: home.folder })
  const started = await codex.request('thread/start', { cwd: workspace, approvalPolicy: 'never', ...thread })
  const threadId = Started.parse(started).thread.id
  const call: Call = async (tool, args) => {
    const result = await codex.request('mcpServer/tool/call', { threadId, server: 'shell', tool, arguments: args })
    return Outcome.parse(result).structuredContent
  }
  return { call, [Symbol.asyncDispose]: codex[Symbol.asyncDispose] }
}

const onStdio = () =>
  `command = ${quote(NODE)}\nargs = [${quote(server)}]\nenv = { CODEX_HOME = ${quote(home.folder)} }`

describe('the real Codex calls it over stdio', () => {
  beforeEach(({ skip }) => {
    if (launcher.is !== 'ready') skip(`codex sandbox does not work here: ${JSON.stringify(launcher)}`)
  })

  it('and writes in the workspace, and nowhere else', async () => {
    await using codex = await codexWith(onStdio(), { sandbox: 'workspace-write' })
    const inside = join(workspace, 'inside.txt')
    expect(await codex.call('run', writing(inside))).toMatchObject({
      exitCode: 0,
      stdout: 'written\n',
      sandbox: 'codex',
    })
    expect(existsSync(inside)).toBe(true)
    const beyond = join(outside, 'beyond.txt')
    const { exitCode, stderr } = await codex.call('run', writing(beyond))
    expect(exitCode).not.toBe(0)
    expect(stderr).toContain('Read-only file system')
    expect(existsSync(beyond)).toBe(false)
  })

  it('and works in the folder of the thread, without the network', async () => {
    await using codex = await codexWith(onStdio(), { sandbox: 'workspace-write' })
    expect(await codex.call('run', { command: ['pwd'] })).toMatchObject({ stdout: `${workspace}\n` })
    const connect = { command: ['bash', '-c', 'exec 3<>/dev/tcp/127.0.0.1/9'] }
    expect((await codex.call('run', connect)).stderr).toContain('Operation not permitted')
  })

  it('and writes nothing when it may only read', async () => {
    await using codex = await codexWith(onStdio(), { sandbox: 'read-only' })
    const inside = join(workspace, 'inside.txt')
    expect((await codex.call('run', writing(inside))).stderr).toContain('Read-only file system')
    expect(existsSync(inside)).toBe(false)
    expect(await codex.call('run', { command: ['cat', '/etc/hosts'] })).toMatchObject({ exitCode: 0 })
  })

  it('and writes anywhere when it may', async () => {
    await using codex = await codexWith(onStdio(), { sandbox: 'danger-full-access' })
    const beyond = join(outside, 'beyond.txt')
    expect(await codex.call('run', writing(beyond))).toMatchObject({ exitCode: 0, sandbox: 'codex' })
    expect(existsSync(beyond)).toBe(true)
  })

  it('and keeps a shell, whose every line is held', async () => {
    await using codex = await codexWith(onStdio(), { sandbox: 'workspace-write' })
    expect(await codex.call('shell', { line: 'mkdir sub; cd sub; HERE=kept' })).toMatchObject({ exitCode: 0 })
    expect(await codex.call('shell', { line: 'echo $HERE; pwd' })).toMatchObject({
      stdout: `kept\n${join(workspace, 'sub')}`,
    })
    const { exitCode, stdout } = await codex.call('shell', { line: `echo x > ${join(outside, 'beyond.txt')}` })
    expect(exitCode).not.toBe(0)
    expect(stdout).toContain('Read-only file system')
  })
})

describe('the real Codex calls it where no launcher can come', () => {
  const ran = () => existsSync(join(workspace, 'ran'))
  const touch = () => ({ command: ['touch', join(workspace, 'ran')] })

  it('over HTTP: it refuses', async () => {
    await using http = startProgram(
      { command: NODE, args: [server, '--http', '0'] },
      { env: home.env, cwd: home.folder },
    )
    const [url] = await printed(http, /http:\/\/127\.0\.0\.1:\d+\//)
    await using codex = await codexWith(`url = ${quote(url)}`, { sandbox: 'danger-full-access' })
    expect(await codex.call('run', touch())).toEqual({ refused: 'no_launcher' })
    expect(await codex.call('shell', { line: `touch ${join(workspace, 'ran')}` })).toEqual({ refused: 'no_launcher' })
    expect(ran()).toBe(false)
  })

  it('on an executor: it refuses', async () => {
    await using executor = await execServer()
    await using codex = await codexWith(
      `environment_id = "box"\n${onStdio()}\ncwd = ${quote(workspace)}`,
      { sandbox: 'danger-full-access', environments: [{ environmentId: 'box', cwd: workspace }] },
      `include_local = true\n[[environments]]\nid = "box"\nurl = ${quote(executor.url)}\n`,
    )
    expect(await codex.call('run', touch())).toEqual({ refused: 'no_launcher' })
    expect(ran()).toBe(false)
  })
})

describe('any client', () => {
  const state = (members: object = {}) => ({
    permissionProfile: {
      type: 'managed',
      file_system: {
        type: 'restricted',
        entries: [{ path: { type: 'special', value: { kind: 'root' } }, access: 'read' }],
      },
      network: 'restricted',
    },
    sandboxCwd: `file://${workspace}`,
    ...members,
  })
  const metaOf = (value: unknown) => ({
    'codex/sandbox-state': value,
    'codex/sandbox-state-meta': value,
    'codex/sandbox-launcher': { codexExecutable: CODEX },
  })

  async function client(env: Readonly<Record<string, string>> = {}) {
    const program = startProgram(
      { command: NODE, args: [server] },
      { env: { ...home.env, CODEX_HOME: home.folder, ...env }, cwd: home.folder },
    )
    const lines: JsonLines = speakJsonLines(program, { jsonrpc: '2.0' })
    const introduction = await lines.request('initialize', { protocolVersion: '2025-06-18', capabilities: {} })
    const call = async (name: string, args: object, _meta?: object) =>
      Outcome.parse(await lines.request('tools/call', { name, arguments: args, ...(_meta && { _meta }) }))
        .structuredContent
    return { introduction, call, [Symbol.asyncDispose]: program[Symbol.asyncDispose] }
  }

  it('learns that the server obeys', async () => {
    await using shell = await client()
    expect(shell.introduction).toMatchObject({
      capabilities: { experimental: { 'codex/sandbox-state': {}, 'codex/sandbox-state-meta': {} } },
    })
  })

  it('that gives no policy runs nothing, whatever its arguments say', async () => {
    await using shell = await client()
    const args = { command: ['true'], _meta: metaOf(state()), ...metaOf(state()), optOut: { name: 'x' } }
    expect(await shell.call('run', args)).toEqual({ refused: 'no_state' })
    expect(
      await shell.call('run', { command: ['true'] }, { 'codex/sandbox-launcher': { codexExecutable: CODEX } }),
    ).toEqual({ refused: 'no_state' })
  })

  it('runs what it likes once the operator has said so by name', async () => {
    await using shell = await client({ SHELL_SERVER_SANDBOX: 'off' })
    expect(await shell.call('run', { command: ['echo', 'x'] })).toMatchObject({ stdout: 'x\n', sandbox: 'off' })
    await using other = await client({ SHELL_SERVER_SANDBOX: 'no' })
    expect(await other.call('run', { command: ['echo', 'x'] })).toEqual({ refused: 'no_state' })
  })

  it('with another launcher than a path gets nothing', async () => {
    await using shell = await client({ SHELL_SERVER_SANDBOX: 'off' })
    const meta = { ...metaOf(state()), 'codex/sandbox-launcher': { codexExecutable: 'codex' } }
    expect(await shell.call('run', { command: ['true'] }, meta)).toEqual({ refused: 'malformed_launcher' })
  })

  it('with a launcher that is gone gets nothing', async () => {
    await using shell = await client({ SHELL_SERVER_SANDBOX: 'off' })
    const meta = { ...metaOf(state()), 'codex/sandbox-launcher': { codexExecutable: join(outside, 'gone') } }
    expect(await shell.call('run', { command: ['touch', join(outside, 'ran')] }, meta)).toEqual({ refused: 'failed' })
    expect(existsSync(join(outside, 'ran'))).toBe(false)
  })

  it('with a state that no argument can hold gets nothing', async () => {
    await using shell = await client()
    const meta = metaOf(state({ later: 'x'.repeat(5_000_000) }))
    const refused = process.platform === 'linux' ? 'state_too_large' : 'failed'
    expect(await shell.call('run', { command: ['true'] }, meta)).toEqual({ refused })
  })

  it('can not use the shell of another policy', async ({ skip }) => {
    if (launcher.is !== 'ready') skip(`codex sandbox does not work here: ${JSON.stringify(launcher)}`)
    await using shell = await client()
    const mine = metaOf(state())
    const other = metaOf(state({ permissionProfile: { type: 'disabled' } }))
    expect(await shell.call('shell', { line: 'echo $((6 * 7))' }, mine)).toMatchObject({ stdout: '42', exitCode: 0 })
    expect(await shell.call('shell', { line: 'true' }, other)).toEqual({ refused: 'authority_changed' })
    expect(await shell.call('shell', { line: 'true' })).toEqual({ refused: 'authority_changed' })
    expect(await shell.call('shell', { line: 'exit 0' }, mine)).toEqual({ refused: 'failed' })
    expect(await shell.call('shell', { line: 'echo new', restart: true }, other)).toMatchObject({ stdout: 'new' })
  })
})
