import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/auth/index.js'
import { hostTokensSource, Reeve, sessionOf, type Thread } from '../../src/reeve.js'
import { eventually } from '../fixtures/stdio/running.js'
import { json } from '../standins/backend-model.js'
import {
  type BackendRuntime,
  type BackendRuntimeOptions,
  HUB,
  schemes,
  startBackendRuntime,
} from '../standins/backend-runtime.js'

const RUNTIME_MODES = ['dual_header', 'assertion_only'] as const
const call = { ...HUB, tool: 't', arguments: {} }

const seconds = () => Math.floor(Date.now() / 1000)

/** Signed in with a token that the next use finds about to end, once `age` was called. */
async function ageing(options: BackendRuntimeOptions) {
  let later = 0
  const clock = { ...systemClock, wall: () => Date.now() + later }
  const world = await startBackendRuntime({ ...options, account: null, firstParty: { clock } })
  const { model } = world.backend
  await world.reeve.auth?.login(sessionOf(model.issue({ account: 'acct-1', user: 'user-1', exp: seconds() + 1000 })))
  model.nextToken = { exp: seconds() + 100_000 }
  const age = () => {
    later = 900_000
  }
  return { world, age }
}

describe('a credential that changes under an operation', () => {
  it.each(RUNTIME_MODES)('leaves a call unsent, which may be made again: %s', async (mode) => {
    const { world, age } = await ageing({ mode })
    await using _ = world
    const { model } = world.backend
    const thread = await world.thread()
    await thread.callTool(call)
    age()
    await expect(thread.callTool(call)).rejects.toMatchObject({
      code: 'credentials_changed_not_sent',
      message: 'Client error: request auth build error: credentials changed during runtime registration; try again',
      key: { name: 'hub', environment: null },
    })
    expect(model.refreshes).toEqual([{ reason: 'proactive_expiry' }])
    expect(world.sent('tools/call')).toHaveLength(1)
    await thread.callTool(call)
    expect(world.sent('tools/call')).toHaveLength(2)
    expect(model.registrations).toHaveLength(2)
    expect(model.violations).toEqual([])
  })

  it.each([
    ['a read', (thread: Thread) => thread.resources.read({ ...HUB, uri: 'x:1' })],
    ['a call that is declared idempotent', (thread: Thread) => thread.callTool({ ...call, tool: 'again' })],
  ] as const)('is repeated once when it is %s', async (_what, operate) => {
    const { world, age } = await ageing({ mode: 'assertion_only' })
    await using _ = world
    const thread = await world.thread()
    await thread.callTool(call)
    age()
    await operate(thread)
    expect(world.backend.model.registrations).toHaveLength(2)
    expect(world.sent('initialize')).toHaveLength(2)
    expect(world.backend.model.violations).toEqual([])
  })

  it('is nothing that a thread without assertions notices', async () => {
    const { world, age } = await ageing({})
    await using _ = world
    const thread = await world.thread()
    await thread.callTool(call)
    age()
    await thread.callTool(call)
    expect(world.backend.model.refreshes).toHaveLength(1)
    expect(world.sent('initialize')).toHaveLength(1)
  })
})

describe('a registration that fails', () => {
  it.each(RUNTIME_MODES)('keeps servers down, in its own words, and sends no bearer instead: %s', async (mode) => {
    await using world = await startBackendRuntime({ mode })
    world.backend.model.registrationReplies = [json(403, { error: { code: 'no' } })]
    const thread = await world.thread()
    await expect(thread.callTool(call)).rejects.toMatchObject({
      code: 'startup_failed',
      message: expect.stringContaining(
        'MCP startup failed: runtime registration rejected (403 Forbidden, Some(Unknown))',
      ),
      data: { code: 'registration_failed', status: 403 },
    })
    expect(world.sent()).toEqual([])
    // Another credential is tried anew.
    await world.signIn('acct-1')
    await thread.callTool(call)
  })

  it('is told by a live server with the operation that it kept back', async () => {
    const { world, age } = await ageing({ mode: 'dual_header' })
    await using _ = world
    const { model } = world.backend
    const thread = await world.thread()
    await thread.callTool(call)
    age()
    model.registrationReplies = [json(403, { error: { code: 'no' } })]
    await expect(thread.callTool(call)).rejects.toMatchObject({ code: 'credentials_changed_not_sent' })
    await expect(thread.callTool(call)).rejects.toMatchObject({
      code: 'registration_failed',
      message: 'Client error: request auth build error: runtime registration rejected (403 Forbidden, Some(Unknown))',
    })
    expect(world.sent('tools/call')).toHaveLength(1)
  })
})

describe('the stage of the backend', () => {
  it('is that of every server, before anything is signed', async () => {
    const places = { baseUrl: 'https://chatgpt-staging.com/backend-api/' }
    await using world = await startBackendRuntime({ mode: 'dual_header', firstParty: { places } })
    const thread = await world.thread()
    await expect(thread.callTool(call)).rejects.toMatchObject({
      data: { code: 'runtime_environment_mismatch' },
      message: expect.stringContaining('the same production or staging environment'),
    })
    expect(world.backend.model.requests).toEqual([])
  })
})

describe('tokens of the host', () => {
  it('stay through every reload, and their refresh is the host’s', async () => {
    await using world = await startBackendRuntime({ mode: 'dual_header' })
    const { model } = world.backend
    const asked: unknown[] = []
    const tokens = () => model.issue({ account: 'acct-9', user: 'user-9' })
    const host = hostTokensSource(tokens(), async (request) => {
      asked.push(request)
      return tokens()
    })
    const thread = await world.thread()
    await world.reeve.auth?.installHost(host)
    const record = join(world.home, 'auth.json')
    const before = await readFile(record, 'utf8')
    await thread.callTool(call)
    await writeFile(record, before.replace('acct-1', 'acct-1'))
    await world.reeve.auth?.reload()
    await world.reeve.reload()
    await thread.callTool(call)
    model.rpcReplies.set('resources/read', [{ status: 401, headers: { 'www-authenticate': 'Bearer' } }])
    await thread.resources.read({ ...HUB, uri: 'x:1' })
    expect(asked).toEqual([{ reason: 'unauthorized', previousAccountId: 'acct-9' }])
    const accounts = world.sent('tools/call').map(({ account }) => account)
    expect(accounts).toEqual(['acct-9', 'acct-9'])
    await world.reeve.auth?.logout()
    expect(await readFile(record, 'utf8')).toBe(before)
    expect(model.violations).toEqual([])
  })
})

describe('a server that is not the account’s to use', () => {
  it.each([
    ['brings its own Authorization', 'http_headers = { Authorization = "Basic own" }', 'Basic'],
    ['names a bearer variable', 'bearer_token_env_var = "REEVE_HOME"', 'Bearer'],
  ])('is left alone when it %s', async (_what, serverConfig, scheme) => {
    await using world = await startBackendRuntime({ mode: 'assertion_only', serverConfig })
    const thread = await world.thread()
    await thread.callTool(call)
    expect(new Set(schemes(world.sent()))).toEqual(new Set([scheme]))
    expect(new Set(world.sent().map(({ account }) => account))).toEqual(new Set([null]))
    expect(world.backend.model.registrations).toEqual([])
  })
})

describe('a logout of another process', () => {
  it('counts here too', async () => {
    await using world = await startBackendRuntime({ mode: 'dual_header' })
    const { home, env, backend, reeve } = world
    const firstParty = { route: backend.route }
    const configFiles = [join(home, 'config.toml')]
    await using other = await Reeve.open({
      home,
      env,
      cwd: home,
      configFiles,
      credentials: { from: 'home' },
      firstParty,
    })
    const thread = await other.startThread({ ...(other.auth && { auth: other.auth }) })
    await thread.callTool(call)
    const gone = new Promise<void>((resolve) => {
      other.auth?.subscribe(({ after }) => after.state === 'signed_out' && resolve())
    })
    await reeve.auth?.logout()
    await gone
    await expect(thread.callTool(call)).rejects.toThrow('signed out')
    expect(backend.model.violations).toEqual([])
  })
})

/** Another runtime of the home, as a gateway that runs for long. */
async function another({ home, env, backend }: BackendRuntime) {
  return Reeve.open({
    home,
    env,
    cwd: home,
    configFiles: [join(home, 'config.toml')],
    credentials: { from: 'home' },
    firstParty: { route: backend.route },
  })
}

const accountOf = ({ auth }: Reeve) => {
  const now = auth?.current()
  return now?.state === 'signed_in' ? now.identity.accountId : now?.state
}

describe('a login of another process', () => {
  it('counts here once nobody is signed in any more', async () => {
    await using world = await startBackendRuntime({})
    await using gateway = await another(world)
    await world.reeve.auth?.logout()
    await eventually(() => expect(accountOf(gateway)).toBe('signed_out'))
    await world.signIn('acct-2')
    await eventually(() => expect(accountOf(gateway)).toBe('acct-2'))
    const thread = await gateway.startThread({ ...(gateway.auth && { auth: gateway.auth }) })
    await thread.callTool(call)
    expect(world.sent('tools/call').map(({ account }) => account)).toEqual(['acct-2'])
    expect(world.backend.model.violations).toEqual([])
  })

  it('is not what a record says that was there before a logout, nor a refresh of it', async () => {
    await using world = await startBackendRuntime({})
    await using gateway = await another(world)
    await world.signIn('acct-2')
    expect(accountOf(gateway)).toBe('acct-1')
    await gateway.auth?.logout()
    const looked = new Promise<void>((resolve) => {
      const kept = gateway.auth?.kept.bind(gateway.auth)
      if (gateway.auth && kept)
        gateway.auth.kept = async () => {
          const found = await kept()
          resolve()
          return found
        }
    })
    await world.reeve.auth?.refresh()
    await looked
    await eventually(() => expect(accountOf(gateway)).toBe('signed_out'))
    // It is one when somebody else logs in.
    await world.signIn('acct-3')
    await eventually(() => expect(accountOf(gateway)).toBe('acct-3'))
    expect(world.sent()).toEqual([])
  })
})

describe('a host that closes', () => {
  it('keeps what a refresh brings that is under way', async () => {
    const world = await startBackendRuntime({ mode: 'dual_header' })
    await using _ = world
    const record = join(world.home, 'auth.json')
    const before = await readFile(record, 'utf8')
    const refreshed = world.reeve.auth?.refresh()
    await world.reeve.close()
    expect(await readFile(record, 'utf8')).not.toBe(before)
    await expect(refreshed).resolves.toBe('changed')
  })

  it('writes nothing into its home afterwards', async () => {
    const world = await startBackendRuntime({ mode: 'dual_header' })
    await using _ = world
    await world.thread()
    await world.reeve.close()
    const names = await readdir(world.home)
    expect(names.filter((name) => name.endsWith('.tmp'))).toEqual([])
    await turns(50)
    expect(await readdir(world.home)).toEqual(names)
  })
})

async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await new Promise((resolve) => setImmediate(resolve))
}

describe('the configuration', () => {
  it('says where the login is kept', async () => {
    await using world = await startBackendRuntime({ config: 'cli_auth_credentials_store = "ephemeral"' })
    expect(world.reeve.problems).toEqual([])
    expect(accountOf(world.reeve)).toBe('acct-1')
    expect(await readdir(world.home)).not.toContain('auth.json')
    await using other = await another(world)
    expect(accountOf(other)).toBe('never')
  })

  it('that names an unknown mode is told, and means nothing less than assertions', async () => {
    const config = '[features.runtime_agent_instances]\nenabled = true\nmode = "sometimes"\n'
    await using world = await startBackendRuntime({ config })
    expect(world.reeve.problems).toMatchObject([
      {
        severity: 'error',
        code: 'invalid_feature',
        message: 'data did not match any variant of untagged enum FeatureToml',
        path: ['features', 'runtime_agent_instances'],
      },
    ])
    const thread = await world.thread()
    await thread.callTool(call)
    expect(new Set(schemes(world.sent()))).toEqual(new Set(['AgentAssertion']))
  })
})
