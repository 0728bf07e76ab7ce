import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { captureRun } from '../../../test/captured-cli.js'
import { serveExecutorWebSocket } from '../../executor/index.js'

let root: string
let home: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'reeve-env-'))
  home = join(root, '.reeve')
  mkdirSync(home)
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const reeve = (...args: string[]) =>
  captureRun(args, {
    env: { HOME: root, REEVE_HOME: home, PATH: process.env.PATH, REEVE_NO_BROKER: '1', BOX_TOKEN: 's3cret-token' },
    cwd: root,
  }).ended
const file = () => readFileSync(join(home, 'environments.toml'), 'utf8')
const write = (name: string, text: string) => writeFileSync(join(home, name), text)

async function executor(token?: string): Promise<string> {
  const started = await serveExecutorWebSocket({
    host: '127.0.0.1',
    port: 0,
    authentication:
      token === undefined
        ? { kind: 'none' }
        : { kind: 'capability-token', sha256: createHash('sha256').update(token).digest() },
    env: { PATH: process.env.PATH ?? '', HOME: '/', SHELL: '/bin/sh' },
    cwd: '/',
  })
  onTestFinished(() => started[Symbol.asyncDispose]())
  return started.url
}

describe('reeve env', () => {
  it('alone prints its help, and knows no other words', async () => {
    expect(await reeve('env')).toMatchObject({ code: 0, stdout: expect.stringContaining('Usage: reeve env') })
    expect(await reeve('env', 'ad')).toMatchObject({ code: 2, stderr: expect.stringContaining("unknown command 'ad'") })
  })
})

describe('reeve env add', () => {
  it('stores a URL with the name of the variable that holds its token', async () => {
    const added = await reeve('env', 'add', 'box', '--url', 'wss://box.example/x', '--token-env', 'BOX_TOKEN')
    expect(added).toMatchObject({ code: 0, stdout: `added 'box' in ${join(home, 'environments.toml')}\n` })
    expect(file()).toBe(
      '[[environments]]\nid = "box"\nurl = "wss://box.example/x"\nauth_bearer_token_env_var = "BOX_TOKEN"\n',
    )
  })

  it("stores what ssh is run with: our options, the user's, the host, and the remote command", async () => {
    await reeve('env', 'add', 'a', '--ssh', 'me@box', '--workspace', '/srv/app')
    await reeve('env', 'add', 'b', '--ssh', 'box', '--', '-p', '2222', '-vi', 'key', '-oX=y', '$HOME/bin/reeve')
    const rows = (await reeve('env', 'list', '--json')).json()
    const ours = ['-T', '-o', 'BatchMode=yes', '-o', 'ControlMaster=no']
    expect(rows).toMatchObject([
      { id: 'local', kind: 'local', selected_by_default: true },
      {
        id: 'a',
        program: 'ssh',
        args: [...ours, 'me@box', 'reeve', 'executor', '--listen', 'stdio'],
        workspace: '/srv/app',
      },
      {
        id: 'b',
        args: [
          ...ours,
          ...['-p', '2222', '-vi', 'key', '-oX=y'],
          'box',
          ...['$HOME/bin/reeve', 'executor', '--listen', 'stdio'],
        ],
      },
    ])
  })

  it('stores a command with its working directory', async () => {
    await reeve('env', 'add', 'c', '--command', '--cwd', 'sub', '--env', 'K=v', '--', 'docker', 'exec', '-i', 'box')
    expect(file()).toContain(`program = "docker"\nargs = ["exec", "-i", "box"]\nenv = { K = "v" }\ncwd = "${root}/sub"`)
  })

  it('changes what is given of one that is there', async () => {
    await reeve('env', 'add', 'a', '--url', 'wss://h')
    expect(await reeve('env', 'add', 'a', '--workspace', '/srv')).toMatchObject({ code: 0 })
    expect(file()).toBe('[[environments]]\nid = "a"\nurl = "wss://h"\nworkspace = "/srv"\n')
    const nobody = await reeve('env', 'add', 'b', '--workspace', '/srv')
    expect(nobody).toMatchObject({ code: 1, stderr: expect.stringContaining('exactly one of url or program') })
  })

  it('refuses what does not go together, and what no file may hold', async () => {
    for (const [args, code] of [
      [['x'], 2],
      [['x', '--cwd', '/'], 2],
      [['x', '--url', 'ws://h', '--ssh', 'h'], 2],
      [['x', '--url', 'ws://h', '--', 'cmd'], 2],
      [['x', '--ssh', '-oProxyCommand=evil'], 2],
      [['x', '--ssh', 'h', '--token-env', 'T'], 2],
      [['x', '--ssh', 'h', '--', '-p'], 2],
      [['local', '--url', 'ws://h'], 1],
      [['x', '--url', 'http://h'], 1],
      [['x', '--url', 'ws://10.0.0.1', '--token-env', 'T'], 1],
    ] as const)
      expect(await reeve('env', 'add', ...args)).toMatchObject({ code })
    expect(() => file()).toThrow()
  })

  it('says when another entry keeps the file from counting', async () => {
    write('environments.toml', '[[environments]]\nid = "old"\nurl = "http://h"\n')
    const added = await reeve('env', 'add', 'new', '--url', 'ws://h')
    expect(added.stderr).toContain('must use ws:// or wss://')
  })
})

describe('reeve env list', () => {
  it('masks what may be a secret', async () => {
    write(
      'environments.toml',
      '[[environments]]\nid = "a"\nurl = "wss://h/?token=s3cret"\nauth_bearer_token = "s3cret"\n[[environments]]\nid = "b"\nprogram = "p"\nargs = ["--token", "s3cret"]\nenv = { K = "s3cret" }\n',
    )
    for (const flags of [[], ['--json']]) {
      const { stdout, code } = await reeve('env', 'list', ...flags)
      expect(code).toBe(0)
      expect(stdout).toContain('*****')
      expect(stdout).not.toContain('s3cret')
    }
  })

  it('exits with 1 when the file is broken, and shows the rest', async () => {
    write('environments.toml', 'default = "nope"\n')
    write('config.toml', '[[environments]]\nid = "b"\nurl = "ws://h"\n')
    const { code, stdout, stderr } = await reeve('env', 'list')
    expect([code, stdout]).toMatchObject([1, expect.stringContaining('ws://h')])
    expect(stderr).toContain('default environment `nope` is not configured')
  })
})

describe('reeve env remove', () => {
  it('takes it out of whichever file has it, and warns of servers that need it', async () => {
    await reeve('env', 'add', 'a', '--url', 'ws://h')
    write(
      'config.toml',
      '[mcp_servers.s]\ncommand = "x"\nenvironment_id = "b"\n\n[[environments]]\nid = "b"\nurl = "ws://h"\n',
    )
    expect(await reeve('env', 'remove', 'a')).toMatchObject({ code: 0 })
    const removed = await reeve('env', 'remove', 'b')
    expect(removed.stderr).toContain("the server 's' has environment_id")
    expect(readFileSync(join(home, 'config.toml'), 'utf8')).toBe(
      '[mcp_servers.s]\ncommand = "x"\nenvironment_id = "b"\n\n',
    )
  })

  it('exits with 1 for an unknown one, unless told not to mind', async () => {
    await reeve('env', 'add', 'devbox', '--url', 'ws://h')
    expect(await reeve('env', 'remove', 'devbx')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("'devbox'"),
    })
    expect(await reeve('env', 'remove', 'x', '--ignore-missing', '--json')).toMatchObject({ code: 0 })
  })
})

describe('reeve env check', () => {
  it('shows what an executor is, and how fast it answers', async () => {
    await reeve('env', 'add', 'far', '--url', await executor('s3cret-token'), '--token-env', 'BOX_TOKEN')
    const { code, stdout } = await reeve('env', 'check', 'far')
    expect([code, stdout]).toMatchObject([0, expect.stringMatching(/^far ✓ ready\n {2}reached by {2}ws:/)])
    for (const fact of ['version', 'system', 'shell       sh (/bin/sh)', 'folder      /', 'round trip'])
      expect(stdout).toContain(fact)
    const [row] = (await reeve('env', 'check', '--json')).json().environments
    expect(row).toMatchObject({ id: 'far', status: 'ready', shell: { path: '/bin/sh' }, folder: '/', error: null })
    expect(row.round_trip_ms).toBeGreaterThan(0)
    expect(JSON.stringify(row)).not.toContain('s3cret')
  })

  it('names each that cannot be used, with the next step, beside those that can', async () => {
    write('environments.toml', `[[environments]]\nid = "up"\nurl = "${await executor()}"\n`)
    await reeve('env', 'add', 'down', '--url', 'ws://127.0.0.1:1')
    await reeve('env', 'add', 'shut', '--url', await executor('s3cret-token'))
    await reeve('env', 'add', 'unset', '--url', await executor('x'), '--token-env', 'NO_SUCH')
    await reeve('env', 'add', 'cmd', '--command', '--', 'sh', '-c', 'echo no luck >&2; exit 3')
    const { code, stdout } = await reeve('env', 'check')
    expect(code).toBe(1)
    expect(stdout).toContain('up ✓ ready')
    expect(stdout).toMatch(/down ✗ .*cannot connect[\s\S]*→ is its executor running/)
    expect(stdout).toMatch(/shut ✗ [\s\S]*→ give its token: reeve env add shut --url/)
    expect(stdout).toMatch(/unset ✗ .*NO_SUCH[\s\S]*→ set the variable NO_SUCH/)
    expect(stdout).toMatch(/cmd ✗ .*exit code 3\): no luck[\s\S]*→ run it by hand/)
  })

  it('knows the host, and what is not configured', async () => {
    expect(await reeve('env', 'check', 'local')).toMatchObject({ code: 0, stdout: expect.stringContaining('local ✓') })
    expect(await reeve('env', 'check')).toMatchObject({ code: 0, stderr: expect.stringContaining('reeve env add') })
    await reeve('env', 'add', 'devbox', '--url', 'ws://h')
    const unknown = await reeve('env', 'check', 'devbx')
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining("Did you mean 'devbox'?") })
  })
})

describe('reeve doctor', () => {
  const findings = async (...args: string[]) => {
    const report = (await reeve('doctor', '--json', ...args)).json()
    return report.findings.map((one: { code: string; place: string; mend?: string }) => one)
  }

  it('names environments that nobody configured, and tokens that are not set', async () => {
    chmodSync(home, 0o700)
    const config = join(home, 'config.toml')
    write(
      'config.toml',
      '[mcp_servers.s]\nurl = "http://h"\nenvironment_id = "devbx"\n[mcp_servers.off]\nurl = "http://h"\nenvironment_id = "z"\nenabled = false\n[[capability_roots]]\nid = "r"\nenvironment = "gone"\npath = "/r"\n[[environments]]\nid = "devbox"\nurl = "wss://h"\nauth_bearer_token_env_var = "NO_SUCH"\n',
    )
    const found = await findings('--no-start')
    expect(found).toMatchObject([
      {
        code: 'unknown_environment',
        place: `${config}:1 mcp_servers.s.environment_id`,
        mend: expect.stringContaining('devbox'),
      },
      { code: 'unknown_environment', severity: 'warning', place: `${config}:8 capability_roots \`r\`` },
      { code: 'token_unset', place: `${config}:12 environments \`devbox\`` },
    ])
  })

  it('connects to what is configured, and says how to mend what cannot be used', async () => {
    chmodSync(home, 0o700)
    await reeve('env', 'add', 'up', '--url', await executor())
    await reeve('env', 'add', 'shut', '--url', await executor('s3cret-token'))
    await reeve('env', 'add', 'down', '--url', 'ws://127.0.0.1:1')
    // Why it does not start is told once.
    write('config.toml', '[mcp_servers.s]\nurl = "http://h"\nenvironment_id = "down"\n')
    const found = await findings()
    expect(found).toMatchObject([
      { code: 'environment_unauthorized', mend: expect.stringContaining('--token-env') },
      { code: 'environment_unreachable', mend: expect.stringContaining('reeve executor --listen') },
    ])
  })

  it('warns of a token that others may read', async () => {
    chmodSync(home, 0o700)
    write('environments.toml', '[[environments]]\nid = "a"\nurl = "wss://h"\nauth_bearer_token = "s3cret"\n')
    chmodSync(join(home, 'environments.toml'), 0o644)
    expect(await findings('--no-start')).toMatchObject([
      { code: 'file_readable', mend: expect.stringContaining('chmod') },
    ])
  })
})

describe('reeve status', () => {
  it('shows where a server runs when that is not here', async () => {
    await reeve('env', 'add', 'far', '--url', await executor())
    const echo = join(import.meta.dirname, '..', '..', '..', 'test', 'fixtures', 'stdio', 'echo.mjs')
    write(
      'config.toml',
      `[mcp_servers.notes]\ncommand = "${process.execPath}"\nargs = ["${echo}"]\nenvironment_id = "far"\ncwd = "/"\n`,
    )
    const { code, stdout } = await reeve('status')
    expect([code, stdout]).toMatchObject([0, expect.stringMatching(/RUNS IN[\s\S]*notes +far +✓ connected/)])
  })
})
