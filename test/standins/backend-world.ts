import {
  AgentTasks,
  AuthContext,
  type AuthHttp,
  AuthManager,
  type AuthRuntime,
  type BackendPlaces,
  type Clock,
  type CredentialSource,
  FirstPartyTokenEndpoint,
  firstPartyIssuer,
  MemoryAuthStorage,
  type NetworkPolicies,
  PRODUCTION_BASE,
  type RuntimeAuthMode,
  RuntimeInstances,
  type Selection,
  type SignedIn,
  StoredSource,
  sessionOf,
} from '../../src/auth/index.js'
import { BackendModel, type BackendRequest } from './backend-model.js'

export const INSTALLATION = '00000000-0000-4000-8000-000000000001'

/** Time that a test moves by hand. */
export class ManualClock implements Clock {
  chance = 1
  #now = 0
  #due: { readonly at: number; readonly run: () => void }[] = []

  wall(): number {
    return 1_700_000_000_000 + this.#now
  }

  now(): number {
    return this.#now
  }

  random(): number {
    return this.chance
  }

  after(ms: number, run: () => void): () => void {
    const entry = { at: this.#now + ms, run }
    this.#due.push(entry)
    return () => {
      this.#due = this.#due.filter((other) => other !== entry)
    }
  }

  /** Milliseconds until each pending call. */
  pending(): readonly number[] {
    return this.#due.map(({ at }) => at - this.#now)
  }

  advance(ms: number): void {
    this.#now += ms
    const due = this.#due.filter(({ at }) => at <= this.#now)
    this.#due = this.#due.filter(({ at }) => at > this.#now)
    for (const { run } of due) run()
  }
}

/** The model without a socket in between. */
export function inProcess(model: BackendModel): AuthHttp {
  return {
    send: async ({ method, url, headers, body = '', signal }) => {
      const { hostname, pathname } = new URL(url)
      const fields = headers.map(([name, value]) => [name.toLowerCase(), value] as const)
      const request: BackendRequest = { host: hostname, method, path: pathname, headers: fields, body: String(body) }
      const reply = model.handle(request)
      if (reply.fault === 'drop') throw new Error('socket hang up')
      if (reply.fault === 'silent') await new Promise((_, reject) => signal.addEventListener('abort', reject))
      const header = (name: string) =>
        Object.entries(reply.headers ?? {}).find(([known]) => known.toLowerCase() === name.toLowerCase())?.[1]
      return { status: reply.status, header, body: reply.body ?? '' }
    },
  }
}

export interface AuthWorldOptions {
  readonly model?: BackendModel
  readonly http?: AuthHttp
  readonly places?: BackendPlaces
  readonly host?: CredentialSource
  /** More sources, before the stored one. */
  readonly sources?: readonly CredentialSource[]
  readonly selection?: Selection
  readonly networks?: NetworkPolicies
  /** Who is signed in, in the storage, when the process begins. */
  readonly signedIn?: { readonly account: string; readonly exp?: number; readonly fedramp?: boolean }
}

/** One process that uses the backend: a manager with its storage, instances, and contexts of threads. */
export class AuthWorld {
  readonly model: BackendModel
  readonly http: AuthHttp
  readonly clock = new ManualClock()
  readonly storage = new MemoryAuthStorage()
  readonly problems: Error[] = []
  readonly source: StoredSource
  readonly runtime: AuthRuntime
  #manager: AuthManager | undefined

  private constructor(options: AuthWorldOptions) {
    const { places = { baseUrl: PRODUCTION_BASE }, selection, networks } = options
    this.model = options.model ?? new BackendModel()
    this.http = options.http ?? inProcess(this.model)
    const { http, clock } = this
    const onProblem = (problem: Error) => void this.problems.push(problem)
    const issuer = firstPartyIssuer()
    const instances = new RuntimeInstances({ issuer, places, http, clock, installationId: INSTALLATION, onProblem })
    const tokens = new FirstPartyTokenEndpoint({ http, clock })
    this.source = new StoredSource({ storage: this.storage, tokens, clock })
    this.runtime = {
      places,
      issuer,
      instances,
      agents: new AgentTasks({ http, clock }),
      clock,
      ...(selection && { selection }),
      ...(networks && { networks }),
    }
  }

  static async open(options: AuthWorldOptions = {}): Promise<AuthWorld> {
    const world = new AuthWorld(options)
    const { signedIn, sources = [], host } = options
    if (signedIn !== undefined) await world.source.save(world.session(signedIn.account, signedIn))
    world.#manager = await AuthManager.open({
      sources: [...sources, world.source],
      ...(host && { host }),
      clock: world.clock,
      onProblem: (problem) => void world.problems.push(problem),
    })
    return world
  }

  get manager(): AuthManager {
    if (this.#manager === undefined) throw new Error('not open')
    return this.#manager
  }

  /** A new session of an account, known to the backend and to nobody else yet. */
  session(account: string, facts: { readonly exp?: number; readonly fedramp?: boolean } = {}) {
    const user = account.replace('acct', 'user')
    return sessionOf(this.model.issue({ account, user, ...facts }))
  }

  context(mode: RuntimeAuthMode): AuthContext {
    return new AuthContext(this.runtime, this.manager, mode)
  }

  signedIn(): SignedIn {
    const now = this.manager.current()
    if (now.state !== 'signed_in') throw new Error(`nobody is signed in: ${now.state}`)
    return now
  }
}
