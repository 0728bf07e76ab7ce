import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { AuthManager, hostTokensSource, Reeve, type Thread, type ThreadOptions } from '../../src/reeve.js'
import { openStore } from '../../src/store/index.js'
import { notesToml } from '../fixtures/threads/thread-world.js'
import { deliveriesIn, EVENTS, eventsOf } from '../standins/backend-analytics.js'
import type { SeenRequest } from '../standins/backend-model.js'
import {
  assertionIds,
  type BackendRuntime,
  type BackendRuntimeOptions,
  schemes,
  startBackendRuntime,
} from '../standins/backend-runtime.js'
import { ManualClock } from '../standins/backend-world.js'

const MODES = ['off', 'dual_header', 'assertion_only'] as const
const ON = { enabled: true }
const SECRET = 'an argument that is nobody’s business'

function start(options: BackendRuntimeOptions = {}) {
  return startBackendRuntime({ analytics: ON, ...options })
}

/** Calls of a model in this thread. */
async function call(thread: Thread, times = 1, named = 't'): Promise<void> {
  const step = await thread.step({ wait: 'all', turn: { metadata: { turn_id: 'turn-1' } } })
  const tool = step.tools.find(({ tool: name }) => name === named)
  if (tool === undefined) throw new Error('no tool')
  const { namespace, name } = tool
  for (let made = 0; made < times; made += 1) await step.call({ namespace, name, arguments: { q: SECRET } })
}

function rows(home: string): number {
  using store = openStore(join(home, 'state.sqlite'))
  return store.analytics.count()
}

function names({ headers }: SeenRequest): readonly string[] {
  const transport = new Set(['host', 'connection', 'content-length'])
  return headers.map(([name]) => name).filter((name) => !transport.has(name))
}

/** Somebody who is signed in beside whoever the runtime knows. */
async function actor(world: BackendRuntime, account: string): Promise<AuthManager> {
  const { accessToken } = world.backend.model.issue({ account, user: account.replace('acct', 'user') })
  const host = hostTokensSource({ accessToken, accountId: account })
  return AuthManager.open({ sources: [], host, clock: new ManualClock() })
}

/** Another process on the same home, as far as anything shows. */
async function restarted(world: BackendRuntime, options: BackendRuntimeOptions = {}): Promise<Reeve> {
  await world.reeve.close()
  const { home, env, backend } = world
  const configFiles = [join(home, 'config.toml')]
  const firstParty = { route: backend.route }
  return Reeve.open({ home, env, cwd: home, configFiles, analytics: ON, ...options, firstParty })
}

describe('calls of a model', () => {
  it.each(MODES)('are told once each, in one batch, with the auth of their thread: %s', async (mode) => {
    await using world = await start({ mode })
    const thread = await world.thread()
    await call(thread, 3)
    expect(deliveriesIn(world.backend.model)).toEqual([])
    await thread.close()
    const [delivery, ...more] = deliveriesIn(world.backend.model)
    if (delivery === undefined) throw new Error('not delivered')
    expect(more).toEqual([])
    const xaa = mode === 'dual_header' ? ['x-openai-agent-assertion'] : []
    expect(names(delivery)).toEqual([
      'authorization',
      ...xaa,
      'chatgpt-account-id',
      'content-type',
      'originator',
      'user-agent',
      'accept',
    ])
    expect(schemes([delivery])).toEqual([mode === 'assertion_only' ? 'AgentAssertion' : 'Bearer'])
    expect(Object.keys(JSON.parse(delivery.body))).toEqual(['events'])
    const events = eventsOf([delivery])
    expect(events).toHaveLength(3)
    expect(events[0]).toMatchObject({
      account: 'acct-1',
      params: {
        thread_id: thread.id,
        turn_id: 'turn-1',
        mcp_server_name: 'hub',
        mcp_tool_name: 't',
        environment_id: null,
      },
    })
    expect(delivery.body).not.toContain(SECRET)
    expect(world.backend.model.violations).toEqual([])
    expect(rows(world.home)).toBe(0)
  })

  it('are told with how they ended, of an approval too', async () => {
    await using world = await start({ serverConfig: 'default_tools_approval_mode = "prompt"' })
    const answers = ['approve', 'decline'] as const
    let asked = 0
    const thread = await world.thread({ onApproval: async () => answers[asked++] ?? 'approve' })
    await call(thread)
    await expect(call(thread)).rejects.toMatchObject({ code: 'approval_required' })
    world.backend.model.pathReplies.set('POST /backend-api/test/mcp', [{ status: 500 }])
    await expect(call(thread)).rejects.toThrow()
    await thread.close()
    const told = eventsOf(deliveriesIn(world.backend.model)).map(({ params }) => params)
    expect(told).toMatchObject([
      { terminal_status: 'completed', final_approval_outcome: 'user_approved', user_review_count: 1, review_count: 1 },
      { terminal_status: 'rejected', failure_kind: 'approval_denied', execution_duration_ms: null },
      { terminal_status: 'failed', failure_kind: 'tool_error', mcp_error_present: true },
    ])
  })

  it.each([
    ['where nothing is said', undefined, {}],
    ['when it is switched off', { enabled: false }, { config: '[analytics]\nenabled = true' }],
    ['without a place', { enabled: true, endpoint: '' }, {}],
  ] as const)('are neither told nor kept %s', async (_, analytics, options) => {
    const given = analytics === undefined ? {} : { analytics }
    await using world = await startBackendRuntime({ ...options, ...given })
    const thread = await world.thread()
    await call(thread)
    expect(rows(world.home)).toBe(0)
    await thread.close()
    expect(deliveriesIn(world.backend.model)).toEqual([])
  })

  it('are told where the configuration says so, and no longer once it says otherwise', async () => {
    await using world = await startBackendRuntime({ config: '[analytics]\nenabled = true' })
    const first = await world.thread()
    await call(first)
    await first.close()
    expect(deliveriesIn(world.backend.model)).toHaveLength(1)
    const open = await world.thread()
    const file = join(world.home, 'config.toml')
    writeFileSync(file, readFileSync(file, 'utf8').replace('enabled = true', 'enabled = false'))
    await world.reeve.reload()
    await call(open)
    await open.close()
    expect(deliveriesIn(world.backend.model)).toHaveLength(1)
    expect(rows(world.home)).toBe(0)
  })

  it('are not told of a thread that nobody is signed in to', async () => {
    await using world = await start()
    const thread = await world.reeve.startThread()
    await call(thread)
    await thread.close()
    expect(deliveriesIn(world.backend.model)).toEqual([])
    expect(rows(world.home)).toBe(0)
  })

  it('go to a place of another origin without any credential', async () => {
    await using world = await start({
      mode: 'dual_header',
      analytics: { ...ON, endpoint: 'https://api.openai.com/collector/' },
    })
    const thread = await world.thread()
    await call(thread)
    await thread.close()
    const [delivery] = deliveriesIn(world.backend.model)
    expect(delivery?.path).toBe('/collector/codex/analytics-events/events')
    expect(delivery && names(delivery)).toEqual(['content-type', 'originator', 'user-agent', 'accept'])
  })
})

describe('a delivery that fails', () => {
  it.each([
    ['401', { status: 401 }, 0],
    ['a redirect', { status: 307, headers: { location: '/elsewhere' } }, 0],
    ['503', { status: 503 }, 1],
    ['a dropped socket', { status: 0, fault: 'drop' as const }, 1],
  ])('by %s is not repeated at once, and only what can be taken later is kept', async (_, reply, kept) => {
    await using world = await start({ mode: 'dual_header' })
    const { model } = world.backend
    const thread = await world.thread({ persist: true })
    await call(thread)
    model.pathReplies.set(EVENTS, [reply])
    await thread.close()
    expect(deliveriesIn(model)).toHaveLength(1)
    expect(model.requests.filter(({ path }) => path === '/elsewhere')).toEqual([])
    expect(model.refreshes).toEqual([])
    expect(rows(world.home)).toBe(kept)
    const again = await world.reeve.resumeThread(thread.id, { ...(world.reeve.auth && { auth: world.reeve.auth }) })
    await again.close()
    expect(deliveriesIn(model)).toHaveLength(1 + kept)
    expect(rows(world.home)).toBe(0)
    const ids = assertionIds(deliveriesIn(model))
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('by silence ends with the thread, and keeps what was not answered', async () => {
    await using world = await start()
    world.backend.model.pathReplies.set(EVENTS, [{ status: 0, fault: 'silent' }])
    const thread = await world.thread()
    await call(thread)
    await thread.close()
    expect(deliveriesIn(world.backend.model)).toHaveLength(1)
    expect(rows(world.home)).toBe(1)
  })
})

describe('threads that are taken up again', () => {
  it('tell with their own accounts and modes, and of their own calls alone', async () => {
    await using world = await start({ account: null })
    const { model } = world.backend
    const actors = await Promise.all(
      (['off', 'assertion_only'] as const).map(async (runtimeAuthMode, index) => {
        const auth = await actor(world, `acct-${index + 1}`)
        const options: ThreadOptions = { auth, runtimeAuthMode }
        return { options, thread: await world.reeve.startThread({ ...options, persist: true }) }
      }),
    )
    for (const { thread } of actors) await call(thread, 2)
    model.pathReplies.set(EVENTS, [{ status: 503 }, { status: 503 }])
    for (const { thread } of actors) await thread.close()
    expect(rows(world.home)).toBe(4)
    const before = deliveriesIn(model).length

    await using again = await restarted(world, { account: null })
    const resumed = await Promise.all(actors.map(({ options, thread }) => again.resumeThread(thread.id, options)))
    for (const thread of resumed) await call(thread)
    for (const thread of resumed) await thread.close()
    const deliveries = deliveriesIn(model).slice(before)
    expect(schemes(deliveries)).toEqual(['Bearer', 'AgentAssertion'])
    for (const [index, delivery] of deliveries.entries()) {
      const told = eventsOf([delivery])
      expect(told).toHaveLength(3)
      expect(new Set(told.map(({ account }) => account))).toEqual(new Set([`acct-${index + 1}`]))
      expect(new Set(told.map(({ params }) => params.thread_id))).toEqual(new Set([actors[index]?.thread.id]))
    }
    expect(model.violations).toEqual([])
    expect(rows(world.home)).toBe(0)
  })

  it.each([
    ['another account', 'acct-2', 'off'],
    ['another mode', 'acct-1', 'dual_header'],
  ] as const)('never tell with %s what was queued before', async (_, account, runtimeAuthMode) => {
    await using world = await start({ account: null })
    const { model } = world.backend
    const first = await actor(world, 'acct-1')
    const thread = await world.reeve.startThread({ auth: first, runtimeAuthMode: 'off', persist: true })
    await call(thread)
    model.pathReplies.set(EVENTS, [{ status: 503 }])
    await thread.close()
    const before = deliveriesIn(model).length
    const other = await world.reeve.resumeThread(thread.id, {
      auth: await actor(world, account),
      runtimeAuthMode,
      only: [],
    })
    await other.close()
    expect(deliveriesIn(model)).toHaveLength(before)
    const own = await world.reeve.resumeThread(thread.id, { auth: first, runtimeAuthMode: 'off', only: [] })
    await own.close()
    expect(eventsOf(deliveriesIn(model).slice(before))).toMatchObject([{ account: 'acct-1' }])
    expect(rows(world.home)).toBe(0)
  })

  it('send nothing at all where assertion_only can send no assertion', async () => {
    const places = { baseUrl: 'https://backend.example.test/backend-api/' }
    await using world = await start({ mode: 'assertion_only', firstParty: { places }, config: notesToml('notes') })
    const thread = await world.thread({ only: [{ server: 'notes' }] })
    await call(thread, 1, 'whoami')
    await thread.close()
    expect(deliveriesIn(world.backend.model)).toEqual([])
    expect(rows(world.home)).toBe(0)
    expect(world.reeve.warnings).toContainEqual(expect.objectContaining({ code: 'analytics_refused' }))
  })
})
