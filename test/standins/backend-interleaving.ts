import { inspect } from 'node:util'
import fc from 'fast-check'
import {
  type AuthContext,
  type AuthHttp,
  type CredentialSource,
  hostTokensSource,
  type RuntimeAuthMode,
} from '../../src/auth/index.js'
import { ReeveError } from '../../src/errors.js'
import { McpConnection } from './backend-mcp.js'
import { BackendModel } from './backend-model.js'
import { AuthWorld, inProcess } from './backend-world.js'

const ACTIONS = [
  'call off',
  'call dual_header',
  'call assertion_only',
  'end',
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

/** One thing that begins, or, with `release`, one message on its way that arrives. */
export type Step =
  | { readonly kind: 'begin'; readonly action: (typeof ACTIONS)[number]; readonly account: number }
  | { readonly kind: 'release'; readonly which: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('begin' as const), action: fc.constantFrom(...ACTIONS), account: fc.nat(2) }),
  fc.record({ kind: fc.constant('release' as const), which: fc.nat(5) }),
  fc.record({ kind: fc.constant('release' as const), which: fc.nat(5) }),
)

export const steps = (maxLength: number) => fc.array(step, { minLength: 1, maxLength })

const ACCOUNTS = ['acct-1', 'acct-2', 'acct-3'] as const

/**
 * One process, whose messages to the backend arrive in the order that the steps say. Everything that leaves it is held to
 * what is in force at that moment.
 */
export class Interleaving {
  readonly faults: string[] = []
  calls = 0
  readonly #waiting: (() => void)[] = []
  readonly #running = new Set<Promise<void>>()
  /** Refresh tokens that were sent and got no answer in time: nobody here knows whether they are used up. */
  readonly #unanswered = new Set<string>()
  #repeats = 0
  readonly #contexts = new Map<RuntimeAuthMode, AuthContext>()
  readonly #connections = new Map<RuntimeAuthMode, McpConnection>()
  readonly #model: BackendModel
  readonly #world: AuthWorld
  readonly #http: AuthHttp
  #arrived = () => {}

  private constructor(model: BackendModel, world: AuthWorld, http: AuthHttp) {
    this.#model = model
    this.#world = world
    this.#http = http
  }

  static async run(steps: readonly Step[], direct?: { readonly http: AuthHttp; readonly model: BackendModel }) {
    const model = direct?.model ?? new BackendModel()
    const below = direct?.http ?? inProcess(model)
    const holder: { one?: Interleaving } = {}
    const http: AuthHttp = { send: (request) => holder.one?.send(request, below) ?? below.send(request) }
    const world = await AuthWorld.open({ model, http, signedIn: { account: 'acct-1', exp: 1_700_001_000 } })
    const one = new Interleaving(model, world, http)
    holder.one = one
    world.manager.subscribe(({ cause, before }) => {
      const isHost = before.state === 'signed_in' && before.source.kind === 'host'
      if (cause === 'reload' && isHost) one.faults.push('a reload replaced what the host gave')
    })
    for (const mode of ['off', 'dual_header', 'assertion_only'] as const) one.#contexts.set(mode, world.context(mode))
    for (const step of steps) await one.#step(step)
    await one.#settle()
    await one.#worksAgain()
    // What was revoked while it was on its way could not be held back: it was judged when it left.
    for (const problem of world.problems) one.#checkSecrets(problem)
    one.faults.push(...one.#violations())
    return one
  }

  /** The moment at which a request leaves: from here on it can't be taken back. */
  async send(request: Parameters<AuthHttp['send']>[0], below: AuthHttp): ReturnType<AuthHttp['send']> {
    if (request.signal.aborted) throw new Error('aborted')
    this.#check(request)
    await this.#hold()
    const reply = await this.#sent(request, below)
    await this.#hold()
    return reply
  }

  /** A refresh whose answer was lost may be tried once more (reference: auth, 1.8): only then is its token used again. */
  async #sent(request: Parameters<AuthHttp['send']>[0], below: AuthHttp): ReturnType<AuthHttp['send']> {
    const token = request.url.endsWith('/oauth/token')
      ? String(JSON.parse(String(request.body)).refresh_token)
      : undefined
    if (token !== undefined && this.#unanswered.delete(token)) this.#repeats += 1
    try {
      return await below.send(request)
    } catch (error) {
      if (token !== undefined) this.#unanswered.add(token)
      throw error
    }
  }

  #violations(): readonly string[] {
    const told = this.#model.violations.filter((violation) => !violation.includes('revoked'))
    const reused = told.filter((violation) => violation.includes('used twice'))
    return [...told.filter((violation) => !reused.includes(violation)), ...reused.slice(this.#repeats)]
  }

  #check({ method, url, headers, body = '' }: Parameters<AuthHttp['send']>[0]): void {
    const now = this.#world.manager.current()
    const held = now.state === 'signed_in' ? now.identity.accountId : null
    const tell = (fault: string) => this.faults.push(`${fault} while ${held} is in force (${now.state})`)
    if (url.endsWith('/agent/register')) {
      const owner = this.#model.accountOf(JSON.parse(String(body)).actor_auth.credential)
      if (owner !== held) tell(`registered for ${owner}`)
    }
    if (!url.endsWith('/mcp')) return
    const { account, isRevoked, isCurrent } = this.#model.inspect(
      headers,
      now.state === 'signed_in' ? now.credential : null,
    )
    if (isRevoked) tell(`sent a revoked credential of ${account}`)
    if (method === 'DELETE') return
    this.calls += 1
    if (account !== held) tell(`sent a credential of ${account}`)
    else if (!isCurrent) tell('sent a stale credential or assertion')
  }

  #hold(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#arrived()
    })
  }

  async #step(step: Step): Promise<void> {
    if (step.kind === 'release') this.#waiting.splice(step.which % Math.max(1, this.#waiting.length), 1)[0]?.()
    else this.#begin(this.#act(step.action, ACCOUNTS[step.account % ACCOUNTS.length] ?? 'acct-1'))
    await quiet()
  }

  #begin(work: Promise<unknown>): void {
    const run: Promise<void> = work.then(
      () => undefined,
      (error: unknown) => {
        const isTyped = error instanceof ReeveError || (error instanceof Error && /abort/i.test(error.message))
        if (!isTyped) this.faults.push(`untyped: ${error}`)
        this.#checkSecrets(error)
      },
    )
    this.#running.add(run)
    void run.then(() => this.#running.delete(run))
  }

  /** A token, a refresh token or an assertion, in whatever is told. */
  #checkSecrets(told: unknown): void {
    const text = inspect(told, { depth: 9 })
    if (/eyJ|refresh-\d|PRIVATE/.test(text)) this.faults.push(`a secret is told: ${text}`)
  }

  async #act(action: (typeof ACTIONS)[number], account: string): Promise<unknown> {
    const { manager, storage, clock } = this.#world
    switch (action) {
      case 'call off':
        return this.#call('off')
      case 'call dual_header':
        return this.#call('dual_header')
      case 'call assertion_only':
        return this.#call('assertion_only')
      case 'end':
        return this.#end('dual_header')
      case 'login':
        return manager.login(this.#world.session(account, { exp: 1_700_100_000 }))
      case 'host update':
        return manager.installHost(this.#host(account))
      case 'logout':
        return manager.logout()
      case 'reload':
        return manager.reload()
      case 'refresh':
        return manager.refresh()
      case 'rejected':
        return manager.refreshRejected(this.#key())
      case 'disk same account':
        return storage.save(stored(this.#world.session(this.#account() ?? account)))
      case 'disk other account':
        return storage.save(stored(this.#world.session(account)))
      case 'registration refused':
        return void this.#model.registrationReplies.push({ status: 401 })
      case 'time':
        return clock.advance(400_000)
    }
  }

  async #call(mode: RuntimeAuthMode): Promise<void> {
    const known = this.#connections.get(mode)
    if (known !== undefined && !known.auth.isSuperseded && !known.auth.revoked.aborted) {
      await known.operate('tools/call')
      return
    }
    this.#connections.delete(mode)
    if (known !== undefined) this.#begin(known.end())
    const context = this.#contexts.get(mode)
    if (context === undefined) return
    const opened = McpConnection.to(context, this.#http)
    this.#connections.set(mode, opened)
    await opened.operate('initialize')
    await opened.operate('tools/call')
  }

  async #end(mode: RuntimeAuthMode): Promise<void> {
    const known = this.#connections.get(mode)
    this.#connections.delete(mode)
    await known?.end()
  }

  #host(account: string): CredentialSource {
    const given = (name: string) => ({ accessToken: this.#world.session(name).accessToken, accountId: name })
    return hostTokensSource(given(account), async () => given(account))
  }

  #account(): string | null {
    const now = this.#world.manager.current()
    return now.state === 'signed_in' ? now.identity.accountId : null
  }

  #key(): string {
    const now = this.#world.manager.current()
    return now.state === 'signed_in' ? now.key : ''
  }

  /** Everything that is on its way arrives. */
  async #settle(): Promise<void> {
    while (this.#running.size > 0) {
      const next = new Promise<void>((resolve) => {
        this.#arrived = resolve
      })
      for (const release of this.#waiting.splice(0)) release()
      await Promise.race([next, ...this.#running])
      await quiet()
    }
  }

  /** Whatever happened, a login and a call work afterwards. */
  async #worksAgain(): Promise<void> {
    this.#begin(this.#world.manager.login(this.#world.session('acct-2', { exp: 1_800_000_000 })))
    await this.#settle()
    const before = this.calls
    this.#model.registrationReplies = []
    this.#world.clock.advance(10 * 60_000)
    for (const mode of ['off', 'dual_header', 'assertion_only'] as const) {
      this.#connections.delete(mode)
      this.#begin(this.#call(mode))
    }
    await this.#settle()
    if (this.calls !== before + 6) this.faults.push(`${this.calls - before} of 6 requests after a login`)
  }
}

function stored({ accessToken, refreshToken, accountId }: ReturnType<AuthWorld['session']>) {
  return { tokens: { access_token: accessToken, refresh_token: refreshToken, account_id: accountId } }
}

/** Until no continuation is left that does not wait for a message. */
function quiet(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
