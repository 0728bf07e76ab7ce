import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { httpConfig } from '../../../test/fixtures/server-config.js'
import type { HttpServer } from '../../config/index.js'
import { serverKey } from '../../identity/index.js'
import type { StoredCredential } from '../store/credential.js'
import { FileCredentialStore } from '../store/file-store.js'
import { CredentialKeeper } from './keeper.js'
import { type LoginServer, loginOwner, ServerLogins } from './logins.js'

let home: string
let store: FileCredentialStore
let logins: ServerLogins
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'reeve-logins-'))
  store = new FileCredentialStore(home)
  logins = new ServerLogins(new CredentialKeeper({ store: new FileCredentialStore(home), home }))
})
afterEach(() => rm(home, { recursive: true, force: true }))

const server = (over: Partial<HttpServer> = {}, environmentId = 'local'): LoginServer => ({
  key: serverKey('notes'),
  config: httpConfig('https://notes.example/mcp#part', over, { environmentId }),
})

const login = (over: Partial<StoredCredential> = {}): StoredCredential => ({
  server: 'notes',
  environment: 'local',
  url: 'https://notes.example/mcp',
  principal: 'user',
  issuer: 'https://as.example',
  loginId: 'login-1',
  loggedInAt: 1,
  client: { id: 'client', method: 'none', kind: 'configured' },
  tokenEndpoint: 'https://as.example/token',
  grant: 'authorization_code',
  accessToken: 'access',
  refreshToken: 'refresh',
  scopes: [],
  ...over,
})

describe('the logins of a home', () => {
  it('are found by environment, name and URL without its fragment', async () => {
    await store.save(login())
    expect(logins.state(server())).toBe('oauth')
    expect(logins.state(server({}, 'devbox'))).toBe('logged_out')
    expect(logins.state(server({ url: 'https://moved.example/mcp' }))).toBe('logged_out')
  })

  it('are those of one account for whatever one connection opens, and of any for another', async () => {
    await store.save(login())
    const connection = {}
    const operation = { method: 'POST', url: 'https://notes.example/mcp', origin: 'https://notes.example' }
    const headersOf = (of: object) => logins.credentials(server(), { http: never }, of)?.headers(operation)
    expect(await headersOf(connection)).toEqual([['Authorization', 'Bearer access']])
    await store.save(login({ loginId: 'login-2', accessToken: 'other', loggedInAt: 2 }))
    await expect(headersOf(connection)).rejects.toMatchObject({ code: 'account_changed' })
    expect(await headersOf({})).toEqual([['Authorization', 'Bearer other']])
  })

  it('of principals are theirs alone, whatever a principal is called', async () => {
    await store.save(login())
    for (const principal of ['user', 'oauth-1', '@oauth-1', '__proto__']) {
      expect(logins.state(server(), principal)).toBe('logged_out')
      expect(logins.find(server(), principal)).toBeUndefined()
      expect(logins.digest(server(), principal)).toBeUndefined()
    }
    const owner = loginOwner(server(), 'oauth-1')
    await store.save(login({ ...owner, loginId: 'login-2' }))
    expect(logins.find(server(), 'oauth-1')?.loginId).toBe('login-2')
    expect(logins.find(server())?.loginId).toBe('login-1')
    expect(logins.find(server(), '@oauth-1')).toBeUndefined()
    const whose = { server: 'notes', environment: 'local' }
    expect(await logins.logout({ ...whose, principal: 'user' }, undefined)).toEqual([])
    expect(await logins.logout({ ...whose, principal: 'oauth-1' }, undefined)).toHaveLength(1)
    expect(logins.find(server())?.loginId).toBe('login-1')
  })

  it('are none of servers with other credentials, or without a usable URL', () => {
    for (const other of [server({ auth: 'chatgpt' }), server({ url: 'file:///etc' }), server({ url: 'no' })]) {
      expect(loginOwner(other)).toBeUndefined()
      expect(logins.state(other)).toBe('unsupported')
      expect(() => logins.begin(other, { http: never }, { redirectUri: 'http://127.0.0.1:1/' })).toThrow(
        expect.objectContaining({ code: 'unsupported' }),
      )
    }
  })

  it('have another version after a login and a logout, and the same after a refresh', async () => {
    const versions = [logins.version()]
    await store.save(login())
    versions.push(logins.version())
    await store.replace(login(), login({ accessToken: 'newer', refreshToken: 'newer' }))
    expect(logins.version()).toBe(versions[1])
    await store.save(login({ loginId: 'login-2' }))
    versions.push(logins.version())
    await store.remove(() => true)
    expect(new Set(versions).size).toBe(3)
    expect(logins.version()).toBe(versions[0])
  })

  it('want another login where one has ended', async () => {
    await store.save(login({ needsLogin: true }))
    expect(logins.state(server())).toBe('logged_out_needs_reauthentication')
    const { refreshToken: _, ...endless } = login({ expiresAt: 1 })
    await store.save(endless)
    expect(logins.state(server())).toBe('logged_out_needs_reauthentication')
  })

  it('stand for a damaged file by its fault', async () => {
    await writeFile(join(home, 'credentials.json'), '{')
    expect(logins.digest(server())).toBe('unreadable: credentials_invalid')
    expect(logins.version()).not.toBe('[]')
    expect(() => logins.find(server())).toThrow(expect.objectContaining({ code: 'credentials_invalid' }))
  })

  it('tell each of many who listen of a change, and none that has left', async () => {
    await store.save(login())
    const heard = new Set<number>()
    const leaves = Array.from({ length: 20 }, (_, n) => logins.onchange(() => heard.add(n)))
    leaves[0]?.()
    const warnings: Error[] = []
    const warn = (warning: Error) => warnings.push(warning)
    process.on('warning', warn)
    // The first look may come after the first change.
    const changed = async () => {
      await store.save(login({ loginId: randomUUID() }))
      expect(heard.size).toBe(19)
    }
    await vi.waitFor(changed, { timeout: 20_000, interval: 200 })
    process.off('warning', warn)
    for (const leave of leaves) leave()
    expect(heard).not.toContain(0)
    expect(warnings).toEqual([])
  })
})

const never = { request: () => Promise.reject(new Error('nothing is sent')) }
