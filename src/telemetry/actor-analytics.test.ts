import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deliveriesIn, EVENTS, eventsOf } from '../../test/standins/backend-analytics.js'
import { schemes } from '../../test/standins/backend-runtime.js'
import { AuthWorld } from '../../test/standins/backend-world.js'
import { BackendClient, PRODUCTION_BASE, type RuntimeAuthMode } from '../auth/index.js'
import type { ReeveError } from '../errors.js'
import { serverKey } from '../identity/index.js'
import { type AnalyticsQueue, openStore } from '../store/index.js'
import type { OwningAuth, ToolCallFacts } from '../threads/index.js'
import { ActorAnalytics } from './actor-analytics.js'
import { analyticsPlace } from './settings.js'

const RUNS = Number(process.env.REEVE_ANALYTICS_RUNS ?? 40)
const PLACE = analyticsPlace({ enabled: true }, { baseUrl: PRODUCTION_BASE })

function owning(world: AuthWorld, mode: RuntimeAuthMode): OwningAuth {
  const context = world.context(mode)
  return { context, http: world.http, clientFor: () => new BackendClient(context, world.http) }
}

function analyticsOf(world: AuthWorld, queue: AnalyticsQueue, actor: string, mode: RuntimeAuthMode) {
  const warnings: ReeveError[] = []
  const analytics = new ActorAnalytics({
    actor,
    auth: owning(world, mode),
    client: { name: 'client', version: '1' },
    queue,
    place: () => PLACE,
    onwarning: (warning) => warnings.push(warning),
    // Flushes are the test's to say.
    timing: { gatherMs: 300_000, backOffMs: 300_000, closeMs: 1_000 },
  })
  return { analytics, warnings }
}

function facts(threadId: string, callId: string): ToolCallFacts {
  return {
    threadId,
    sessionId: threadId,
    turn: {},
    callId,
    responseId: null,
    key: serverKey('notes', 'devbox'),
    tool: 'add',
    pluginId: null,
    connectorId: null,
    startedAtMs: 1,
    completedAtMs: 2,
    executionMs: 1,
    approval: 'unknown',
    reviews: { guardian: 0, user: 0 },
    outcome: { status: 'completed', failure: null, isMcpError: false },
  }
}

const MODES = ['off', 'dual_header', 'assertion_only'] as const
const ACTORS = [0, 1, 2] as const
const move = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('call' as const), actor: fc.constantFrom(...ACTORS) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('flush' as const),
      actor: fc.constantFrom(...ACTORS),
      status: fc.constantFrom(200, 503, 500, 429),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('signIn' as const),
      actor: fc.constantFrom(...ACTORS),
      account: fc.constantFrom('acct-1', 'acct-2'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('signOut' as const), actor: fc.constantFrom(...ACTORS) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('resume' as const), actor: fc.constantFrom(...ACTORS) }) },
)

describe('analytics of several actors', () => {
  it('deliver each event once, with the account and the mode that it was queued under, whatever happens', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(...ACTORS.map(() => fc.constantFrom(...MODES))),
        fc.array(move, { maxLength: 40 }),
        async (modes, moves) => {
          using store = openStore(':memory:')
          const { analytics: queue } = store
          const actors = await Promise.all(
            modes.map(async (mode, index) => {
              const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
              return {
                world,
                mode,
                id: `actor-${index}`,
                account: 'acct-1' as string | null,
                queued: new Map<string, string>(),
              }
            }),
          )
          const clients = actors.map(({ world, id, mode }) => analyticsOf(world, queue, id, mode).analytics)
          let calls = 0
          for (const one of moves) {
            const actor = actors[one.actor]
            if (actor === undefined) throw new Error('no actor')
            const { world } = actor
            if (one.do === 'call') {
              const callId = `call-${calls++}`
              clients[one.actor]?.toolCall(facts(actor.id, callId))
              if (actor.account !== null) actor.queued.set(callId, actor.account)
            } else if (one.do === 'flush') {
              world.model.pathReplies.set(EVENTS, one.status === 200 ? [] : [{ status: one.status }])
              await clients[one.actor]?.flush()
              world.model.pathReplies.delete(EVENTS)
            } else if (one.do === 'signIn') {
              await world.manager.login(world.session(one.account))
              actor.account = one.account
            } else if (one.do === 'signOut') {
              await world.manager.logout()
              actor.account = null
            } else {
              clients[one.actor] = analyticsOf(world, queue, actor.id, actor.mode).analytics
            }
          }
          for (const [index, { world }] of actors.entries()) {
            for (const account of ['acct-1', 'acct-2']) {
              await world.manager.login(world.session(account))
              await clients[index]?.flush()
            }
          }
          expect(queue.count()).toBe(0)
          for (const { world, mode, id, queued } of actors) {
            const deliveries = deliveriesIn(world.model)
            const told = eventsOf(deliveries)
            for (const { account, params } of told) {
              expect(params.thread_id).toBe(id)
              expect(account).toBe(queued.get(String(params.item_id)))
            }
            // A delivery that was answered with a failure comes again; every event came at least once.
            expect(new Set(told.map(({ params }) => params.item_id))).toEqual(new Set(queued.keys()))
            const scheme = mode === 'assertion_only' ? 'AgentAssertion' : 'Bearer'
            expect(schemes(deliveries).every((sent) => sent === scheme)).toBe(true)
            expect(world.model.violations).toEqual([])
          }
        },
      ),
      { numRuns: RUNS },
    )
  })

  it('give an event up after so many failures, and say so once', async () => {
    using store = openStore(':memory:')
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    const { analytics, warnings } = analyticsOf(world, store.analytics, 'a', 'off')
    analytics.toolCall(facts('a', 'call'))
    for (let failure = 0; failure < 10; failure += 1) {
      world.model.pathReplies.set(EVENTS, [{ status: 503 }])
      await analytics.flush()
    }
    expect(deliveriesIn(world.model)).toHaveLength(8)
    expect(store.analytics.count()).toBe(0)
    expect(warnings.map(({ code }) => code)).toEqual(['analytics_undelivered'])
  })

  it('lose no call when the state can not be written, and say so once', async () => {
    const store = openStore(':memory:')
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    const { analytics, warnings } = analyticsOf(world, store.analytics, 'a', 'off')
    store.close()
    for (const id of ['1', '2']) analytics.toolCall(facts('a', id))
    await analytics.close()
    expect(warnings.map(({ code }) => code)).toEqual(['state_not_written'])
    expect(deliveriesIn(world.model)).toEqual([])
  })
})
