import { inspect } from 'node:util'
import fc from 'fast-check'
import type { AuthChange } from '../../src/auth/index.js'
import { ReeveError } from '../../src/errors.js'
import { type Departure, watchDepartures } from './backend-departures.js'
import { type Actor, accountIn, DAY, type Wired, type WiredWorld } from './backend-wired.js'

const ACTIONS = [
  'call',
  'call',
  'call',
  'read',
  'login',
  'host update',
  'logout',
  'reload',
  'refresh',
  'rejected',
  'disk same account',
  'disk other account',
  'time',
  'registration refused',
] as const

/** One thing that begins, or, with `release`, one message on its way that arrives; then some turns of the event loop. */
export type WiredStep = { readonly turns: number } & (
  | {
      readonly kind: 'begin'
      readonly action: (typeof ACTIONS)[number]
      readonly account: number
      readonly thread: number
    }
  | { readonly kind: 'release'; readonly which: number }
)

const turns = fc.nat(12)
const step: fc.Arbitrary<WiredStep> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('begin' as const),
      action: fc.constantFrom(...ACTIONS),
      account: fc.nat(2),
      thread: fc.nat(5),
      turns,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('release' as const), which: fc.nat(7), turns }) },
)

export const wiredSteps = fc.record({ held: fc.boolean(), steps: fc.array(step, { minLength: 1, maxLength: 16 }) })

export interface WiredOutcome {
  readonly faults: readonly string[]
  /** Requests that left with a credential, by what they were. */
  readonly sent: Readonly<Record<string, number>>
  readonly changes: number
}

const ACCOUNTS = ['acct-1', 'acct-2', 'acct-3'] as const

/** One interleaving in a world that others were in before. Every request is judged when it leaves, by what is in force then. */
export async function runWired(
  world: WiredWorld,
  plan: { readonly held: boolean; readonly steps: readonly WiredStep[] },
) {
  const run = new WiredRun(world)
  return run.run(plan)
}

class WiredRun {
  readonly #world: WiredWorld
  readonly #faults: string[] = []
  readonly #sent: Record<string, number> = {}
  readonly #running = new Set<Promise<void>>()
  #changes = 0

  constructor(world: WiredWorld) {
    this.#world = world
  }

  async run({ held, steps }: { readonly held: boolean; readonly steps: readonly WiredStep[] }): Promise<WiredOutcome> {
    const { model, onTheWay } = this.#world
    const managers = new Set(this.#world.wired.map(({ manager }) => manager))
    const unwatch = [
      watchDepartures({
        handedOver: (departure) => this.#judge(departure, true),
        left: (departure) => this.#judge(departure, false),
      }),
      ...[...managers].map((manager) => manager.subscribe((change) => this.#changed(change))),
    ]
    model.violations.length = 0
    if (held) onTheWay.close()
    for (const one of steps) {
      if (one.kind === 'release') onTheWay.release(one.which)
      else this.#begin(this.#act(one.action, ACCOUNTS[one.account] ?? 'acct-1', one.thread))
      await turnsOfLoop(one.turns)
    }
    onTheWay.open()
    await this.#settled()
    await this.#worksAgain()
    for (const stop of unwatch) stop()
    // What was revoked on its way could not be held back any more: it is judged when it leaves.
    this.#faults.push(...model.violations.filter((violation) => !violation.includes('revoked')))
    model.requests.length = 0
    return { faults: this.#faults, sent: this.#sent, changes: this.#changes }
  }

  // ---- what leaves is judged ----

  #judge(departure: Departure, isHandedOver: boolean): void {
    const { method, path, headers, body } = departure
    if (path === '/agent/register' && isHandedOver) this.#judgeRegistration(body)
    const wired = this.#world.wired.find((one) => one.path === path)
    if (wired === undefined) return
    const now = wired.manager.current()
    const { account, isRevoked, isCurrent } = this.#world.model.inspect(
      headers,
      now.state === 'signed_in' ? now.credential : null,
    )
    const what = method === 'POST' ? (/"method":"([^"]+)"/.exec(body)?.[1] ?? method) : method
    const tell = (fault: string) =>
      this.#faults.push(`${wired.server} ${what}: ${fault} while ${accountIn(now)} is in force (${now.state})`)
    if (!isHandedOver) this.#sent[what] = (this.#sent[what] ?? 0) + 1
    if (account === null) tell('sent without a credential')
    else if (!isFormOf(wired, headers)) tell('sent in the form of another mode')
    else if (isRevoked) tell(`sent a revoked credential of ${account}`)
    // The end of a session has its own last credential.
    else if (method === 'DELETE') return
    else if (account !== accountIn(now)) tell(`sent a credential of ${account}`)
    // One that has to wait for a socket can't be signed anew there: its account has to be in force, also then.
    else if (isHandedOver && !isCurrent) tell('sent a stale credential or assertion')
  }

  #judgeRegistration(body: string): void {
    this.#sent.registration = (this.#sent.registration ?? 0) + 1
    const token: string = JSON.parse(body).actor_auth.credential
    const isInForce = this.#world.wired.some(({ manager }) => {
      const now = manager.current()
      return now.state === 'signed_in' && 'accessToken' in now.credential && now.credential.accessToken === token
    })
    if (!isInForce) this.#faults.push('registered with a credential that is not in force')
  }

  #changed({ cause, before, after }: AuthChange): void {
    this.#changes += 1
    if (cause !== 'reload' || before.state !== 'signed_in' || before.source.kind !== 'host') return
    const isSame = after.state === 'signed_in' && after.key === before.key
    if (!isSame) this.#faults.push('a reload took away what the host gave')
  }

  // ---- what is done ----

  #begin(work: Promise<unknown>): void {
    const run: Promise<void> = work.then(
      () => undefined,
      (error: unknown) => {
        if (!(error instanceof ReeveError)) this.#faults.push(`untyped: ${inspect(error)}`)
        const text = inspect(error, { depth: 9 })
        if (/eyJ|refresh-\d|PRIVATE/.test(text)) this.#faults.push(`a secret is told: ${text}`)
      },
    )
    this.#running.add(run)
    void run.then(() => this.#running.delete(run))
  }

  async #act(action: (typeof ACTIONS)[number], account: string, at: number): Promise<unknown> {
    const { wired, model } = this.#world
    const one = wired[at % wired.length]
    if (one === undefined) throw new Error('no thread')
    const { manager, thread, server, actor } = one
    switch (action) {
      case 'call':
        return thread.callTool({ server, tool: 't', arguments: {} })
      case 'read':
        return thread.resources.read({ server, uri: 'x:1' })
      case 'login':
        return this.#login(actor, account)
      case 'host update':
        return manager.installHost(this.#world.host(account, actor))
      case 'logout':
        return manager.logout()
      case 'reload':
        return manager.reload()
      case 'refresh':
        return manager.refresh()
      case 'rejected': {
        const now = manager.current()
        return now.state === 'signed_in' ? manager.refreshRejected(now.key) : undefined
      }
      case 'disk same account':
        return this.#world.writeRecord(accountIn(manager.current()) ?? account)
      case 'disk other account':
        return this.#world.writeRecord(account)
      case 'time':
        return this.#world.pass(DAY / 2)
      case 'registration refused':
        return void model.registrationReplies.push({ status: 401 })
    }
  }

  /** A host signs in with what it gives; nothing is stored for it. */
  #login(actor: Actor, account: string): Promise<unknown> {
    const { wired } = this.#world
    const manager = wired.find((one) => one.actor === actor)?.manager
    if (manager === undefined) throw new Error('no manager')
    return actor === 'home'
      ? manager.login(this.#world.session(account, actor))
      : manager.installHost(this.#world.host(account, actor))
  }

  async #settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  /** Whatever happened, a login and a call of each thread work afterwards. */
  async #worksAgain(): Promise<void> {
    const { model, wired } = this.#world
    model.registrationReplies = []
    for (const actor of ['home', 'own'] as const) this.#begin(this.#login(actor, 'acct-2'))
    await this.#settled()
    const before = this.#sent['tools/call'] ?? 0
    await Promise.all(
      wired.map(async ({ thread, server }) => {
        try {
          await calledAgain(() => thread.callTool({ server, tool: 't', arguments: {} }))
        } catch (error) {
          this.#faults.push(`${server} does not work after a login: ${inspect(error)}`)
        }
      }),
    )
    const made = (this.#sent['tools/call'] ?? 0) - before
    if (made !== wired.length) this.#faults.push(`${made} of ${wired.length} calls after a login`)
  }
}

/** A call that met a change of the credential was not sent, and may be made again. */
async function calledAgain(call: () => Promise<unknown>): Promise<unknown> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof ReeveError) || error.code !== 'credentials_changed_not_sent') throw error
    return call()
  }
}

/** A bearer, a bearer and an assertion, or an assertion alone. */
function isFormOf({ mode }: Wired, headers: Departure['headers']): boolean {
  const values = new Map(headers)
  const scheme = values.get('authorization')?.split(' ')[0]
  const hasOwnField = values.has('x-openai-agent-assertion')
  if (mode === 'assertion_only') return scheme === 'AgentAssertion' && !hasOwnField
  return scheme === 'Bearer' && hasOwnField === (mode === 'dual_header')
}

async function turnsOfLoop(count: number): Promise<void> {
  for (let turn = 0; turn <= count; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
