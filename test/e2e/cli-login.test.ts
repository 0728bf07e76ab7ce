import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Program, startProgram } from '../clients/program.js'
import { hasOpenSsh, startSshd } from '../fixtures/ssh/sshd.js'
import { AuthorizationServer } from '../standins/authorization-server.js'
import { buildCli, type CliHome, cliEnvironment, cliHome, reeveCommand } from './built-cli.js'

let server: AuthorizationServer
let home: CliHome
let tools: string
beforeAll(buildCli)
beforeEach(async () => {
  server = await AuthorizationServer.listen()
  home = await cliHome({ guarded: { url: server.resourceUrl } })
  tools = await mkdtemp(join(tmpdir(), 'reeve-browser-'))
})
afterEach(async () => {
  await home[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  await rm(tools, { recursive: true, force: true })
})

/** A browser whose user says yes to everything. */
async function browser(): Promise<string> {
  const file = join(tools, 'browser.mjs')
  await writeFile(file, `#!${process.execPath}\nawait fetch(process.argv[2])\n`, { mode: 0o755 })
  return file
}

const login = (...args: string[]) => ['login', 'guarded', ...args]

/** Resolves once stderr holds it. */
async function said(program: Program, text: RegExp): Promise<void> {
  while (!text.test(program.stderr())) await once(program.child.stderr, 'data')
}

/** Where the browser of another machine ends. */
async function approve(stderr: string): Promise<string> {
  const url = /https?:\/\/\S*\/authorize\?[^\s"]*/.exec(stderr)?.[0] ?? ''
  const response = await fetch(url, { redirect: 'manual' })
  return response.headers.get('location') ?? ''
}

describe('reeve login', () => {
  it('ends when the browser has come back, and leaves a login that other commands use', async () => {
    const done = await home.reeve(login(), { env: { BROWSER: await browser() } })
    expect(done).toMatchObject({ code: 0, stdout: `logged in to guarded at ${server.origin}\n` })
    const file = join(home.folder, 'credentials.json')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const called = await home.reeve(['call', 'guarded', 'whoami'])
    expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining('you') })
  })

  it('takes the pasted address, and goes on waiting after one of another login', async () => {
    const program = home.start(login('--no-browser'))
    await said(program, /paste the address/)
    const right = await approve(program.stderr())
    const wrong = new URL(right)
    wrong.searchParams.set('state', 'another')
    program.child.stdin.write(`${wrong.href}\n`)
    await said(program, /its state is that of another one/)
    program.child.stdin.write(`${right}\n`)
    expect((await program.exited).code).toBe(0)
    expect(server.counts.codes).toBe(1)
  })

  it('says as JSON what became of it, and shows no token', async () => {
    const done = await home.reeve(['--json', ...login('--scope', 'read write')], { env: { BROWSER: await browser() } })
    expect(JSON.parse(done.stdout)).toMatchObject({
      server: 'guarded',
      environment_id: null,
      issuer: server.origin,
      scopes: ['read', 'write'],
    })
    const stored = JSON.parse(await readFile(join(home.folder, 'credentials.json'), 'utf8'))
    for (const secret of [stored.credentials[0].accessToken, stored.credentials[0].refreshToken]) {
      expect(done.stdout + done.stderr).not.toContain(secret)
    }
  })

  it('needs no user with a client of its own, and then renews itself', async () => {
    const config = `[mcp_servers.guarded]\nurl = "${server.resourceUrl}"\noauth = { client_id = "program" }\n`
    await writeFile(join(home.folder, 'config.toml'), config)
    const forms: URLSearchParams[] = []
    server.options = {
      token: (form) => {
        forms.push(form)
        return { status: 200, body: JSON.stringify({ ...server.issue(), refresh_token: undefined, expires_in: 1 }) }
      },
    }
    const unready = await home.reeve(login('--client-credentials'))
    expect(unready).toMatchObject({ code: 2, stderr: expect.stringContaining('--client-secret-env') })
    const env = { SECRET: 'hush' }
    expect((await home.reeve(login('--client-credentials', '--client-secret-env', 'SECRET'), { env })).code).toBe(0)
    expect((await home.reeve(['call', 'guarded', 'whoami'])).stdout).toContain('you')
    expect(forms.map((form) => form.get('grant_type'))).toEqual(forms.map(() => 'client_credentials'))
    expect(forms.length).toBeGreaterThan(1)
  })

  it('ends when nobody comes', async () => {
    const done = home.start(['--json', ...login('--no-browser', '--timeout', '1')])
    const exit = await done.exited
    expect(exit.code).toBe(1)
    expect(done.stderr()).toContain('"oauth_callback_unavailable"')
    expect((await home.reeve(['auth', 'status', '--json'])).stdout).toContain('"not_logged_in"')
  })

  it('takes a callback that comes twice once, and its page is silent', async () => {
    const program = home.start(login('--no-browser'))
    await said(program, /paste the address/)
    const right = await approve(program.stderr())
    const wrong = new URL(right)
    wrong.searchParams.set('state', 'another')
    expect((await fetch(wrong)).status).toBe(400)
    const answers = await Promise.allSettled([fetch(right), fetch(right)])
    const pages = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
    expect(pages.filter(({ status }) => status === 200)).toHaveLength(1)
    const page = pages.find(({ status }) => status === 200)
    expect(page?.headers.get('content-security-policy')).toBe("default-src 'none'")
    expect(page?.headers.get('referrer-policy')).toBe('no-referrer')
    expect(await page?.text()).not.toMatch(/<script|<img|<link|src=|href=/)
    expect((await program.exited).code).toBe(0)
    expect(server.counts.codes).toBe(1)
  })

  it('stops at Ctrl-C and leaves nothing', async () => {
    const program = home.start(login('--no-browser'))
    await said(program, /paste the address/)
    program.child.kill('SIGINT')
    expect((await program.exited).code).toBe(130)
    expect((await home.reeve(['auth', 'status', '--json'])).stdout).toContain('"not_logged_in"')
  })

  it('is refused for a program, and names a server that is not there', async () => {
    await writeFile(join(home.folder, 'config.toml'), '[mcp_servers.program]\ncommand = "true"\n')
    expect(await home.reeve(['--json', 'login', 'program'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('"unsupported"'),
    })
    expect((await home.reeve(['--json', 'login', 'programm'])).stderr).toContain("Did you mean 'program'?")
  })
})

describe.skipIf(!hasOpenSsh)('reeve login over ssh, without a terminal', () => {
  it('takes the address that the browser of the other machine ends at', async () => {
    await using sshd = await startSshd(tools)
    const { command, args } = reeveCommand(...login('--no-browser'))
    const variables = Object.entries(cliEnvironment(home.folder)).map(([name, value]) => `${name}='${value}'`)
    const line = ['env', '-i', ...variables, command, ...args].join(' ')
    const program = startProgram(
      { command: 'ssh', args: ['-T', ...sshd.sshOptions, sshd.destination, line] },
      { cwd: tools, env: { PATH: process.env.PATH ?? '' } },
    )
    try {
      await said(program, /paste the address/)
      program.child.stdin.write(`${await approve(program.stderr())}\n`)
      expect((await program.exited).code).toBe(0)
    } finally {
      await program[Symbol.asyncDispose]()
    }
    expect((await home.reeve(['call', 'guarded', 'whoami'])).stdout).toContain('you')
  })
})

describe('a damaged file of logins', () => {
  it('is named by whoever reads it, and set aside by the next login, whole', async () => {
    const file = join(home.folder, 'credentials.json')
    await writeFile(file, '{"version":1,"cred')
    const called = await home.reeve(['call', 'guarded', 'whoami'])
    expect(called.stderr).toContain(`${file} is damaged`)
    expect((await home.reeve(['--json', 'logout', 'guarded'])).stderr).toContain('"credentials_invalid"')
    expect(await readFile(file, 'utf8')).toBe('{"version":1,"cred')
    const done = await home.reeve(login(), { env: { BROWSER: await browser() } })
    const [, aside = ''] = /what it held is in (\S+)/.exec(done.stderr) ?? []
    expect(await readFile(aside, 'utf8')).toBe('{"version":1,"cred')
    expect(await home.reeve(['call', 'guarded', 'whoami'])).toMatchObject({ code: 0 })
  })
})

describe('a broker that runs already', () => {
  it('uses a login, and misses one that is gone, from the next call on', async () => {
    const env = { REEVE_NO_BROKER: '' }
    const call = () => home.reeve(['call', 'guarded', 'whoami'], { env })
    const broker = async () => JSON.parse((await home.reeve(['--json', 'broker', 'status'], { env })).stdout).broker
    try {
      expect((await call()).stderr).toContain('Run `reeve login guarded`')
      const { pid } = await broker()
      expect((await home.reeve(login(), { env: { BROWSER: await browser() } })).code).toBe(0)
      expect(await call()).toMatchObject({ code: 0, stdout: expect.stringContaining('you') })
      expect((await home.reeve(['logout', 'guarded'])).code).toBe(0)
      expect((await call()).stderr).toContain('Run `reeve login guarded`')
      expect(pid).toBeTypeOf('number')
      expect((await broker()).pid).toBe(pid)
    } finally {
      await home.reeve(['broker', 'stop'], { env })
    }
  })
})

describe('reeve logout and auth status', () => {
  it('forget a login, and tell what there is', async () => {
    expect((await home.reeve(['auth', 'status'])).stdout).toContain('not logged in')
    await home.reeve(login(), { env: { BROWSER: await browser() } })
    const status = JSON.parse((await home.reeve(['--json', 'auth', 'status'])).stdout)
    expect(status.servers).toMatchObject([
      { server: 'guarded', auth_status: 'o_auth', login: { issuer: server.origin } },
    ])
    const { credentials } = JSON.parse(await readFile(join(home.folder, 'credentials.json'), 'utf8'))
    expect(server.takes(credentials[0].accessToken)).toBe(true)
    expect(await home.reeve(['logout', 'guarded'])).toMatchObject({ code: 0, stdout: 'logged out of guarded\n' })
    expect(server.takes(credentials[0].accessToken)).toBe(false)
    expect((await home.reeve(['logout', 'guarded'])).code).toBe(1)
    expect((await home.reeve(['status', 'guarded'])).stdout).toContain('needs auth')
  })
})
