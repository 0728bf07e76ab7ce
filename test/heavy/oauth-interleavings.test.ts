import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CredentialKeeper, FileCredentialStore, OAuthServerAuth, type StoredCredential } from '../../src/auth/index.js'
import { createHttpClient, type HttpClient } from '../../src/environments/index.js'
import { ReeveError } from '../../src/errors.js'
import { AuthorizationServer } from '../standins/authorization-server.js'

const ACTIONS = 10_000
/** Runtimes that share a home, each with its own memory. */
const RUNTIMES = 3
const CONCURRENT = 8
const ACCOUNTS = ['alice', 'bob'] as const

/** Who is logged in. */
type Account = (typeof ACCOUNTS)[number] | null

let home: string
let http: HttpClient
let server: AuthorizationServer
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'reeve-interleavings-'))
  http = createHttpClient({ env: {} })
  server = await AuthorizationServer.listen()
})
afterAll(async () => {
  await http.close()
  await server[Symbol.asyncDispose]()
  await rm(home, { recursive: true, force: true })
})

/**
 * Who may be logged in while an operation runs: everybody who was at any moment of it. Logins and logouts come one after the
 * other; while one is under way, both sides of it hold.
 */
class Model {
  #now: readonly Account[] = [null]
  readonly #watching = new Set<Set<Account>>()

  watch(): { readonly possible: ReadonlySet<Account>; end(): void } {
    const possible = new Set(this.#now)
    this.#watching.add(possible)
    return { possible, end: () => this.#watching.delete(possible) }
  }

  async change(to: Account, work: () => Promise<unknown>): Promise<void> {
    this.#is([...this.#now, to])
    await work()
    this.#is([to])
  }

  #is(accounts: readonly Account[]): void {
    this.#now = accounts
    for (const possible of this.#watching) for (const account of accounts) possible.add(account)
  }
}

/** The same numbers for the same seed. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

describe('logins, logouts, refreshes and calls in any order', () => {
  it("never send what is another account's, nor a refresh token twice", async () => {
    const next = random(20_261_130)
    const pick = <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)] as T
    const model = new Model()
    const stores = Array.from({ length: RUNTIMES }, () => new FileCredentialStore(home))
    const owner = { server: 'guarded', environment: 'local', url: server.resourceUrl, principal: 'user' }
    const runtimes = stores.map((store) => new Runtime(new CredentialKeeper({ store, home }), owner))
    const faults: unknown[] = []
    let changing = Promise.resolve()
    const seen = { calls: 0, logins: 0, logouts: 0, expiries: 0 }

    const change = (to: Account): Promise<void> => {
      const store = pick(stores)
      const work = to === null ? () => store.remove(() => true) : () => store.save(loginOf(to, owner))
      changing = changing.then(() => model.change(to, work))
      return changing
    }
    const call = async (): Promise<void> => {
      const watch = model.watch()
      const runtime = pick(runtimes)
      const { accounts, status } = await runtime.operate()
      // Nobody's connection stays nobody's, whoever is logged in by now.
      const isFault = accounts.some((account) => account !== null && !watch.possible.has(account)) || status >= 500
      if (isFault) faults.push({ accounts, status, possible: [...watch.possible] })
      watch.end()
    }
    const actions = {
      calls: call,
      logins: () => change(pick(ACCOUNTS)),
      logouts: () => change(null),
      expiries: async () => server.expire(pick(stores).find(owner)?.accessToken ?? ''),
    }
    const kinds = [
      'calls',
      'calls',
      'calls',
      'calls',
      'calls',
      'expiries',
      'expiries',
      'logins',
      'logins',
      'logouts',
    ] as const

    let left = ACTIONS
    const worker = async (): Promise<void> => {
      while (left > 0) {
        left -= 1
        const kind = pick(kinds)
        seen[kind] += 1
        await actions[kind]()
      }
    }
    await Promise.all(Array.from({ length: CONCURRENT }, worker))
    await change('alice')
    const last = new Runtime(new CredentialKeeper({ store: pick(stores), home }), owner)
    expect(await last.operate()).toEqual({ accounts: ['alice'], status: 200 })
    expect(runtimes.flatMap(({ mixed }) => mixed)).toEqual([])
    expect(faults).toEqual([])
    expect(server.counts).toMatchObject({ reuses: 0, refused: 0 })
    expect(server.counts.refreshes).toBeGreaterThan(100)
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(500)
  })
})

/** One that connects anew when its connection speaks for an account that is not logged in any more. */
class Runtime {
  /** Connections that sent for more than one account. */
  readonly mixed: unknown[] = []
  readonly #connect: () => OAuthServerAuth
  #connection: { readonly auth: OAuthServerAuth; readonly spokeFor: Set<Account> }

  constructor(keeper: CredentialKeeper, owner: ConstructorParameters<typeof OAuthServerAuth>[1]) {
    this.#connect = () => new OAuthServerAuth(keeper, owner, http)
    this.#connection = { auth: this.#connect(), spokeFor: new Set() }
  }

  /** `accounts`: whose tokens went out. Where the account is another one by now it connects anew, once, as threads do. */
  async operate(): Promise<{ readonly accounts: readonly Account[]; readonly status: number }> {
    const first = await this.#attempt()
    if (!first.isOver) return first
    const second = await this.#attempt()
    return { accounts: [...first.accounts, ...second.accounts], status: second.status }
  }

  async #attempt(): Promise<{ accounts: Account[]; status: number; isOver?: boolean }> {
    const operation = { method: 'POST', url: server.resourceUrl, origin: server.origin }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
    const connection = this.#connection
    const { auth, spokeFor } = connection
    const accounts: Account[] = []
    const over = () => {
      if (this.#connection === connection) this.#connection = { auth: this.#connect(), spokeFor: new Set() }
      return { accounts, status: 401, isOver: true }
    }
    try {
      for (let attempt = 1; ; attempt += 1) {
        const headers = await auth.headers(operation)
        const account = accountOf(headers[0]?.[1])
        accounts.push(account)
        spokeFor.add(account)
        if (spokeFor.size > 1) this.mixed.push([...spokeFor])
        const response = await http.request({ method: 'POST', url: operation.url, headers, body })
        response.cancel()
        if (response.status !== 401 || attempt === 2) return { accounts, status: response.status }
        if (!(await auth.onUnauthorized(operation, { headers }))) return over()
      }
    } catch (error) {
      // Logged out, or in as somebody else, under the operation: nothing was sent for anybody any more.
      if (error instanceof ReeveError && ['auth_required', 'account_changed'].includes(error.code)) return over()
      throw error
    }
  }
}

function accountOf(authorization: string | undefined): Account {
  if (authorization === undefined) return null
  const client = server.clientOf(authorization.replace('Bearer ', ''))
  const account = ACCOUNTS.find((known) => known === client)
  if (account === undefined) throw new Error(`a token of nobody: ${client}`)
  return account
}

function loginOf(account: string, owner: Pick<StoredCredential, 'server' | 'environment' | 'url' | 'principal'>) {
  const token = server.issue(account)
  return {
    ...owner,
    issuer: server.origin,
    loginId: token.access_token,
    subject: account,
    loggedInAt: Date.now(),
    client: { id: account, method: 'none' as const, kind: 'configured' as const },
    tokenEndpoint: `${server.origin}/token`,
    grant: 'authorization_code' as const,
    accessToken: token.access_token,
    refreshToken: token.refresh_token,
    scopes: [],
  }
}
