import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { hostTokensSource, withRebuild } from '../../src/auth/index.js'
import { FirstPartyAuthError } from '../../src/errors.js'
import { McpConnection } from '../standins/backend-mcp.js'
import { type BackendReply, json } from '../standins/backend-model.js'
import { AuthWorld, inProcess } from '../standins/backend-world.js'
import { Modes, Record, runnable, titleOf, wantedOf } from './runtime-auth-cases.js'

/** Already due: every use renews it first. */
const DUE = { account: 'acct-1', exp: 1_700_000_000 }
const LATER = 1_800_000_000

const Input = z.looseObject({
  mode: Modes,
  event: z.union([z.string(), z.array(z.string())]),
  operation: z.string().default('tools/call'),
  idempotent: z.boolean().default(false),
  newToken: z.boolean().default(true),
  fedramp: z.boolean().default(false),
  server: z.string().optional(),
  disk: z.string().optional(),
  account: z.string().optional(),
  login: z.string().optional(),
  call: z.string().optional(),
})
type Facts = z.infer<typeof Input> & { readonly each: 'off' | 'dual_header' | 'assertion_only' }
type Wanted = z.infer<typeof Record>

const MCP = '/backend-api/test/mcp'

describe('a change of the credential', () => {
  for (const one of runnable('credentialChange')) {
    const input = Input.parse(one.input)
    for (const each of input.mode) {
      it(`${titleOf(one)}: ${each}`, () => run({ ...input, each }, Record.parse(wantedOf(one))))
    }
  }

  function run(facts: Facts, wanted: Wanted): Promise<void> {
    const event = [facts.event].flat()[0]
    if (event === 'refresh' && facts.fedramp) return fedrampAppears(facts, wanted)
    if (event === 'refresh' && facts.account !== undefined) return refreshToAnother(facts, wanted)
    if (event === 'refresh' && facts.each === 'off') return refreshOff(facts, wanted)
    if (event === 'refresh') return proactive(facts, wanted)
    if (event === 'refresh refused') return refused(facts, wanted)
    if (event === 'model 401' && facts.login === undefined) return identicalToken(facts, wanted)
    if (event === 'model 401') return hostAsked(facts, wanted)
    if (event === 'auth.json edited') return edited(facts, wanted)
    if (event === 'account/read refreshToken true') return adopted(facts, wanted)
    if (event === 'account/login/start' && facts.call !== undefined) return duringRegistration(facts, wanted)
    if (event === 'account/login/start') return otherLogin(facts, wanted)
    if (event === 'host refresh') return hostMoves(facts, wanted)
    if (event === 'logout') return facts.disk === undefined ? logout(facts, wanted) : logoutBesideAnother(facts, wanted)
    if (event === 'config mode change') return modeStays(facts, wanted)
    if (event === 'mcp 401') return unauthorized(facts, wanted)
    throw new Error(`no check for ${event}`)
  }

  /** A connection whose session was opened while the token was still good. */
  async function opened(world: AuthWorld, { each, idempotent }: Facts) {
    const context = world.context(each)
    const connection = McpConnection.to(context, world.http, { isIdempotent: idempotent })
    expect((await connection.operate('initialize')).status).toBe(200)
    return { context, connection }
  }

  /** The stored session comes to its end. */
  async function expire(world: AuthWorld): Promise<void> {
    const current = world.session('acct-1', { exp: DUE.exp })
    await world.storage.save({ auth_mode: 'chatgpt', tokens: tokensOf(current) })
    await world.manager.reload()
    world.model.nextToken = { exp: LATER }
  }

  async function proactive(facts: Facts, wanted: Wanted) {
    const isHandshake = facts.operation === 'initialize'
    const world = await AuthWorld.open({ signedIn: isHandshake ? DUE : { account: 'acct-1', exp: LATER } })
    world.model.nextToken = { exp: LATER }
    const context = world.context(facts.each)
    let attempts = 0
    let current = McpConnection.to(context, world.http, { isIdempotent: facts.idempotent })
    const others = [McpConnection.to(context, world.http), McpConnection.to(context, world.http)]
    if (!isHandshake) {
      await current.operate('initialize')
      for (const other of others) await other.operate('initialize')
      world.clock.advance((LATER - 1_700_000_000) * 1000)
      world.model.nextToken = { exp: LATER * 2 }
    }
    const from = world.model.requests.length
    const before = world.model.registrations.length
    const ended: unknown[] = []
    const outcome = await withRebuild(
      async () => current,
      async (connection) => {
        attempts += 1
        return connection.operate(facts.operation)
      },
      async (outdated) => {
        ended.push(await outdated.end())
        current = McpConnection.to(context, world.http)
        if (!isHandshake) await current.operate('initialize')
      },
    ).catch((error: unknown) => error)
    const retried = attempts > 1
    expect(retried).toBe(wanted.retried)
    if (wanted.attempts !== undefined) expect(attempts).toBe(wanted.attempts)
    if (wanted.outcome === 'ok') expect(outcome).toMatchObject({ status: 200 })
    if (wanted.errorCode !== undefined) {
      expect(outcome).toMatchObject({ code: wanted.errorCode, sent: false, mayRetry: false })
      expect(world.model.requests.slice(from).some(({ path }) => path === MCP)).toBe(false)
      // All runtime connections have to be rebuilt, and each ends its session with what it was opened with.
      expect([current, ...others].map(({ auth }) => auth.isSuperseded)).toEqual([true, true, true])
      expect(await Promise.all([current, ...others].map((each) => each.end()))).toEqual([
        undefined,
        undefined,
        undefined,
      ])
      await McpConnection.to(context, world.http).operate('initialize')
      expect(world.model.registrations.length - before).toBe(wanted.registrations)
      expect(world.model.refreshes.at(-1)).toEqual({ reason: 'proactive_expiry' })
    }
    expect(ended).toEqual(retried ? [undefined] : [])
    expect(world.model.violations).toEqual([])
  }

  async function refreshOff(facts: Facts, wanted: Wanted) {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1', exp: LATER } })
    const { connection } = await opened(world, facts)
    await expire(world)
    await connection.operate('tools/call')
    const { credential } = world.signedIn()
    const current = credential.kind === 'chatgpt' ? `Bearer ${credential.accessToken}` : ''
    expect(world.model.refreshes).toHaveLength(1)
    expect(new Map(world.model.requests.at(-1)?.headers).get('authorization')).toBe(current)
    expect(String(wanted.tokenOnWire)).toMatch(/^current/)
    expect(await connection.end()).toBeUndefined()
    expect(world.model.requests.at(-1)?.method).toBe('DELETE')
    expect(new Map(world.model.requests.at(-1)?.headers).get('authorization')).toBe(current)
  }

  async function refused(facts: Facts, wanted: Wanted) {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1', exp: LATER } })
    const { connection } = await opened(world, facts)
    world.clock.advance((LATER - 1_700_000_000) * 1000)
    world.model.tokenReplies = [json(401, { error: { code: 'refresh_token_expired' } })]
    const from = world.model.requests.length
    for (let at = 0; at < 3; at += 1)
      await expect(connection.operate('tools/call')).rejects.toThrow(String(wanted.message))
    expect(await connection.end()).toEqual({ server: 'test', reason: 'refresh_failed' })
    expect(world.model.requests.slice(from).map(({ path }) => path)).toEqual(['/oauth/token'])
  }

  async function identicalToken(facts: Facts, wanted: Wanted) {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    const { connection } = await opened(world, facts)
    const { key, credential } = world.signedIn()
    const same = credential.kind === 'chatgpt' ? credential.accessToken : ''
    world.model.tokenReplies = [json(200, { access_token: same, refresh_token: 'refresh-next' })]
    const before = world.model.registrations.length
    expect(await world.manager.refreshRejected(key)).toBe('unchanged')
    expect((await connection.operate('tools/call')).status).toBe(200)
    expect(world.model.registrations.length - before).toBe(wanted.registrations)
  }

  async function edited(facts: Facts, wanted: Wanted) {
    const world = await AuthWorld.open({ ...(facts.login === undefined && { signedIn: { account: 'acct-1' } }) })
    if (facts.login !== undefined)
      await world.manager.installHost(
        hostTokensSource({ accessToken: world.session('acct-1').accessToken, accountId: 'acct-1' }),
      )
    const { connection } = await opened(world, facts)
    await world.storage.save({ tokens: tokensOf(world.session('acct-2')) })
    if (facts.login !== undefined) {
      expect(await world.manager.reload()).toBe('unchanged')
      expect(await world.manager.auth()).toBe(world.manager.current())
    }
    expect((await connection.operate('tools/call')).status).toBe(200)
    expect(connection.auth.isSuperseded).toBe(false)
    expect(world.model.requests.at(-1)?.account).toBe('acct-1')
    if (wanted.account === 'host') expect(world.signedIn().credential.kind).toBe('chatgptAuthTokens')
  }

  async function adopted(facts: Facts, wanted: Wanted) {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    const { context, connection } = await opened(world, facts)
    const other = facts.disk === 'other account'
    await world.storage.save({ tokens: tokensOf(world.session(other ? 'acct-2' : 'acct-1')) })
    const before = world.model.registrations.length
    const outcome = await world.manager.refresh().catch((error: unknown) => error)
    expect(world.model.refreshes).toEqual([])
    expect(connection.auth.isSuperseded).toBe(wanted.connectionsRebuilt === 'all')
    if (other) {
      expect(outcome).toMatchObject({ code: 'refresh_failed', data: { reason: 'account_mismatch' } })
      expect((await connection.operate('tools/call')).status).toBe(200)
    } else {
      expect(outcome).toBe('changed')
      await McpConnection.to(context, world.http).operate('initialize')
      expect(world.model.registrations.length - before).toBe(wanted.registrations)
    }
    expect(world.model.requests.at(-1)?.account).toBe('acct-1')
  }

  async function otherLogin(facts: Facts, wanted: Wanted) {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    const { context, connection } = await opened(world, facts)
    const aborted = new Promise((resolve) => connection.auth.revoked.addEventListener('abort', resolve))
    await world.manager.login(world.session('acct-2'))
    await aborted
    const failure = await connection.operate('tools/call').catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(FirstPartyAuthError)
    expect(String(wanted.message)).toContain(failure instanceof Error ? failure.message : 'nothing')
    expect(await connection.end()).toBeUndefined()
    await McpConnection.to(context, world.http).operate('initialize')
    expect(world.model.requests.at(-1)?.account).toBe('acct-2')
    expect(world.model.violations).toEqual([])
  }

  async function duringRegistration(facts: Facts, _wanted: Wanted) {
    const model = (await AuthWorld.open()).model
    const direct = inProcess(model)
    let release = () => {}
    let gate: Promise<void> | undefined
    const http: typeof direct = {
      send: async (request) => {
        if (request.url.endsWith('/agent/register')) await gate
        return direct.send(request)
      },
    }
    const world = await AuthWorld.open({ model, http, signedIn: { account: 'acct-1' } })
    const { context } = await opened(world, facts)
    gate = new Promise((resolve) => {
      release = resolve
    })
    await world.manager.login(world.session('acct-2'))
    const call = McpConnection.to(context, http).operate('tools/call')
    release()
    expect((await call).status).toBe(200)
    expect(model.requests.at(-1)?.account).toBe('acct-2')
  }

  async function refreshToAnother(facts: Facts, wanted: Wanted) {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    const { context, connection } = await opened(world, facts)
    const next = world.session('acct-2')
    world.model.tokenReplies = [json(200, { access_token: next.accessToken, refresh_token: next.refreshToken })]
    await world.manager.refresh()
    const from = world.model.requests.length
    await expect(connection.operate('tools/call')).rejects.toThrow('application network policy is unavailable')
    expect(() => McpConnection.to(context, world.http)).toThrow('application network policy is unavailable')
    expect(world.model.requests.slice(from)).toEqual([])
    expect((await McpConnection.to(world.context(facts.each), world.http).operate('initialize')).status).toBe(200)
    await world.manager.login(world.session('acct-2'))
    expect((await McpConnection.to(context, world.http).operate('initialize')).status).toBe(200)
    expect(wanted.newThreads).toBe('ok')
    expect(world.model.violations).toEqual([])
  }

  async function hostMoves(facts: Facts, _wanted: Wanted) {
    const world = await AuthWorld.open()
    const first = world.session('acct-1')
    const host = hostTokensSource({ accessToken: first.accessToken, accountId: 'acct-1' }, async () => {
      return { accessToken: world.session('acct-2').accessToken, accountId: 'acct-2' }
    })
    await world.manager.installHost(host)
    const { context, connection } = await opened(world, facts)
    await world.manager.refreshRejected(world.signedIn().key)
    // The old connection never crosses; everything moves by new ones.
    await expect(connection.operate('tools/call')).rejects.toMatchObject({ code: 'credentials_changed_not_sent' })
    expect((await McpConnection.to(context, world.http).operate('tools/call')).status).toBe(200)
    expect(world.model.requests.at(-1)?.account).toBe('acct-2')
    expect(world.model.violations).toEqual([])
  }

  async function fedrampAppears(facts: Facts, wanted: Wanted) {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    const { context, connection } = await opened(world, facts)
    world.model.nextToken = { fedramp: true }
    await world.manager.refresh()
    expect(connection.auth.isSuperseded).toBe(true)
    await McpConnection.to(context, world.http).operate('initialize')
    const sent = new Map(world.model.requests.at(-1)?.headers)
    expect(sent.get('x-openai-fedramp')).toBe(wanted['x-openai-fedramp'])
  }

  async function logout(facts: Facts, wanted: Wanted) {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    const { context, connection } = await opened(world, facts)
    world.manager.beforeRevoke(async (limit) => expect(await connection.end(limit)).toBeUndefined())
    const from = world.model.requests.length
    const leaving = world.manager.logout()
    expect(connection.auth.revoked.aborted).toBe(wanted.inFlight === 'aborted')
    await leaving
    const sent = world.model.requests
      .slice(from)
      .map(({ method, path }) => (path === MCP ? `${method} sessions` : path))
    expect(sent).toEqual(['DELETE sessions', '/oauth/revoke'])
    const code = z.object({ errorCode: z.string() }).parse(wanted.calls).errorCode
    await expect(connection.operate('tools/call')).rejects.toMatchObject({
      code: expect.stringMatching(/signed_out|auth_revoked/),
    })
    expect(() => McpConnection.to(context, world.http)).toThrow(expect.objectContaining({ code }))
    expect(await world.storage.load()).toBeNull()
    expect(world.model.violations).toEqual([])
  }

  async function logoutBesideAnother(facts: Facts, wanted: Wanted) {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    await opened(world, facts)
    await world.storage.save({ tokens: tokensOf(world.session('acct-2')) })
    await world.manager.logout()
    await world.manager.reload()
    expect(world.manager.current().state).toBe('signed_out')
    const used = world.model.requests.some(({ account }) => account === 'acct-2')
    expect({ otherAccountMayBeUsed: used }).toEqual(wanted)
    expect(world.model.registrations).toHaveLength(1)
    expect(await world.storage.load()).not.toBeNull()
    expect(await world.manager.loginStored()).toBe(true)
    expect(world.signedIn().identity.accountId).toBe('acct-2')
  }

  async function hostAsked(facts: Facts, wanted: Wanted) {
    const world = await AuthWorld.open()
    const asked: unknown[] = []
    const { accessToken } = world.session('acct-1')
    const host = hostTokensSource({ accessToken, accountId: 'acct-1' }, async (request) => {
      asked.push(request)
      return { accessToken: world.session('acct-1').accessToken, accountId: 'acct-1' }
    })
    await world.manager.installHost(host)
    await opened(world, facts)
    expect(await world.manager.refreshRejected(world.signedIn().key)).toBe('changed')
    expect(asked).toEqual([z.object({ params: z.unknown() }).parse(wanted.serverRequest).params])
  }

  async function modeStays(facts: Facts, wanted: Wanted) {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    const { connection } = await opened(world, facts)
    world.context('assertion_only')
    expect((await connection.operate('tools/call')).status).toBe(200)
    expect(connection.auth.isSuperseded ? 'all' : 'none').toBe(wanted.connectionsRebuilt)
  }

  async function unauthorized(facts: Facts, wanted: Wanted) {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    const { context, connection } = await opened(world, facts)
    const challenge: BackendReply = { status: 401, headers: { 'www-authenticate': 'Bearer' } }
    world.model.pathReplies.set(`POST ${MCP}`, [challenge])
    const from = world.model.requests.length
    let current = connection
    const reply = await withRebuild(
      async () => current,
      (on) => on.operate(facts.operation),
      async () => {
        current = McpConnection.to(context, world.http)
        await current.operate('initialize')
      },
    )
    const sent = world.model.requests.slice(from).filter(({ body }) => body.includes(`"${facts.operation}"`))
    const replayed = reply.status === 200
    expect({ requests: sent.length, refreshes: world.model.refreshes.length, replayed }).toEqual(wanted)
    expect(world.model.refreshes).toEqual([{ reason: 'unauthorized_recovery' }])
  }
})

function tokensOf({ accessToken, refreshToken, accountId }: ReturnType<AuthWorld['session']>) {
  return { access_token: accessToken, refresh_token: refreshToken, account_id: accountId }
}
