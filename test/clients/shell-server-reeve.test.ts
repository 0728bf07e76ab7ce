import { existsSync } from 'node:fs'
import { symlink, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { serveExecutorWebSocket } from '../../src/executor/index.js'
import { presetProfile } from '../../src/permissions/index.js'
import type { JsonObject } from '../../src/protocol/index.js'
import { Reeve, type ThreadOptions } from '../../src/reeve.js'
import { buildCli, printed } from '../e2e/built-cli.js'
import type { ClientHome } from './client-home.js'
import { PEER, ROOT } from './peers.js'
import { run, startProgram } from './program.js'
import { Outcome, openShellServerWorld, writing } from './shell-server.js'

const NODE = process.execPath
const CODEX = PEER.codex().command
const REEVE = join(ROOT, 'dist', 'cli', 'reeve.js')
const quote = (text: string) => JSON.stringify(text)

beforeAll(buildCli, 300_000)

let home: ClientHome
let server: string
let workspace: string
let outside: string
beforeEach(async () => {
  ;({ home, server, workspace, outside } = await openShellServerWorld('shell-server-reeve'))
})
afterEach(() => home[Symbol.asyncDispose]())

interface World {
  readonly launcher: string
  readonly commandLine?: string
  readonly entry?: string
  readonly environments?: ThreadOptions['environments']
  /** Further lines of the configuration. */
  readonly more?: string
}

const permissions = (): JsonObject =>
  JSON.parse(
    JSON.stringify({ ...presetProfile('workspace-write', { cwd: workspace, excludeSlashTmp: true }), later: 1 }),
  )
const here = () => [{ id: 'local', cwd: workspace, permissions: permissions() }]
const onStdio = () =>
  `command = ${quote(NODE)}\nargs = [${quote(server)}]\nenv = { CODEX_HOME = ${quote(home.folder)} }`

/** A runtime whose only server is the example, and a thread that hands a profile over. */
async function reeveWith({ launcher, commandLine, entry = onStdio(), environments = here(), more = '' }: World) {
  const config = `launcher = ${quote(launcher)}\n${more}\n[mcp_servers.shell]\ndefault_tools_approval_mode = "approve"\n${entry}\n`
  await writeFile(join(home.folder, 'config.toml'), config)
  const reeve = await Reeve.open({
    home: home.folder,
    cwd: workspace,
    env: { ...home.env, CODEX_HOME: home.folder },
    features: { multi_environment_mcp: true },
    ...(commandLine !== undefined && { commandLine }),
  })
  const thread = await reeve.startThread({ environments })
  const call = async (tool: string, args: object, _meta?: JsonObject) => {
    const result = await thread.callTool({ server: 'shell', tool, arguments: { ...args }, ...(_meta && { _meta }) })
    return Outcome.parse(result).structuredContent
  }
  return { reeve, thread, call, [Symbol.asyncDispose]: () => reeve.close() }
}

describe.each<[string, () => Pick<World, 'launcher' | 'commandLine'>]>([
  ['codex', () => ({ launcher: CODEX })],
  // A Codex that is none leaves our own alone.
  ['reeve', () => ({ launcher: NODE, commandLine: REEVE })],
])('Reeve calls it with the launcher of %s', (kind, world) => {
  it('and it writes in the workspace, and nowhere else', async ({ skip }) => {
    await using runtime = await reeveWith(world())
    const found = await runtime.reeve.launchers()
    if ((kind === 'codex' ? found.codex : found.reeve)?.is !== 'ready')
      skip(`no launcher here: ${JSON.stringify(found)}`)
    const inside = join(workspace, 'inside.txt')
    expect(await runtime.call('run', writing(inside))).toMatchObject({
      exitCode: 0,
      stdout: 'written\n',
      sandbox: kind,
    })
    expect(existsSync(inside)).toBe(true)
    const beyond = join(outside, 'beyond.txt')
    const spoofed = { 'codex/sandbox-state': { permissionProfile: { type: 'disabled' }, sandboxCwd: 'file:///' } }
    for (const meta of [undefined, spoofed]) {
      expect((await runtime.call('run', writing(beyond), meta)).exitCode).not.toBe(0)
      expect(existsSync(beyond)).toBe(false)
    }
  })

  it('and the calls of a step carry what was selected when it was taken', async ({ skip }) => {
    await using runtime = await reeveWith(world())
    const found = await runtime.reeve.launchers()
    if ((kind === 'codex' ? found.codex : found.reeve)?.is !== 'ready')
      skip(`no launcher here: ${JSON.stringify(found)}`)
    const step = await runtime.thread.step({ wait: 'all' })
    const run = step.tools.find(({ tool }) => tool === 'run')
    if (run === undefined) throw new Error('nothing is offered')
    await runtime.thread.select([{ id: 'local', cwd: workspace, permissions: { type: 'disabled' } }])
    const beyond = join(outside, 'beyond.txt')
    const held = Outcome.parse(await step.call({ ...run, arguments: writing(beyond) }))
    expect(held.structuredContent.exitCode).not.toBe(0)
    expect(existsSync(beyond)).toBe(false)
    expect(await runtime.call('run', writing(beyond))).toMatchObject({ exitCode: 0 })
  })
})

describe('Reeve calls it, and it refuses', () => {
  const touch = () => ({ command: ['touch', join(workspace, 'ran')] })
  afterEach(() => {
    expect(existsSync(join(workspace, 'ran'))).toBe(false)
  })

  it('over HTTP', async () => {
    await using http = startProgram(
      { command: NODE, args: [server, '--http', '0'] },
      { env: home.env, cwd: home.folder },
    )
    const [url] = await printed(http, /http:\/\/127\.0\.0\.1:\d+\//)
    await using runtime = await reeveWith({ launcher: CODEX, entry: `url = ${quote(url)}` })
    expect(await runtime.call('run', touch())).toEqual({ refused: 'no_launcher' })
  })

  it('on an executor', async () => {
    await using executor = await serveExecutorWebSocket({
      host: '127.0.0.1',
      port: 0,
      authentication: { kind: 'none' },
      env: home.env,
      cwd: home.folder,
    })
    await writeFile(
      join(home.folder, 'environments.toml'),
      `[[environments]]\nid = "box"\nurl = ${quote(executor.url)}\n`,
    )
    await using runtime = await reeveWith({
      launcher: CODEX,
      entry: `environment_id = "box"\ncwd = ${quote(workspace)}\n${onStdio()}`,
      environments: [{ id: 'box', cwd: workspace, permissions: permissions() }],
    })
    expect(await runtime.call('run', touch())).toEqual({ refused: 'no_launcher' })
  })

  it('without a launcher', async () => {
    await using runtime = await reeveWith({ launcher: 'none', commandLine: REEVE })
    expect(await runtime.call('run', touch())).toEqual({ refused: 'no_launcher' })
  })

  it('once the launcher is another program', async () => {
    const link = join(home.folder, 'codex')
    await symlink(CODEX, link)
    await using runtime = await reeveWith({ launcher: link })
    const { codex } = await runtime.reeve.launchers()
    if (codex.is === 'ready') expect(await runtime.call('run', { command: ['true'] })).toMatchObject({ exitCode: 0 })
    await unlink(link)
    await symlink('/bin/sh', link)
    expect(await runtime.call('run', touch())).toEqual({ refused: 'no_launcher' })
  })

  it('to write where nothing is configured', async ({ skip }) => {
    await using runtime = await reeveWith({ launcher: CODEX, environments: [{ id: 'local', cwd: workspace }] })
    const { codex } = await runtime.reeve.launchers()
    if (codex.is !== 'ready') skip('no launcher here')
    expect((await runtime.call('run', touch())).exitCode).not.toBe(0)
    expect(await runtime.call('run', { command: ['true'] })).toMatchObject({ exitCode: 0, sandbox: 'codex' })
  })

  it('anything where what is configured can not be read', async () => {
    const broken = { launcher: CODEX, environments: [{ id: 'local', cwd: workspace }], more: 'sandbox_mode = "open"' }
    await using runtime = await reeveWith(broken)
    expect((await runtime.call('run', touch())).exitCode).not.toBe(0)
  })
})

describe('`reeve call` runs it', () => {
  const call = async (path: string, ...options: string[]) => {
    const args = ['call', 'shell', 'run', '--input', JSON.stringify(writing(path)), '--json', ...options]
    const env = { ...home.env, REEVE_HOME: home.folder, CODEX_HOME: home.folder, REEVE_NO_BROKER: '1' }
    const { stdout } = await run({ command: NODE, args: [REEVE, ...args] }, { cwd: workspace, env })
    return Outcome.parse(JSON.parse(stdout)).structuredContent
  }

  it('under what is configured, and under what was asked for', async () => {
    const entry = `default_tools_approval_mode = "approve"\n${onStdio()}\n`
    const config = `launcher = ${quote(CODEX)}\n[mcp_servers.shell]\n${entry}`
    await writeFile(join(home.folder, 'config.toml'), config)
    const [inside, beyond] = [join(workspace, 'inside.txt'), join(outside, 'beyond.txt')]
    const readOnly = await call(inside)
    expect([readOnly.refused, readOnly.exitCode === 0, existsSync(inside)]).toEqual([undefined, false, false])
    expect(await call(inside, '--permissions', 'workspace-write')).toMatchObject({ exitCode: 0, stdout: 'written\n' })
    await writeFile(
      join(home.folder, 'config.toml'),
      `sandbox_mode = "workspace-write"\nsandbox_workspace_write = { exclude_slash_tmp = true, exclude_tmpdir_env_var = true }\n${config}`,
    )
    expect(await call(inside)).toMatchObject({ exitCode: 0 })
    expect((await call(beyond)).exitCode).not.toBe(0)
    expect(existsSync(beyond)).toBe(false)
  })
})
