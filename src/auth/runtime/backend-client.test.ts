import { describe, expect, it } from 'vitest'
import { json } from '../../../test/standins/backend-model.js'
import { AuthWorld } from '../../../test/standins/backend-world.js'
import { AuthManager } from '../manager/auth-manager.js'
import { hostTokensSource } from '../sources/host-source.js'
import { AuthContext } from './auth-context.js'
import { authIdentity } from './auth-identity.js'
import { BackendClient, type BackendRequest } from './backend-client.js'

const EVENTS: BackendRequest = {
  layout: 'analytics_events',
  method: 'POST',
  url: 'https://chatgpt.com/backend-api/codex/analytics-events/events',
  headers: { 'content-type': 'application/json', originator: 'reeve' },
  body: '{}',
  signal: new AbortController().signal,
}

/** A second actor in the same process, with a login of its own. */
async function actor(world: AuthWorld, account: string): Promise<AuthManager> {
  const { accessToken } = world.session(account)
  const host = hostTokensSource({ accessToken, accountId: account })
  return AuthManager.open({ sources: [], host, clock: world.clock })
}

describe('clients of the backend', () => {
  it('are bound to the auth and mode of their own actor', async () => {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    const first = new BackendClient(world.context('assertion_only'), world.http)
    const other = new AuthContext(world.runtime, await actor(world, 'acct-2'), 'dual_header')
    const second = new BackendClient(other, world.http)
    await Promise.all([first.send(EVENTS), second.send(EVENTS), first.send(EVENTS), second.send(EVENTS)])
    const sent = world.model.requests.filter(({ path }) => path.endsWith('/events'))
    const shown = sent.map(
      ({ account, headers }) => `${account} ${new Map(headers).get('authorization')?.split(' ')[0]}`,
    )
    expect(shown.sort()).toEqual(['acct-1 AgentAssertion', 'acct-1 AgentAssertion', 'acct-2 Bearer', 'acct-2 Bearer'])
    expect(world.model.registrations).toHaveLength(2)
    expect(world.model.violations).toEqual([])
  })

  it('wait for auth no longer than their request is wanted', async () => {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    world.model.registrationReplies = [{ status: 200, fault: 'silent' }]
    const client = new BackendClient(world.context('dual_header'), world.http)
    const given = new AbortController()
    const sending = client.send({ ...EVENTS, signal: given.signal })
    given.abort(new Error('given up'))
    await expect(sending).rejects.toThrow('given up')
    await expect(client.send({ ...EVENTS, signal: given.signal })).rejects.toThrow('given up')
    expect(world.model.requests.filter(({ path }) => path.endsWith('/events'))).toEqual([])
  })

  it('take up a changed credential before anything is sent, whatever the method', async () => {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1', exp: 1_700_000_000 } })
    world.model.nextToken = { exp: 1_800_000_000 }
    const client = new BackendClient(world.context('dual_header'), world.http)
    expect((await client.send(EVENTS)).status).toBe(200)
    expect(world.model.requests.map(({ path }) => path.split('/').at(-1))).toEqual(['token', 'register', 'events'])
    await world.manager.login(world.session('acct-2'))
    expect((await client.send(EVENTS)).status).toBe(200)
    expect(world.model.requests.at(-1)?.account).toBe('acct-2')
    await world.manager.logout()
    const before = world.model.requests.length
    await expect(client.send(EVENTS)).rejects.toMatchObject({ code: 'signed_out' })
    expect(world.model.requests).toHaveLength(before)
  })
})

it('go along with their host with the feature off, by connections of their own', async () => {
  const world = await AuthWorld.open()
  const given = (account: string) => ({ accessToken: world.session(account).accessToken, accountId: account })
  await world.manager.installHost(hostTokensSource(given('acct-1'), async () => given('acct-2')))
  const client = new BackendClient(world.context('off'), world.http)
  await client.send(EVENTS)
  await world.manager.refresh()
  await client.send(EVENTS)
  expect(world.model.requests.map(({ account }) => account)).toEqual(['acct-1', 'acct-2'])
})

describe('runtime instances', () => {
  it('are shared by managers with one credential, and dropped with the last of them', async () => {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    const { credential } = world.signedIn()
    const twin = await AuthManager.open({ sources: [world.source], clock: world.clock })
    const clients = [world.manager, twin].map((manager) => {
      return new BackendClient(new AuthContext(world.runtime, manager, 'dual_header'), world.http)
    })
    await Promise.all(clients.map((client) => client.send(EVENTS)))
    expect(world.model.registrations).toHaveLength(1)
    await world.manager.login(world.session('acct-2'))
    await clients[1]?.send(EVENTS)
    expect(world.model.registrations).toHaveLength(1)
    await twin.login(world.session('acct-3'))
    await twin.login(credential)
    await clients[1]?.send(EVENTS)
    const [first, , third] = world.model.registrations
    expect(world.model.registrations.map(({ body }) => JSON.parse(body).actor_auth.credential).at(-1)).toBe(
      credential.kind === 'chatgpt' ? credential.accessToken : '',
    )
    expect(third?.key).not.toBe(first?.key)
  })

  it('tell of an actor that is not the account of the token, without its id', async () => {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    world.model.actor = { kind: 'chatgpt', user_id: 'u', account_id: 'acct-elsewhere' }
    await new BackendClient(world.context('dual_header'), world.http).send(EVENTS)
    expect(world.problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /^the runtime was registered for account [0-9a-f]{12}, the token is of account [0-9a-f]{12}$/,
      ),
    ])
  })

  it('that are for one account are not sent as another one', async () => {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    const client = new BackendClient(world.context('off'), world.http)
    const as = authIdentity('off', world.manager.current())
    await client.send({ ...EVENTS, as })
    await expect(client.send({ ...EVENTS, as: { ...as, mode: 'dual_header' } })).rejects.toMatchObject({
      code: 'auth_unavailable',
    })
    const late = client.send({ ...EVENTS, as })
    await world.manager.login(world.session('acct-2'))
    await late.catch(() => {})
    await expect(client.send({ ...EVENTS, as })).rejects.toMatchObject({ code: 'auth_unavailable' })
    expect(new Set(world.model.requests.map(({ account }) => account))).toEqual(new Set(['acct-1']))
  })

  it('are not made at a place that is not the backend', async () => {
    const world = await AuthWorld.open({
      signedIn: { account: 'acct-1' },
      places: { baseUrl: 'https://user:secret@chatgpt.com/backend-api/' },
    })
    world.model.registrationReplies = [json(200, {})]
    const url = 'https://chatgpt.com/backend-api/x'
    const client = new BackendClient(world.context('dual_header'), world.http)
    const failure = await client.send({ ...EVENTS, url }).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'registration_failed', message: expect.stringContaining('secure endpoint') })
    expect(world.model.requests).toEqual([])
  })
})
