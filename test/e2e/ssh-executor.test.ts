import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { Reeve, type ThreadEvent } from '../../src/reeve.js'
import { hasOpenSsh, startSshd, type TestSshd } from '../fixtures/ssh/sshd.js'
import { buildCli, type CliHome, cliHome, ECHO, reeveCommand } from './built-cli.js'

beforeAll(buildCli, 300_000)

/** A program called `reeve` on the other side, in a folder with a space and a quote: the remote shell's business. */
async function remoteReeve(folder: string): Promise<string> {
  const bin = join(folder, "it's here")
  await mkdir(bin)
  const { command, args } = reeveCommand()
  const script = join(bin, 'reeve')
  await writeFile(script, `#!/bin/sh\nexec '${command}' ${args.map((arg) => `'${arg}'`).join(' ')} "$@"\n`)
  await chmod(script, 0o755)
  return `"${script}"`
}

async function devbox(): Promise<{ readonly home: CliHome; readonly sshd: TestSshd; readonly remote: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-ssh-'))
  const sshd = await startSshd(folder)
  const home = await cliHome()
  onTestFinished(async () => {
    await home[Symbol.asyncDispose]()
    await sshd[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })
  const remote = await remoteReeve(folder)
  const added = await home.reeve([
    ...['env', 'add', 'devbox', '--ssh', sshd.destination, '--workspace', '/', '--'],
    ...[...sshd.sshOptions, remote],
  ])
  expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining("added 'devbox'") })
  return { home, sshd, remote }
}

// Debian has both in openssh-server and openssh-client; `npm test` installs them where it may.
describe.skipIf(!hasOpenSsh)('an executor over ssh', () => {
  it('is checked, with what it is and how fast it answers', async () => {
    const { home, sshd } = await devbox()
    const checked = await home.reeve(['env', 'check', 'devbox', '--json'])
    expect(checked).toMatchObject({ code: 0 })
    expect(JSON.parse(checked.stdout)).toMatchObject({
      environments: [{ id: 'devbox', status: 'ready', system: 'linux', workspace: '/', program: 'ssh' }],
    })
    await sshd.idle()
    expect(sshd.connections).toBe(1)
  })

  it('runs an MCP server there, which ends with its connection', async () => {
    const { home, sshd } = await devbox()
    await writeFile(
      join(home.folder, 'config.toml'),
      `[mcp_servers.notes]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(ECHO)}]\nenvironment_id = "devbox"\ncwd = "/"\n`,
    )
    const called = await home.reeve(['call', 'notes', 'echo', 'message=over there', '--json'])
    expect([called.code, called.stderr]).toEqual([0, ''])
    expect(called.stdout).toContain('over there')
    const status = await home.reeve(['status', '--json'])
    expect(JSON.parse(status.stdout)).toMatchObject({
      servers: [{ server: 'notes', status: 'connected', execution_environment: 'devbox' }],
    })
    await sshd.idle()
  })

  it('is there again after its connections were cut, and so are its servers', async () => {
    const { home, sshd } = await devbox()
    await writeFile(
      join(home.folder, 'config.toml'),
      `[mcp_servers.notes]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(ECHO)}]\nenvironment_id = "devbox"\ncwd = "/"\n`,
    )
    const env = { PATH: process.env.PATH ?? '', HOME: home.folder }
    await using reeve = await Reeve.open({ home: home.folder, cwd: home.folder, env })
    const events: string[] = []
    let onSecondStart = () => {}
    const again = new Promise<void>((resolve) => {
      onSecondStart = resolve
    })
    const onEvent = (event: ThreadEvent) => {
      if (event.type !== 'environment' && event.type !== 'status') return
      events.push(event.status)
      if (events.filter((status) => status === 'ready').length === 2) onSecondStart()
    }
    await using thread = await reeve.startThread({ onEvent })
    const call = () => thread.callTool({ server: 'notes', tool: 'echo', arguments: { message: 'over there' } })
    expect(await call()).toMatchObject({ content: [{ text: 'over there' }] })
    sshd.cut()
    await sshd.idle()
    await again
    expect(await call()).toMatchObject({ content: [{ text: 'over there' }] })
    expect(events.filter((status) => status === 'disconnected')).toHaveLength(1)
    expect(events.filter((status) => status === 'failed')).toHaveLength(1)
  })

  it('leaves nobody behind on either side when reeve is killed', async () => {
    const { home, sshd } = await devbox()
    // It talks to nobody but us, and our socket is closed by nothing but its end.
    const ear = createServer()
    await once(ear.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void ear.close())
    const address = ear.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const script = `require('node:net').connect(${port}, '127.0.0.1'); setInterval(() => {}, 1000)`
    await writeFile(
      join(home.folder, 'config.toml'),
      `[mcp_servers.stuck]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ["-e", ${JSON.stringify(script)}]\nenvironment_id = "devbox"\ncwd = "/"\n`,
    )
    const arrived = once(ear, 'connection')
    const program = home.start(['status'])
    const [server]: Socket[] = await arrived
    if (server === undefined) throw new Error('no connection')
    server.on('error', () => {}).resume()
    process.kill(program.child.pid ?? 0, 'SIGKILL')
    await once(server, 'close')
    await sshd.idle()
  })

  it('says why a login failed, and what to run by hand', async () => {
    const { home, sshd, remote } = await devbox()
    const options = sshd.sshOptions.map((option, index, all) => (all[index - 1] === '-i' ? sshd.strangerKey : option))
    await home.reeve(['env', 'add', 'devbox', '--ssh', sshd.destination, '--', ...options, remote])
    const { code, stdout } = await home.reeve(['env', 'check', 'devbox'])
    expect(code).toBe(1)
    expect(stdout).toMatch(/devbox ✗ .*exit code 255\): .*Permission denied \(publickey\)/)
    expect(stdout).toContain('→ run it by hand to see what it says: ssh -T -o BatchMode=yes')
  })

  it('says that reeve is not there', async () => {
    const { home, sshd } = await devbox()
    await home.reeve(['env', 'add', 'devbox', '--ssh', sshd.destination, '--', ...sshd.sshOptions, '/no/such/reeve'])
    const { code, stdout } = await home.reeve(['env', 'check', 'devbox'])
    expect(code).toBe(1)
    expect(stdout).toMatch(/devbox ✗ .*exit code 127\): .*\/no\/such\/reeve/)
  })

  it('is no stranger: a changed host key is refused', async () => {
    const { home, sshd, remote } = await devbox()
    const known = sshd.sshOptions.map((option) =>
      option.replace(/^UserKnownHostsFile=.*/, 'UserKnownHostsFile=/dev/null'),
    )
    await home.reeve(['env', 'add', 'devbox', '--ssh', sshd.destination, '--', ...known, remote])
    const { code, stdout } = await home.reeve(['env', 'check', 'devbox'])
    expect([code, stdout]).toMatchObject([1, expect.stringContaining('Host key verification failed')])
  })
})
