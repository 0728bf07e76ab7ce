import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  type Authorization,
  apiKeyCredential,
  BackendClient,
  carriesAuth,
  eligibilityOf,
  type HeaderField,
  layOut,
  PRODUCTION_BASE,
  type RequestLayout,
  type RuntimeAuthMode,
  selectionOf,
  withoutOwned,
} from '../../src/auth/index.js'
import { MCP_URL } from '../standins/backend-mcp.js'
import { AuthWorld, type AuthWorldOptions } from '../standins/backend-world.js'
import { listed, Modes, Record, runnable, titleOf, wantedOf } from './runtime-auth-cases.js'

const MODEL_URL = 'https://api.openai.com/v1/responses'
const ENV = z.record(z.string(), z.string()).default({})

function headersOf(authorization: Authorization): readonly HeaderField[] {
  if (authorization.kind === 'refused') throw authorization.error
  return authorization.headers
}

function keyLogin(env: Readonly<Record<string, string>> = {}): AuthWorldOptions {
  const key = apiKeyCredential('key-1', selectionOf(env))
  return { sources: [{ kind: 'environment', load: async () => key }], selection: selectionOf(env) }
}

describe('the order of headers', () => {
  const LAYOUTS: ReadonlyMap<string, RequestLayout> = new Map([
    ['mcp initialize', 'mcp_initialize'],
    ['mcp server/discover', 'mcp_discover'],
    ['mcp POST in a session', 'mcp_post'],
    ['codex_apps POST in a session', 'mcp_post'],
    ['mcp GET stream', 'mcp_get'],
    ['mcp DELETE', 'mcp_delete'],
    ['models', 'models'],
    ['connectors/directory/list', 'app_directory'],
    ['wham/accounts/check', 'accounts_check'],
    ['wham/usage', 'usage'],
    ['codex/analytics-events/events', 'analytics_events'],
    ['responses POST', 'responses'],
    ['responses websocket', 'responses_websocket'],
  ])
  const Input = z.looseObject({
    request: listed(z.string()),
    mode: Modes.default(['off']),
    subset: z.boolean().default(false),
    anyOrder: z.array(z.string()).default([]),
  })
  for (const one of runnable('headers')) {
    const { request, mode, subset, anyOrder } = Input.parse(one.input)
    const wanted = Record.parse(wantedOf(one))
    if (wanted.authorizationScheme !== undefined) {
      it(titleOf(one), async () => {
        const schemes: { [mode: string]: string | undefined } = {}
        for (const each of ['off', 'dual_header', 'assertion_only'] as const)
          schemes[each] = (await authFields(each))[0]?.[1].split(' ')[0]
        expect(schemes).toEqual(wanted.authorizationScheme)
      })
    } else if (wanted.absent !== undefined) {
      it(titleOf(one), () => carryNothing(z.array(z.string()).parse(wanted.absent)))
    } else {
      for (const each of mode)
        it(`${titleOf(one)}: ${each}`, async () => {
          const layout = LAYOUTS.get(request[0] ?? '')
          if (layout === undefined) throw new Error(`no layout for ${request}`)
          const names = z.array(z.string()).parse(wanted.names)
          const own = Object.fromEntries(names.map((name) => [name, 'x']))
          const laid = layOut(layout, { own, auth: await authFields(each) }).map(([name]) => name)
          const shown = subset ? laid.filter((name) => names.includes(name)) : laid
          expect(sorted(shown, anyOrder)).toEqual(sorted(names, anyOrder))
        })
    }
  }

  async function authFields(mode: RuntimeAuthMode) {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    return headersOf(await world.context(mode).connect('mcp').authorize({ method: 'POST', url: MCP_URL }))
  }

  /** Registration, renewal, revocation and storage; the others on the list are not ours to send. */
  async function carryNothing(absent: readonly string[]) {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    const client = new BackendClient(world.context('dual_header'), world.http)
    const { signal } = new AbortController()
    await client.send({ layout: 'file_create', method: 'POST', url: `${PRODUCTION_BASE}files`, headers: {}, signal })
    const put = { layout: 'storage_put', method: 'PUT', url: 'https://chatgpt.com/storage/put/1', headers: {} } as const
    await client.send({ ...put, signal })
    await world.manager.refresh()
    await world.manager.logout()
    const bare = ['/agent/register', '/oauth/token', '/oauth/revoke', '/storage/put/1']
    const sent = world.model.requests.filter(({ path }) => bare.includes(path))
    expect(sent.map(({ path }) => path).sort()).toEqual([...bare].sort())
    for (const { headers } of sent)
      for (const name of absent) expect(Object.fromEntries(headers)).not.toHaveProperty(name)
    expect(carriesAuth('storage_put')).toBe(false)
  }

  /** Names whose order among themselves is free stand in one order. */
  function sorted(names: readonly string[], free: readonly string[]): readonly string[] {
    const inOrder = names.filter((name) => free.includes(name)).sort()
    return names.map((name) => (free.includes(name) ? (inOrder.shift() ?? name) : name))
  }
})

describe('which request is eligible', () => {
  const Input = z.looseObject({
    mode: Modes,
    client: z.enum(['mcp', 'model', 'backend']),
    auth: z.literal('chatgpt').nullish(),
    url: listed(z.string()).default(['']),
    headers: z.record(z.string(), z.string()).default({}),
    login: z.string().optional(),
    chatgptBaseUrl: z.string().optional(),
    server: z.string().optional(),
  })
  for (const one of runnable('eligibility')) {
    const input = Input.parse(one.input)
    for (const mode of input.mode) {
      for (const given of input.url) {
        it(`${titleOf(one)}: ${mode} ${given}`, async () => {
          const wanted = Record.parse(wantedOf(one))
          const base = input.chatgptBaseUrl ?? PRODUCTION_BASE
          const url = given === '' ? `${base}plugins/list` : given
          const login = input.login === 'api key' ? keyLogin() : { signedIn: { account: 'acct-1' } }
          const world = await AuthWorld.open({ ...login, places: { baseUrl: base } })
          const headers = Object.entries(input.headers)
          const auth = input.server === 'codex_apps' ? 'chatgpt' : (input.auth ?? null)
          const server = { auth, environmentId: 'local', hasBearerVariable: false, headers }
          const eligible = input.client === 'mcp' ? eligibilityOf(server) : 'ours'
          const outcome: Authorization =
            eligible === 'ours'
              ? await world.context(mode).connect(input.client).authorize({ method: 'POST', url })
              : { kind: 'authorized', headers: [], redirects: 'same-origin' }
          if (outcome.kind === 'refused') {
            expect(wanted.sent).toBe(false)
            if (wanted.message !== undefined) expect(outcome.error.message).toBe(wanted.message)
            if (wanted.errorCode !== undefined) expect(outcome.error.code).toBe(wanted.errorCode)
            return expect(world.model.requests).toEqual([])
          }
          expect(wanted.sent ?? true).toBe(true)
          const names = outcome.headers.map(([name]) => name)
          const sent = Object.fromEntries(outcome.headers)
          expect(names.includes('authorization')).toBe(wanted.auth)
          const isAsserted = sent.authorization?.startsWith('AgentAssertion ') || 'x-openai-agent-assertion' in sent
          if (wanted.assertion !== undefined) expect(isAsserted).toBe(wanted.assertion)
          if (wanted.authorizationScheme !== undefined)
            expect(sent.authorization?.split(' ')[0]).toBe(wanted.authorizationScheme)
          if (wanted.accountHeader === 'of the token') expect(sent['chatgpt-account-id']).toBe('acct-1')
          if (wanted.authorization !== undefined)
            expect({ eligible, ...input.headers }).toEqual({ eligible: 'own', Authorization: wanted.authorization })
        })
      }
    }
  }

  it('never is for a server of an executor, nor beside a bearer variable', () => {
    const facts = { auth: 'chatgpt', environmentId: 'devbox', hasBearerVariable: false, headers: [] } as const
    expect(eligibilityOf(facts)).toBe('none')
    expect(eligibilityOf({ ...facts, environmentId: 'local', hasBearerVariable: true })).toBe('own')
  })
})

describe('configured headers', () => {
  const Input = z.looseObject({ mode: Modes, headers: z.record(z.string(), z.string()) })
  for (const one of runnable('configuredHeaders')) {
    it(titleOf(one), async () => {
      const { mode: modes, headers } = Input.parse(one.input)
      const [mode = 'off'] = modes
      const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
      const configured = Object.entries(headers)
      const server = { auth: 'chatgpt', environmentId: 'local', hasBearerVariable: false, headers: configured } as const
      const isOurs = eligibilityOf(server) === 'ours'
      const auth = world.context(mode).connect('mcp')
      const given = isOurs ? headersOf(await auth.authorize({ method: 'POST', url: MCP_URL })) : []
      // As transports do: a later field replaces an earlier one where that stands.
      const laid = [...(isOurs ? withoutOwned(configured, mode) : configured), ...given]
      const arrived = new Map(laid.map(([name, value]) => [name.toLowerCase(), value]))
      const bearer = `Bearer ${bearerOf(world)}`
      for (const [name, value] of Object.entries(Record.parse(wantedOf(one)))) {
        const shown = arrived
          .get(name)
          ?.replace(bearer, 'Bearer token-1')
          .replace(/1\.\S+$/, '<value>')
        expect(shown ?? null).toBe(value)
      }
      // What replaces a configured field keeps its early place.
      if (isOurs) expect([...arrived.keys()][0]).toBe('chatgpt-account-id')
    })
  }

  function bearerOf(world: AuthWorld): string {
    const { credential } = world.signedIn()
    return credential.kind === 'chatgpt' ? credential.accessToken : ''
  }
})

describe('the account', () => {
  const Input = z.looseObject({
    mode: Modes,
    login: z.string().optional(),
    tokenAccount: z.string().optional(),
    actor: z.record(z.string(), z.string()).optional(),
    env: ENV,
  })
  for (const one of runnable('account')) {
    it(titleOf(one), async () => {
      const { mode: modes, login, tokenAccount = 'acct-1', actor, env } = Input.parse(one.input)
      const [mode = 'off'] = modes
      const wanted = Record.parse(wantedOf(one))
      const world = await AuthWorld.open(login === 'api key' ? keyLogin(env) : { signedIn: { account: tokenAccount } })
      world.model.actor = actor
      const connection = world.context(mode).connect('model')
      const sent = Object.fromEntries(headersOf(await connection.authorize({ method: 'POST', url: MODEL_URL })))
      expect(sent['chatgpt-account-id'] ?? null).toBe(wanted.firstParty)
      if (wanted.headers !== undefined) expect(sent).toMatchObject(Record.parse(wanted.headers))
      if (wanted.authorizationScheme !== undefined)
        expect(sent.authorization?.split(' ')[0]).toBe(wanted.authorizationScheme)
      if (wanted.otherProvider === undefined) return
      const elsewhere = await connection.authorize({ method: 'POST', url: 'https://models.example.test/v1' })
      // An assertion can't go there, and in that mode nothing else may (known-quirks 62).
      if (wanted.otherProvider === null) expect(elsewhere).toMatchObject({ error: { code: 'assertion_not_possible' } })
      else expect(Object.fromEntries(headersOf(elsewhere))['chatgpt-account-id']).toBe(wanted.otherProvider)
    })
  }

  for (const one of runnable('fedramp')) {
    it(titleOf(one), async () => {
      const { mode: modes, claim } = z.looseObject({ mode: Modes, claim: z.boolean() }).parse(one.input)
      const [mode = 'off'] = modes
      const wanted = Record.parse(wantedOf(one))
      const world = await AuthWorld.open({ signedIn: { account: 'acct-1', fedramp: claim } })
      const sent = headersOf(await world.context(mode).connect('mcp').authorize({ method: 'POST', url: MCP_URL }))
      const at = sent.findIndex(([name]) => name === 'x-openai-fedramp')
      expect(sent[at]?.[1] ?? null).toBe(wanted['x-openai-fedramp'])
      if (wanted.after !== undefined) expect(sent[at - 1]?.[0]).toBe(wanted.after)
    })
  }
})

describe('uploads', () => {
  for (const one of runnable('uploads')) {
    // Whole uploads: runtime-auth-uploads.test.ts.
    if (one.input.storageUrl === undefined) continue
    it(titleOf(one), async () => {
      const { mode: modes, storageUrl } = z.looseObject({ mode: Modes, storageUrl: z.string() }).parse(one.input)
      const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
      const client = new BackendClient(world.context(modes[0] ?? 'off'), world.http)
      const headers = { 'x-ms-blob-type': 'BlockBlob', 'chatgpt-account-id': 'acct-1' }
      const { signal } = new AbortController()
      await client.send({ layout: 'storage_put', method: 'PUT', url: storageUrl, headers, body: 'abc', signal })
      const names = world.model.requests[0]?.headers.map(([name]) => name)
      expect({ storagePutAuthHeaders: names?.filter((name) => name !== 'x-ms-blob-type') }).toEqual(wantedOf(one))
    })
  }
})
