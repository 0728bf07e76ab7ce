import { access, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Keyring, NO_KEYRING, startKeyring } from '../fixtures/auth/keyring.js'
import { AuthorizationServer } from '../standins/authorization-server.js'
import { buildCli, type CliHome, cliHome } from './built-cli.js'

const NO_BUS = { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere/bus' }

let keyring: Keyring
let server: AuthorizationServer
let home: CliHome
let tools: string
let BROWSER: string
beforeEach(async () => {
  server = await AuthorizationServer.listen()
  home = await cliHome()
  tools = await mkdtemp(join(tmpdir(), 'reeve-browser-'))
  BROWSER = join(tools, 'browser.mjs')
  await writeFile(BROWSER, `#!${process.execPath}\nawait fetch(process.argv[2])\n`, { mode: 0o755 })
})
afterEach(async () => {
  await home[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  await rm(tools, { recursive: true, force: true })
})

const configure = (mode: string) =>
  writeFile(
    join(home.folder, 'config.toml'),
    `mcp_oauth_credentials_store = "${mode}"\n[mcp_servers.guarded]\nurl = "${server.resourceUrl}"\n`,
  )
const plain = () => join(home.folder, 'credentials.json')
const sealed = () => join(home.folder, 'credentials.sealed.json')
const exists = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  )

describe.skipIf(NO_KEYRING !== undefined)(`a login in the keychain${NO_KEYRING ? ` (${NO_KEYRING})` : ''}`, () => {
  beforeAll(async () => {
    await buildCli()
    keyring = await startKeyring()
  }, 300_000)
  afterAll(() => keyring?.[Symbol.asyncDispose]())

  const reeve = (args: readonly string[], env: Readonly<Record<string, string>> = keyring.env) =>
    home.reeve(args, { env: { BROWSER, ...env } })

  it('is used and renewed by other processes, and no file of the home shows a token of it', async () => {
    await configure('keyring')
    expect(await reeve(['login', 'guarded'])).toMatchObject({ code: 0, stderr: expect.not.stringContaining('warn') })
    expect(await exists(plain())).toBe(false)
    const before = await readFile(sealed(), 'utf8')
    server.options = { lifetime: 3600 }
    for (const token of server.alive) server.expire(token)
    expect(await reeve(['call', 'guarded', 'whoami'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('you'),
    })
    expect(server.counts).toMatchObject({ refreshes: 1, reuses: 0 })
    expect(await readFile(sealed(), 'utf8')).not.toBe(before)
    const secrets = [...server.issued]
    expect(secrets.length).toBeGreaterThan(3)
    for (const name of await readdir(home.folder, { recursive: true, withFileTypes: true })) {
      if (!name.isFile()) continue
      const text = await readFile(join(name.parentPath, name.name), 'latin1')
      for (const secret of secrets) expect(text).not.toContain(secret)
    }
    expect(JSON.parse((await reeve(['--json', 'auth', 'status'])).stdout).servers).toMatchObject([
      { auth_status: 'o_auth' },
    ])
    expect(await reeve(['logout', 'guarded'])).toMatchObject({ code: 0 })
    expect(server.alive).toEqual([])
    expect((await reeve(['call', 'guarded', 'whoami'])).stderr).toContain('Run `reeve login guarded`')
  })

  it('is an error where there is no keychain, and nothing is stored elsewhere', async () => {
    await configure('keyring')
    const login = await reeve(['--json', 'login', 'guarded'], NO_BUS)
    expect(login).toMatchObject({ code: 1, stderr: expect.stringContaining('"keychain_unavailable"') })
    expect(await exists(plain())).toBe(false)
    expect((await reeve(['login', 'guarded'])).code).toBe(0)
    const call = await reeve(['call', 'guarded', 'whoami'], NO_BUS)
    expect(call.code).toBe(1)
    expect(call.stderr).toContain('the Secret Service cannot be used')
    expect(await reeve(['--json', 'logout', 'guarded'], NO_BUS)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('"keychain_unavailable"'),
    })
  })

  it('is one in a file with "auto" where there is no keychain, and moves into it with the next login', async () => {
    await configure('auto')
    const login = await reeve(['login', 'guarded'], NO_BUS)
    expect(login).toMatchObject({ code: 0, stderr: expect.stringContaining('the Secret Service cannot be used') })
    expect(await exists(plain())).toBe(true)
    expect(await reeve(['call', 'guarded', 'whoami'], NO_BUS)).toMatchObject({ code: 0 })
    // The keychain is there now; the login stays where it is until the next one.
    expect(await reeve(['call', 'guarded', 'whoami'])).toMatchObject({ code: 0 })
    expect(await exists(sealed())).toBe(false)
    expect((await reeve(['login', 'guarded'])).code).toBe(0)
    expect(JSON.parse(await readFile(plain(), 'utf8')).credentials).toEqual([])
    expect(await reeve(['call', 'guarded', 'whoami'])).toMatchObject({ code: 0 })
    expect(await reeve(['logout', 'guarded'])).toMatchObject({ code: 0 })
    expect(await reeve(['logout', 'guarded'])).toMatchObject({ code: 1 })
  })

  it('is set aside when its key is gone, and named', async () => {
    await configure('keyring')
    expect((await reeve(['login', 'guarded'])).code).toBe(0)
    const before = await readFile(sealed(), 'utf8')
    await using other = await startKeyring()
    const call = await reeve(['--json', 'call', 'guarded', 'whoami'], other.env)
    expect(call.stderr).toContain('the key of another keychain sealed it')
    const login = await reeve(['login', 'guarded'], other.env)
    expect(login.code).toBe(0)
    const [, aside = ''] = /what it held is in (\S+)/.exec(login.stderr) ?? []
    expect(await readFile(aside, 'utf8')).toBe(before)
    expect(await reeve(['call', 'guarded', 'whoami'], other.env)).toMatchObject({ code: 0 })
  })
})
