import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { storedLogin } from '../../../test/fixtures/auth/stored-login.js'
import type { Answer } from '../../../test/standins/authorization-server.js'
import { eachLoginWorld, type LoginWorld } from '../../../test/standins/login-world.js'
import { CredentialStoreError } from '../../errors.js'
import type { StoredCredential } from '../store/credential.js'
import { FileCredentialStore } from '../store/file-store.js'
import { CredentialKeeper, type KeeperOptions } from './keeper.js'
import { OAuthServerAuth } from './server-auth.js'

let home: LoginWorld['home']
let http: LoginWorld['http']
let store: LoginWorld['store']
let server: LoginWorld['server']
let owner: LoginWorld['owner']
eachLoginWorld((world) => {
  ;({ home, http, store, server, owner } = world)
})

const keeperOf = (over: Partial<KeeperOptions> = {}) => new CredentialKeeper({ store, home, ...over })

async function loggedIn(over: Partial<StoredCredential> = {}): Promise<StoredCredential> {
  const expiresAt = Date.now() + 10_000
  const credential = storedLogin(server, { ...owner(), expiresAt, scopes: ['read'], ...over })
  await store.save(credential)
  return credential
}

/** Resolves when a refresh has come to the server, which answers it when `answer` is called. */
function heldRefresh() {
  let answer = (): void => {}
  const released = new Promise<void>((resolve) => {
    answer = resolve
  })
  const arrived = new Promise<void>((resolve) => {
    server.options = {
      beforeRefresh: () => {
        resolve()
        return released
      },
    }
  })
  return { arrived, answer: () => answer() }
}

describe('a token for an operation', () => {
  it('is the stored one while it lives long enough, and one without an end until it is refused', async () => {
    const { accessToken } = await loggedIn({ expiresAt: Date.now() + 60_000 })
    expect((await keeperOf().current({ owner: owner(), http }))?.accessToken).toBe(accessToken)
    const { expiresAt: _, ...endless } = await loggedIn()
    await store.save(endless)
    expect((await keeperOf().current({ owner: owner(), http }))?.accessToken).toBe(endless.accessToken)
    expect(server.counts.refreshes).toBe(0)
  })

  it('is refreshed half a minute before its end, once for all who ask', async () => {
    const { accessToken } = await loggedIn()
    const keeper = keeperOf()
    const all = await Promise.all(Array.from({ length: 50 }, () => keeper.current({ owner: owner(), http })))
    expect(new Set(all.map((one) => one?.accessToken)).size).toBe(1)
    expect(all[0]?.accessToken).not.toBe(accessToken)
    expect(all[0]?.scopes).toEqual(['read'])
    expect(server.counts).toMatchObject({ refreshes: 1, reuses: 0 })
  })

  it('is adopted when somebody else has refreshed already', async () => {
    const { accessToken } = await loggedIn()
    await Promise.all([keeperOf(), keeperOf()].map((keeper) => keeper.current({ owner: owner(), http })))
    const found = await keeperOf().current({ owner: owner(), http, rejected: accessToken })
    expect(found?.accessToken).not.toBe(accessToken)
    expect(server.counts.refreshes).toBe(1)
  })

  it('is refreshed to the end when nobody waits for it, and can be awaited before a process ends', async () => {
    await loggedIn()
    const { arrived, answer } = heldRefresh()
    const keeper = keeperOf()
    void keeper.current({ owner: owner(), http })
    await arrived
    const settled = keeper.settled()
    answer()
    await settled
    expect(server.takes(store.find(owner())?.accessToken ?? '')).toBe(true)
    expect(server.counts.refreshes).toBe(1)
  })

  it('is not brought back by a refresh that began before a logout', async () => {
    await loggedIn()
    const { arrived, answer } = heldRefresh()
    const pending = keeperOf().current({ owner: owner(), http })
    await arrived
    await store.remove(() => true)
    answer()
    expect(await pending).toBeUndefined()
    expect(store.all()).toEqual([])
  })

  it('is that of a login which came during a refresh', async () => {
    await loggedIn()
    const { arrived, answer } = heldRefresh()
    const pending = keeperOf().current({ owner: owner(), http })
    await arrived
    const newer = await loggedIn({ loginId: 'login-2', expiresAt: Date.now() + 60_000 })
    answer()
    expect((await pending)?.accessToken).toBe(newer.accessToken)
  })
})

describe('a refresh that fails', () => {
  it.each([
    ['the server is broken', { status: 500, body: '<html>' }],
    ['the answer is none', { status: 200, body: 'hello' }],
    ['there is too much to do', { status: 429, body: '{"error":"slow_down"}' }],
  ])('leaves a token that still lives in use when %s, and is tried again', async (_why, answer) => {
    const { accessToken } = await loggedIn()
    server.options = { token: () => answer }
    expect((await keeperOf().current({ owner: owner(), http }))?.accessToken).toBe(accessToken)
    server.options = {}
    expect((await keeperOf().current({ owner: owner(), http }))?.accessToken).not.toBe(accessToken)
  })

  it('is an error when the token has ended, and no login is lost', async () => {
    const { refreshToken } = await loggedIn({ expiresAt: Date.now() - 1 })
    server.options = { token: () => ({ status: 503, body: '' }) }
    const wish = { owner: owner(), http }
    await expect(keeperOf().current(wish)).rejects.toMatchObject({ code: 'oauth_token_refused', data: { status: 503 } })
    expect(store.find(owner())?.refreshToken).toBe(refreshToken)
    server.options = {}
    expect(server.takes((await keeperOf().current(wish))?.accessToken ?? '')).toBe(true)
  })

  it('wants a login once the server has refused the refresh token, and does not ask it again', async () => {
    await loggedIn({ expiresAt: Date.now() - 1, refreshToken: 'unknown' })
    const wish = { owner: owner(), http }
    await expect(keeperOf().current(wish)).rejects.toMatchObject({ code: 'auth_required' })
    await expect(keeperOf().current(wish)).rejects.toMatchObject({ code: 'auth_required' })
    expect(server.counts.refused).toBe(1)
    expect(store.find(owner())).toMatchObject({ needsLogin: true, refreshToken: 'unknown' })
  })

  it('wants a login where there is nothing to refresh with', async () => {
    const { refreshToken: _, ...credential } = await loggedIn()
    await store.save({ ...credential, expiresAt: Date.now() - 1 })
    await expect(keeperOf().current({ owner: owner(), http })).rejects.toMatchObject({ code: 'auth_required' })
  })

  it('ends after its time, and a later one may try', async () => {
    await loggedIn({ expiresAt: Date.now() - 1 })
    const { answer } = heldRefresh()
    const wish = { owner: owner(), http }
    await expect(keeperOf({ refreshMs: 50 }).current(wish)).rejects.toMatchObject({ code: 'oauth_unreachable' })
    answer()
  })

  it('is kept and stored later when it could not be stored', async () => {
    await loggedIn({ expiresAt: Date.now() - 1 })
    const full = new (class extends FileCredentialStore {
      isFull = true
      override replace(before: StoredCredential, after: StoredCredential): Promise<boolean> {
        if (!this.isFull) return super.replace(before, after)
        return Promise.reject(new CredentialStoreError('credentials_unwritable', 'disk full', { place: this.place }))
      }
    })(home)
    const keeper = keeperOf({ store: full })
    await expect(keeper.current({ owner: owner(), http })).rejects.toMatchObject({ code: 'credentials_unwritable' })
    full.isFull = false
    const found = await keeper.current({ owner: owner(), http })
    expect(server.takes(found?.accessToken ?? '')).toBe(true)
    expect(store.find(owner())?.accessToken).toBe(found?.accessToken)
    expect(server.counts).toMatchObject({ refreshes: 1, reuses: 0 })
  })
})

describe('a clock that jumps', () => {
  const DAY = 24 * 3600_000

  it('forwards costs one refresh, and back again none', async () => {
    await loggedIn({ expiresAt: Date.now() + 3600_000 })
    let shift = DAY
    const keeper = keeperOf({ now: () => Date.now() + shift })
    server.options = { lifetime: 2 * 24 * 3600 }
    const ahead = await keeper.current({ owner: owner(), http })
    shift = -DAY
    const back = await keeper.current({ owner: owner(), http })
    expect(back?.accessToken).toBe(ahead?.accessToken)
    expect(server.counts).toMatchObject({ refreshes: 1, reuses: 0 })
  })

  it('back leaves a token that is over, which is refreshed when it is refused', async () => {
    const { accessToken } = await loggedIn({ expiresAt: Date.now() + 365 * DAY })
    server.expire(accessToken)
    const keeper = keeperOf({ now: () => Date.now() - DAY })
    expect((await keeper.current({ owner: owner(), http }))?.accessToken).toBe(accessToken)
    const found = await keeper.current({ owner: owner(), http, rejected: accessToken })
    expect(server.takes(found?.accessToken ?? '')).toBe(true)
  })

  it('back after a refresh that failed does not keep the next one from being tried', async () => {
    await loggedIn({ expiresAt: Date.now() + 10_000 })
    server.options = { token: () => ({ status: 503, body: '' }) }
    let shift = 0
    const keeper = keeperOf({ now: () => Date.now() + shift })
    await keeper.current({ owner: owner(), http })
    server.options = {}
    shift = -6_000
    await keeper.current({ owner: owner(), http })
    // Half a minute before its end by this clock, too.
    expect(server.counts.refreshes).toBe(1)
  })
})

describe('a refresh that is answered with something else', () => {
  it.each<[string, Answer]>([
    ['HTML', { status: 200, body: '<html>maintenance</html>' }],
    ['an error that is no JSON', { status: 400, body: 'Bad Request' }],
    ['an error of a proxy', { status: 502, body: '<html>Bad Gateway</html>' }],
    ...[301, 302, 303, 307, 308].map((status): [string, Answer] => [
      `a redirect (${status})`,
      { status, body: '', headers: { location: '/elsewhere' } },
    ]),
  ])('%s keeps the login, and goes nowhere else', async (_what, answer) => {
    const before = await loggedIn({ expiresAt: Date.now() - 1 })
    server.options = { token: () => answer }
    await expect(keeperOf().current({ owner: owner(), http })).rejects.toMatchObject({
      code: expect.stringMatching(/^(oauth_|redirect_refused)/),
    })
    expect(store.find(owner())).toEqual(before)
    expect(server.requests.map(({ path }) => path)).toEqual(['/token'])
    server.options = {}
    expect(server.takes((await keeperOf().current({ owner: owner(), http }))?.accessToken ?? '')).toBe(true)
  })

  it('ten thousand scopes takes them, and no end leaves none', async () => {
    await loggedIn({ expiresAt: Date.now() - 1 })
    const scope = Array.from({ length: 10_000 }, (_, n) => `scope:${n}`).join(' ')
    server.options = { token: () => ({ status: 200, body: JSON.stringify({ access_token: 'a', scope }) }) }
    const found = await keeperOf().current({ owner: owner(), http })
    expect(found?.scopes).toHaveLength(10_000)
    expect(found).not.toHaveProperty('expiresAt')
    expect(new FileCredentialStore(home).find(owner())).toEqual(found)
  })
})

describe('the credentials of a connection', () => {
  const operation = () => ({ method: 'POST', url: server.resourceUrl, origin: server.origin })
  const authOf = (keeper = keeperOf()) => new OAuthServerAuth(keeper, owner(), http)

  it('are nothing where nobody is logged in, and stay so on a connection that began as nobody', async () => {
    const auth = authOf()
    expect(await auth.headers(operation())).toEqual([])
    expect(await auth.onUnauthorized(operation(), { headers: [] })).toBe(false)
    const { accessToken } = await loggedIn({ expiresAt: Date.now() + 60_000 })
    expect(await auth.headers(operation())).toEqual([])
    expect(await authOf().headers(operation())).toEqual([['Authorization', `Bearer ${accessToken}`]])
  })

  it('are those of one account: another login of it counts at once, one of another account is refused', async () => {
    await loggedIn({ expiresAt: Date.now() + 60_000, subject: 'alice' })
    const auth = authOf()
    const before = await auth.headers(operation())
    await loggedIn({ expiresAt: Date.now() + 60_000, subject: 'alice', loginId: 'login-2' })
    const again = await auth.headers(operation())
    expect(again).not.toEqual(before)
    await loggedIn({ subject: 'bob', loginId: 'login-3' })
    await expect(auth.headers(operation())).rejects.toMatchObject({ code: 'account_changed', sent: false })
    await expect(auth.onUnauthorized(operation(), { headers: again })).rejects.toMatchObject({
      code: 'account_changed',
    })
    // The login of the other account is not touched on the way.
    expect(server.counts.refreshes).toBe(0)
    await loggedIn({ expiresAt: Date.now() + 60_000, subject: 'alice', loginId: 'login-4' })
    expect(await auth.headers(operation())).toHaveLength(1)
  })

  it('are not those of a second login of nobody knows whom', async () => {
    await loggedIn({ expiresAt: Date.now() + 60_000 })
    const auth = authOf()
    await auth.headers(operation())
    await loggedIn({ expiresAt: Date.now() + 60_000, loginId: 'login-2' })
    await expect(auth.headers(operation())).rejects.toMatchObject({ code: 'account_changed' })
  })

  it('never go to another origin', async () => {
    await loggedIn()
    expect(await authOf().headers({ ...operation(), origin: 'https://evil.example' })).toEqual([])
  })

  it('are refreshed when the server refuses them, and not again for a token that is gone already', async () => {
    await loggedIn({ expiresAt: Date.now() + 60_000 })
    const auth = authOf()
    const headers = await auth.headers(operation())
    expect(await auth.onUnauthorized(operation(), { headers })).toBe(true)
    expect(await auth.onUnauthorized(operation(), { headers })).toBe(true)
    expect(await auth.headers(operation())).not.toEqual(headers)
    expect(server.counts.refreshes).toBe(1)
  })

  it('are no anonymous ones after a logout', async () => {
    await loggedIn({ expiresAt: Date.now() + 60_000 })
    const auth = authOf()
    await auth.headers(operation())
    await store.remove(() => true)
    await expect(auth.headers(operation())).rejects.toMatchObject({ code: 'auth_required' })
  })

  it('are an error where the file is damaged', async () => {
    await writeFile(join(home, 'credentials.json'), '{')
    await expect(authOf().headers(operation())).rejects.toMatchObject({ code: 'credentials_invalid' })
  })
})
