import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  type AuthHttp,
  apiKeyCredential,
  type Credential,
  firstPartyIssuer,
  hostTokensSource,
  PRODUCTION_BASE,
  personalTokenCredential,
  type RuntimeAuthMode,
  selectionOf,
  sessionOf,
} from '../../src/auth/index.js'
import { runtimeKeyFromSeed } from '../../src/auth/runtime/key-pair.js'
import { Registration } from '../../src/auth/runtime/registration.js'
import { type Backend, startBackend } from '../standins/backend.js'
import { MCP_URL, McpConnection } from '../standins/backend-mcp.js'
import { type BackendReply, json } from '../standins/backend-model.js'
import { AuthWorld, type AuthWorldOptions, INSTALLATION, ManualClock } from '../standins/backend-world.js'
import { isWording, Record, runnable, titleOf, wantedOf } from './runtime-auth-cases.js'

const SEED = '676f6c64656e2d766563746f722d736565642d666f722d72756e74696d652d31'
const MODEL_URL = 'https://api.openai.com/v1/responses'

/** A backend over TLS, and a client that reaches it under the real names. */
async function reached(work: (backend: Backend, http: AuthHttp) => Promise<void>): Promise<void> {
  await using backend = await startBackend()
  await work(backend, backend.http)
}

const CredentialShape = z.union([
  z.looseObject({ kind: z.enum(['chatgpt', 'chatgptAuthTokens']), accessToken: z.string() }),
  z.looseObject({ kind: z.literal('apiKey'), key: z.string() }),
  z.looseObject({ kind: z.literal('personalAccessToken'), token: z.string() }),
])

describe('registration requests', () => {
  const Input = z.looseObject({
    credential: z.union([CredentialShape, z.literal('same'), z.literal('refreshed'), z.null()]).optional(),
    env: z.record(z.string(), z.string()).default({}),
    chatgptBaseUrl: z.string().optional(),
    operation: z.string().optional(),
    sequence: z.array(z.string()).optional(),
    parallelFirstRequests: z.number().optional(),
    threads: z.array(z.string()).optional(),
    processes: z.number().optional(),
  })

  for (const one of runnable('registrationRequest')) {
    it(titleOf(one), () =>
      reached(async (backend, http) => {
        const input = Input.parse(one.input)
        const wanted = Record.parse(wantedOf(one))
        const { model } = backend
        if (input.operation !== undefined) return operation(input, wanted, { model, http })
        if (input.sequence !== undefined) return sequence(input.sequence, wanted, { model, http })
        if (input.parallelFirstRequests !== undefined || input.threads !== undefined) {
          const world = await AuthWorld.open({ model, http, signedIn: { account: 'acct-1' } })
          const modes = (input.threads ?? []).map((name) => modeNamed(name))
          const all = input.threads === undefined ? Array.from({ length: 5 }, () => 'dual_header' as const) : modes
          const done = all.map((mode) => McpConnection.to(world.context(mode), http).operate('initialize'))
          expect((await Promise.all(done)).map(({ status }) => status)).toEqual(all.map(() => 200))
          return expect({ registrations: model.registrations.length }).toEqual(wanted)
        }
        if (input.processes !== undefined) {
          const first = await AuthWorld.open({ model, http, signedIn: { account: 'acct-1' } })
          await McpConnection.to(first.context('dual_header'), http).operate('initialize')
          const second = await AuthWorld.open({ model, http })
          await second.storage.save((await first.storage.load()) ?? {})
          await second.manager.reload()
          await McpConnection.to(second.context('dual_header'), http).operate('initialize')
          const keys = new Set(model.registrations.map(({ key }) => key))
          return expect({ registrations: model.registrations.length, sameKey: keys.size === 1 }).toEqual(wanted)
        }
        const credential = CredentialShape.safeParse(input.credential).data
        const places = { baseUrl: input.chatgptBaseUrl ?? PRODUCTION_BASE }
        const registration = new Registration(
          {
            issuer: firstPartyIssuer(),
            places,
            http,
            clock: new ManualClock(),
            installationId: INSTALLATION,
            newKey: () => runtimeKeyFromSeed(Buffer.from(SEED, 'hex')),
          },
          await credentialOf(credential, input.env),
        )
        const outcome = await registration.obtain().catch((error: unknown) => error)
        const [sent] = model.requests
        if (wanted.sent === false) {
          expect(sent).toBeUndefined()
          return expect(outcome).toMatchObject({ code: 'registration_failed', message: wanted.message })
        }
        expect(outcome).toMatchObject({ registration: { hostId: 'host-1' } })
        expectRequest(sent, wanted)
      }),
    )
  }

  const modeNamed = (name: string): RuntimeAuthMode => (name === 'assertion_only' ? name : 'dual_header')

  function expectRequest(
    sent:
      | { host: string; path: string; method: string; headers: readonly (readonly [string, string])[]; body: string }
      | undefined,
    wanted: z.infer<typeof Record>,
  ) {
    if (wanted.bodyText !== undefined) expect(sent?.body).toBe(wanted.bodyText)
    if (wanted.url !== undefined) expect(`https://${sent?.host}${sent?.path}`).toBe(wanted.url)
    if (wanted.headers === undefined) return
    const own = (sent?.headers ?? []).filter(([name]) => !['host', 'connection', 'content-length'].includes(name))
    const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
    const shown = own.map(([name, value]) => [
      name,
      name === 'idempotency-key' && uuid.test(value) ? '<uuid-v4>' : value,
    ])
    expect(sent?.method).toBe(wanted.method)
    expect(shown).toEqual(Object.entries(Record.parse(wanted.headers)))
    for (const name of z.array(z.string()).parse(wanted.absentHeaders))
      expect(Object.fromEntries(own)).not.toHaveProperty(name)
  }

  async function operation(input: z.infer<typeof Input>, wanted: z.infer<typeof Record>, on: AuthWorldOptions) {
    const selection = selectionOf(input.env)
    const world = await AuthWorld.open({
      ...on,
      selection,
      ...(input.credential !== null && { signedIn: { account: 'acct-1' } }),
    })
    const isMcp = input.operation === 'mcp connect'
    const auth = world.context('dual_header').connect(isMcp ? 'mcp' : 'model')
    const outcome = await auth.authorize({ method: 'POST', url: isMcp ? MCP_URL : MODEL_URL })
    expect(world.model.registrations).toEqual([])
    if (isMcp) expect(outcome).toMatchObject({ kind: 'authorized', headers: wanted.mcpAuthHeaders })
    else expect(outcome).toMatchObject({ kind: 'refused', error: { message: wanted.message } })
    // A server goes on where the model can't.
    if (!isMcp && input.credential !== null) {
      const mcp = await world.context('dual_header').connect('mcp').authorize({ method: 'POST', url: MCP_URL })
      expect(mcp.kind).toBe('authorized')
    }
  }

  async function sequence([first]: readonly string[], wanted: z.infer<typeof Record>, on: AuthWorldOptions) {
    const world = await AuthWorld.open({ ...on, signedIn: { account: 'acct-1' } })
    if (first === 'fail 500') world.model.registrationReplies = [{ status: 500 }]
    const begin = () => McpConnection.to(world.context('dual_header'), world.http).operate('initialize')
    if (first === 'fail 500') await expect(begin()).rejects.toThrow('rejected (500')
    else await begin()
    world.clock.advance(60_000)
    if (first !== 'fail 500') await world.manager.refresh()
    await begin()
    const [one, two] = world.model.registrations
    const installation = (body = '') =>
      z.looseObject({ agent_host_auth: z.unknown() }).parse(JSON.parse(body)).agent_host_auth
    expect({
      sameKey: one?.key === two?.key,
      sameIdempotencyKey: one?.idempotencyKey === two?.idempotencyKey,
      sameInstallationId: JSON.stringify(installation(one?.body)) === JSON.stringify(installation(two?.body)),
    }).toMatchObject(wanted)
  }

  async function credentialOf(
    given: z.infer<typeof CredentialShape> | undefined,
    env: Readonly<Record<string, string>>,
  ): Promise<Credential> {
    switch (given?.kind) {
      case 'apiKey':
        return apiKeyCredential(given.key, selectionOf(env))
      case 'personalAccessToken':
        return personalTokenCredential(given.token)
      case 'chatgptAuthTokens': {
        const host = await hostTokensSource({ accessToken: given.accessToken, accountId: 'acct-1' }).load()
        if (host === null) throw new Error('no credential')
        return host
      }
      default:
        return sessionOf({ accessToken: given?.accessToken ?? 'token-1' })
    }
  }
})

describe('registration replies', () => {
  const Input = z.looseObject({
    login: z.string().optional(),
    env: z.record(z.string(), z.string()).default({}),
    status: z.number().default(200),
    contentType: z.string().default('application/json'),
    body: Record.optional(),
    bodyText: z.string().optional(),
    omit: z.array(z.string()).default(['']),
  })
  for (const one of runnable('registrationReply')) {
    const input = Input.parse(one.input)
    for (const omit of input.omit) {
      it(omit === '' ? titleOf(one) : `${titleOf(one)}: ${omit}`, () =>
        reached(async ({ model }, http) => {
          const wanted = Record.parse(wantedOf(one))
          const selection = selectionOf(input.env)
          const key = apiKeyCredential('key-1', selection)
          const isKey = input.login === 'api key'
          const keyed = { kind: 'environment', load: async () => key } as const
          const login = isKey ? { sources: [keyed] } : { signedIn: { account: 'acct-1' } }
          const world = await AuthWorld.open({ model, http, selection, ...login })
          const body = input.bodyText ?? JSON.stringify(without(input.body ?? {}, omit))
          model.registrationReplies = [{ status: input.status, headers: { 'content-type': input.contentType }, body }]
          const auth = world.context('dual_header').connect('model')
          const outcome = await auth.authorize({ method: 'POST', url: MODEL_URL })
          const atUse = Record.optional().parse(wanted.atUse)
          if (wanted.accepted === false || atUse !== undefined) {
            const message = atUse?.message ?? wanted.message
            expect(outcome).toMatchObject({ kind: 'refused', error: { message, sent: false } })
            const isKept = outcome.kind === 'refused' && outcome.error.code !== 'registration_failed'
            return expect(isKept).toBe(wanted.accepted)
          }
          if (outcome.kind === 'refused') throw outcome.error
          if (wanted.accountHeader !== undefined)
            expect(outcome.headers.find(([name]) => name === 'chatgpt-account-id')?.[1] ?? null).toBe(
              wanted.accountHeader,
            )
          expect(model.registrations).toHaveLength(1)
        }),
      )
    }
  }

  function without(body: z.infer<typeof Record>, path: string) {
    const copy = structuredClone(body)
    const [first = '', second] = path.split('.')
    if (second === undefined) delete copy[first]
    else delete Record.parse(copy[first])[second]
    return second === undefined ? copy : { ...copy, [first]: omitted(copy[first], second) }
  }

  function omitted(value: unknown, member: string) {
    const { [member]: _, ...rest } = Record.parse(value)
    return rest
  }
})

describe('registration failures', () => {
  const Reply = z.looseObject({
    status: z.number().optional(),
    code: z.string().optional(),
    body: z.unknown().optional(),
    bodyText: z.string().optional(),
    drop: z.boolean().optional(),
    silentSeconds: z.number().optional(),
    location: z.string().optional(),
  })
  const Input = z.looseObject({
    replies: z.array(Reply),
    lastRepeats: z.boolean().default(false),
    operations: z.number(),
    refresh: z.string().optional(),
    thenCredential: z.string().optional(),
  })

  for (const one of runnable('registrationFailure').filter((each) => !isWording(each))) {
    it(titleOf(one), () =>
      reached(async ({ model, origin }, http) => {
        const input = Input.parse(one.input)
        const world = await AuthWorld.open({ model, http, signedIn: { account: 'acct-1' } })
        model.registrationReplies = input.replies.map((reply) => scripted(reply, origin))
        model.lastRepeats = input.lastRepeats
        const context = world.context('dual_header')
        const messages: (string | undefined)[] = []
        let waits = 0
        const operate = async () => {
          const running = context.connect('mcp').authorize({ method: 'POST', url: MCP_URL, rpcMethod: 'tools/call' })
          if (input.replies[0]?.silentSeconds !== undefined && messages.length === 0) {
            while (model.registrations.length === 0) await new Promise((resolve) => setImmediate(resolve))
            expect(world.clock.pending()).toContain(30_000)
            world.clock.advance(30_000)
          }
          const outcome = await running
          messages.push(outcome.kind === 'refused' ? outcome.error.message : undefined)
          return outcome
        }
        for (let at = 0; at < input.operations; at += 1) {
          const before = model.registrations.length
          const outcome = await operate()
          const retryAtMs = outcome.kind === 'refused' ? outcome.error.data?.retryAtMs : undefined
          if (typeof retryAtMs !== 'number') continue
          // During the wait operations fail at once, with the same error.
          const early = model.registrations.length
          await operate()
          expect(model.registrations.length).toBe(early)
          expect(early - before).toBeGreaterThan(0)
          waits += 1
          world.clock.advance(retryAtMs - world.clock.wall())
        }
        if (input.thenCredential !== undefined) {
          await world.manager.refresh()
          await operate()
        }
        const keys = new Set(model.registrations.map(({ key }) => key)).size
        const idempotencyKeys = new Set(model.registrations.map(({ idempotencyKey }) => idempotencyKey)).size
        const attempts = model.requests.flatMap(({ path }) => {
          if (path === '/agent/register') return ['register']
          return path === '/oauth/token' ? [`refresh ${model.refreshes[0]?.reason}`] : []
        })
        const facts = {
          registrations: model.registrations.length,
          keys,
          idempotencyKeys,
          refreshes: model.refreshes.length,
          firstPartyRequests: model.requests.filter(({ host }) => host === 'chatgpt.com').length,
          message: messages.find((message) => message !== undefined),
          sequence: attempts,
          outcome: messages.at(-1) === undefined ? 'ok' : 'failed',
          redirectsFollowed: model.requests.filter(({ path }) => path === '/elsewhere').length,
          timeoutSeconds: 30,
          // Every attempt was one operation's, and the next one waited for its time.
          inFlight: 1,
          backoff: waits > 0 ? 'exponential, full jitter' : 'none',
          operationsDuringWait: waits > 0 ? 'fail at once with the last error' : 'none',
        }
        const { sticky, ...wanted } = Object.fromEntries(
          Object.entries(Record.parse(wantedOf(one))).filter(([name]) => name !== 'then'),
        )
        expect(facts).toMatchObject(wanted)
        const isSticky = messages.filter((message) => message !== undefined).length > 1 && waits === 0
        if (sticky !== undefined) expect(isSticky).toBe(sticky)
      }),
    )
  }

  function scripted(reply: z.infer<typeof Reply>, origin: string): BackendReply {
    if (reply.drop) return { status: 0, fault: 'drop' }
    if (reply.silentSeconds !== undefined) return { status: 0, fault: 'silent' }
    const { status = 200, code, body, bodyText, location } = reply
    if (bodyText !== undefined) return { status, body: bodyText }
    const target = location === 'other origin' ? 'https://other.example.test/elsewhere' : `${origin}/elsewhere`
    if (location !== undefined) return { status, headers: { location: target } }
    if (body !== undefined) return json(status, body)
    return status === 200 ? { status } : json(status, code === undefined ? {} : { error: { code } })
  }

  it('waits longer after each failure, and for as long as the server asks', async () => {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    world.model.registrationReplies = [{ status: 503 }]
    world.model.lastRepeats = true
    const context = world.context('dual_header')
    const delays: number[] = []
    for (let at = 0; at < 10; at += 1) {
      const outcome = await context.connect('mcp').authorize({ method: 'POST', url: MCP_URL })
      const until = outcome.kind === 'refused' ? Number(outcome.error.data?.retryAtMs) : 0
      delays.push(until - world.clock.wall())
      world.clock.advance(until - world.clock.wall())
    }
    expect(delays).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300].map((seconds) => seconds * 1000))
    world.model.registrationReplies = [{ status: 429, headers: { 'retry-after': '1000' } }]
    const asked = await context.connect('mcp').authorize({ method: 'POST', url: MCP_URL })
    expect(asked).toMatchObject({ error: { data: { retryAtMs: world.clock.wall() + 1_000_000 } } })
  })

  it('keeps one registration for all who wait, whatever becomes of it', async () => {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    world.model.registrationReplies = [{ status: 500 }]
    const context = world.context('assertion_only')
    const all = Array.from({ length: 20 }, () => context.connect('mcp').authorize({ method: 'POST', url: MCP_URL }))
    expect(new Set((await Promise.all(all)).map(({ kind }) => kind))).toEqual(new Set(['refused']))
    expect(world.model.registrations).toHaveLength(1)
  })
})
