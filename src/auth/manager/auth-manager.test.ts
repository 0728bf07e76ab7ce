import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { json } from '../../../test/standins/backend-model.js'
import { AuthWorld } from '../../../test/standins/backend-world.js'
import { identityOf } from '../sources/credential.js'
import { accessTokenSource, apiKeySource } from '../sources/environment-source.js'
import { FileAuthStorage } from '../sources/file-storage.js'
import { hostTokensSource } from '../sources/host-source.js'
import { StoredSource } from '../sources/stored-source.js'
import { TokenEndpoint } from '../sources/token-endpoint.js'
import { AuthManager } from './auth-manager.js'
import { UnauthorizedRecovery } from './recovery.js'

const NOW = 1_700_000_000

const keyOf = (manager: AuthManager) => {
  const now = manager.current()
  return now.state === 'signed_in' ? now.key : undefined
}

describe('the auth manager', () => {
  it('takes the first source that has something', async () => {
    const env = { OPENAI_API_KEY: 'key-1', OPENAI_ORGANIZATION: 'org-1', CODEX_ACCESS_TOKEN: 'at-1' }
    const sources = [apiKeySource(env), accessTokenSource(env)]
    expect((await AuthWorld.open({ sources })).signedIn().credential).toEqual({
      kind: 'apiKey',
      key: 'key-1',
      organization: 'org-1',
    })
    const world = await AuthWorld.open({ sources: sources.slice(1), signedIn: { account: 'acct-1' } })
    expect(world.signedIn().credential).toMatchObject({ kind: 'personalAccessToken', token: 'at-1' })
    const host = hostTokensSource({ accessToken: 'h', accountId: 'acct-9' })
    expect((await AuthWorld.open({ sources, host })).signedIn().identity.accountId).toBe('acct-9')
  })

  it('counts a source that cannot be read as not signed in, and tells', async () => {
    const world = await AuthWorld.open()
    await world.storage.save({ auth_mode: 'unheard-of' })
    const problems: Error[] = []
    const onProblem = (problem: Error) => void problems.push(problem)
    const manager = await AuthManager.open({ sources: [world.source], clock: world.clock, onProblem })
    expect(manager.current().state).toBe('never')
    expect(problems).toMatchObject([{ code: 'credentials_invalid' }])
  })

  it('renews a session five minutes before it ends, once for all who wait', async () => {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1', exp: NOW + 301 } })
    world.model.nextToken = { exp: NOW + 10_000 }
    const first = world.manager.current()
    expect(await world.manager.auth()).toBe(first)
    world.clock.advance(1000)
    const all = await Promise.all(Array.from({ length: 10 }, () => world.manager.auth()))
    expect(new Set(all)).toEqual(new Set([world.manager.current()]))
    expect(world.manager.current()).not.toBe(first)
    expect(world.model.refreshes).toEqual([{ reason: 'proactive_expiry' }])
    expect(JSON.stringify(await world.storage.load())).toContain('refresh-2')
  })

  it('renews one that does not say when it ends after eight days', async () => {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    await world.manager.refresh()
    world.clock.advance(8 * 24 * 3_600_000)
    await world.manager.auth()
    expect(world.model.refreshes).toHaveLength(1)
    world.clock.advance(1)
    await world.manager.auth()
    expect(world.model.refreshes).toHaveLength(2)
  })

  it('goes on with the old value after a failure that may pass, and waits before it asks again', async () => {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1', exp: NOW } })
    world.model.tokenReplies = [json(503, {}), json(200, 'no object')]
    const before = world.manager.current()
    for (let at = 0; at < 5; at += 1) expect(await world.manager.auth()).toBe(before)
    expect(world.model.requests).toHaveLength(1)
    world.clock.advance(1000)
    expect(await world.manager.auth()).toBe(before)
    expect(world.model.requests).toHaveLength(2)
    expect(world.problems).toMatchObject([{ transient: true }, { transient: true }])
  })

  it.each([
    ['refresh_token_expired', 400, 'expired'],
    ['REFRESH_TOKEN_REUSED', 400, 'exhausted'],
    ['refresh_token_invalidated', 403, 'revoked'],
    ['anything', 401, 'other'],
  ])('remembers %s for exactly the snapshot that failed', async (code, status, reason) => {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    world.model.tokenReplies = [json(status, { error: { code } })]
    for (let at = 0; at < 3; at += 1)
      await expect(world.manager.refresh()).rejects.toMatchObject({ data: { permanent: true, reason } })
    expect(world.model.requests).toHaveLength(1)
    await world.manager.login(world.session('acct-1'))
    expect(await world.manager.refresh()).toBe('changed')
  })

  it('lets a reload and a refresh take turns, so that the old token never comes back', async () => {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    const { key } = world.signedIn()
    expect(await Promise.all([world.manager.refresh(), world.manager.reload()])).toEqual(['changed', 'unchanged'])
    expect(world.signedIn().key).not.toBe(key)
    expect(world.model.violations).toEqual([])
  })

  it('uses no refresh token twice, however many processes share the login', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'reeve-auth-'))
    try {
      const world = await AuthWorld.open()
      const { clock, http } = world
      const tokens = new TokenEndpoint({ http, clock })
      const source = () => new StoredSource({ storage: new FileAuthStorage(folder), tokens, clock })
      await source().save(world.session('acct-1', { exp: NOW }))
      const managers = await Promise.all([1, 2, 3].map(() => AuthManager.open({ sources: [source()], clock })))
      for (let round = 1; round <= 5; round += 1) {
        world.model.nextToken = { exp: NOW + round }
        await Promise.all(managers.map((manager) => manager.auth()))
        expect(world.model.refreshes).toHaveLength(round)
      }
      expect(new Set(managers.map((manager) => keyOf(manager))).size).toBe(1)
      expect(world.model.violations).toEqual([])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('does not lose a token that could not be saved', async () => {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    const before = world.manager.current()
    const save = vi.spyOn(world.storage, 'save').mockRejectedValueOnce(new Error('ENOSPC'))
    await expect(world.manager.refresh()).rejects.toThrow('ENOSPC')
    expect(world.manager.current()).toBe(before)
    expect(await world.manager.refresh()).toBe('changed')
    expect(world.model.refreshes).toHaveLength(1)
    expect(save).toHaveBeenCalledTimes(2)
    expect(JSON.stringify(await world.storage.load())).toContain('refresh-2')
  })

  it('does not wait for ever for a host', async () => {
    const host = hostTokensSource({ accessToken: 'h', accountId: 'a' }, () => new Promise(() => {}))
    const world = await AuthWorld.open({ host })
    const refresh = world.manager.refresh()
    const failure = expect(refresh).rejects.toMatchObject({ code: 'refresh_failed', transient: true })
    await vi.waitFor(() => expect(world.clock.pending()).toEqual([45_000]))
    world.clock.advance(45_000)
    await failure
    await world.manager.login(world.session('acct-2'))
    expect(world.signedIn().identity.accountId).toBe('acct-2')
  })

  it('takes a logout of another process for one, and never another account', async () => {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    const { grant } = world.signedIn()
    await world.source.save(world.session('acct-2'))
    expect(await world.manager.reload()).toBe('unchanged')
    expect(world.signedIn().identity.accountId).toBe('acct-1')
    await world.storage.remove()
    expect(await world.manager.reload()).toBe('changed')
    expect(world.manager.current().state).toBe('signed_out')
    expect(grant.revoked.aborted).toBe(true)
  })

  it('does not let a login come into force that a logout has overtaken', async () => {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    const login = world.manager.login(world.session('acct-2'))
    const logout = world.manager.logout()
    await expect(login).rejects.toMatchObject({ code: 'signed_out' })
    await logout
    expect(world.manager.current().state).toBe('signed_out')
    expect(world.model.revocations).toEqual(['acct-1'])
    expect(await world.storage.load()).toBeNull()
  })

  it('leaves the record as it was when a login is overtaken by the host', async () => {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    const login = world.manager.login(world.session('acct-2'))
    const installed = world.manager.installHost(hostTokensSource({ accessToken: 'h', accountId: 'acct-9' }))
    await expect(login).rejects.toMatchObject({ code: 'signed_out' })
    await installed
    expect((await world.manager.kept())?.accountId).toBe('acct-1')
  })

  it('signs out although the authority does not answer, and leaves the host of another account alone', async () => {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    world.model.pathReplies.set('POST /oauth/revoke', [{ status: 0, fault: 'drop' }])
    await world.manager.installHost(hostTokensSource({ accessToken: 'h', accountId: 'acct-9' }))
    await world.manager.logout()
    expect(await world.storage.load()).not.toBeNull()
    await world.manager.loginStored()
    await world.manager.logout()
    expect(world.manager.current().state).toBe('signed_out')
    expect(await world.storage.load()).toBeNull()
    expect(world.problems).toMatchObject([{ code: 'refresh_failed' }])
  })

  it('takes a login that was made elsewhere while nobody is signed in, unless somebody signs in here', async () => {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    const acct2 = identityOf(world.session('acct-2'))
    await world.source.save(world.session('acct-2'))
    expect(await world.manager.kept()).toEqual(acct2)
    expect(await world.manager.adoptKept(acct2)).toBe(false)
    await world.manager.logout()
    expect(await world.manager.adoptKept(identityOf(world.session('acct-3')))).toBe(false)
    const adopting = world.manager.adoptKept(acct2)
    const host = hostTokensSource({ accessToken: 'h', accountId: 'acct-9' })
    await world.manager.installHost(host)
    expect(await adopting).toBe(false)
    expect(world.signedIn().identity.accountId).toBe('acct-9')
    await world.manager.logout()
    expect(await world.manager.adoptKept(acct2)).toBe(true)
    expect(world.signedIn().identity).toEqual(acct2)
    expect(world.signedIn().grant.revoked.aborted).toBe(false)
  })

  it('asks nothing of sessions that do not end in time', async () => {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    const limits: AbortSignal[] = []
    world.manager.beforeRevoke((limit) => {
      limits.push(limit)
      return new Promise(() => {})
    })
    const logout = world.manager.logout()
    expect(world.clock.pending()).toEqual([5000])
    world.clock.advance(5000)
    await logout
    expect(limits.map(({ aborted }) => aborted)).toEqual([true])
    expect(world.model.revocations).toEqual(['acct-1'])
  })
})

describe('recovery from a 401', () => {
  it('reloads a stored session, then refreshes it, and then has nothing left', async () => {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    const recovery = new UnauthorizedRecovery(world.manager, world.manager.current())
    expect(recovery.reason).toBe('ready')
    expect(await recovery.next()).toEqual({ step: 'reload', changed: false })
    expect(await recovery.next()).toEqual({ step: 'refresh_token', changed: true })
    expect(recovery.reason).toBe('recovery_exhausted')
    expect(await recovery.next()).toBeUndefined()
  })

  it('asks a host once, and is ended by another account on disk', async () => {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    await world.source.save(world.session('acct-2'))
    const stored = new UnauthorizedRecovery(world.manager, world.manager.current())
    expect(await stored.next()).toEqual({ step: 'reload', changed: false })
    await expect(stored.next()).rejects.toMatchObject({ data: { reason: 'account_mismatch' } })
    expect(await stored.next()).toBeUndefined()
    const host = hostTokensSource({ accessToken: 'h', accountId: 'a' }, async () => ({
      accessToken: 'i',
      accountId: 'a',
    }))
    await world.manager.installHost(host)
    const asked = new UnauthorizedRecovery(world.manager, world.manager.current())
    expect(await asked.next()).toEqual({ step: 'external_refresh', changed: true })
    expect(asked.reason).toBe('recovery_exhausted')
  })

  it('says why there is none', async () => {
    const nobody = await AuthWorld.open()
    const reason = (world: AuthWorld) => new UnauthorizedRecovery(world.manager, world.manager.current()).reason
    expect(reason(nobody)).toBe('not_chatgpt_auth')
    const key = await AuthWorld.open({ sources: [apiKeySource({ OPENAI_API_KEY: 'k' })] })
    expect(reason(key)).toBe('not_chatgpt_auth')
    const token = await AuthWorld.open({ sources: [accessTokenSource({ CODEX_ACCESS_TOKEN: 'at-1' })] })
    expect(reason(token)).toBe('not_refreshable_auth')
    const host = await AuthWorld.open({ host: hostTokensSource({ accessToken: 'h', accountId: 'a' }) })
    expect(reason(host)).toBe('no_external_auth')
  })
})
