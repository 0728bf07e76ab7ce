import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  AuthManager,
  hostTokensSource,
  type RuntimeAuthMode,
  type Snapshot,
  sessionOf,
  systemClock,
} from '../../src/auth/index.js'
import type { Thread } from '../../src/reeve.js'
import { startBackend } from './backend.js'
import type { BackendModel } from './backend-model.js'
import { type BackendRuntime, startBackendRuntime } from './backend-runtime.js'

export const MODES = ['off', 'dual_header', 'assertion_only'] as const satisfies readonly RuntimeAuthMode[]
export const ACTORS = ['home', 'own'] as const
export type Actor = (typeof ACTORS)[number]

export const DAY = 86_400

/** One thread, which alone uses the server at this path. */
export interface Wired {
  readonly actor: Actor
  readonly mode: RuntimeAuthMode
  readonly manager: AuthManager
  readonly server: string
  readonly path: string
  readonly thread: Thread
}

/**
 * A whole runtime with six threads: three in each mode with the account of the home, three with a manager of their own,
 * whose tokens a host gives. Each thread has a server of its own, so that what is sent tells whose it is.
 */
export class WiredWorld implements AsyncDisposable {
  readonly runtime: BackendRuntime
  readonly wired: readonly Wired[]
  readonly onTheWay: OnTheWay
  readonly #time: { ahead: number }

  private constructor(runtime: BackendRuntime, wired: readonly Wired[], onTheWay: OnTheWay, time: { ahead: number }) {
    this.runtime = runtime
    this.wired = wired
    this.onTheWay = onTheWay
    this.#time = time
  }

  static async open(): Promise<WiredWorld> {
    const onTheWay = new OnTheWay()
    const time = { ahead: 0 }
    const clock = { ...systemClock, wall: () => Date.now() + time.ahead }
    const backend = await startBackend(undefined, () => onTheWay.hold())
    const config = ACTORS.flatMap((actor) => MODES.map((mode) => serverLines(actor, mode))).join('\n')
    const runtime = await startBackendRuntime({ backend, config, account: null, firstParty: { clock } })
    const home = runtime.reeve.auth
    if (home === undefined) throw new Error('the home has no manager')
    const own = await AuthManager.open({ sources: [], host: hostOf(backend.model, 'acct-1', 'own'), clock })
    await home.login(sessionIn(backend.model, 'acct-1', 'home', clock.wall()))
    const managers = { home, own }
    const wired: Wired[] = []
    for (const actor of ACTORS)
      for (const mode of MODES) {
        const server = serverOf(actor, mode)
        const only = [{ server }]
        const thread = await runtime.thread({ auth: managers[actor], runtimeAuthMode: mode, only })
        wired.push({ actor, mode, manager: managers[actor], server, path: pathOf(actor, mode), thread })
      }
    // The first request of a process loads the HTTP library, and waits for it with what it is to carry.
    await wired[0]?.thread.callTool({ server: wired[0].server, tool: 't', arguments: {} })
    return new WiredWorld(runtime, wired, onTheWay, time)
  }

  get model(): BackendModel {
    return this.runtime.backend.model
  }

  /** Seconds by which the runtime's clock goes on. */
  pass(seconds: number): void {
    this.#time.ahead += seconds * 1000
  }

  session(account: string, actor: Actor) {
    return sessionIn(this.model, account, actor, Date.now() + this.#time.ahead)
  }

  host(account: string, actor: Actor) {
    return hostOf(this.model, account, actor)
  }

  /** Somebody else puts another token of this account where the home's login is kept; nothing when there is none. */
  writeRecord(account: string): void {
    const file = join(this.runtime.home, 'auth.json')
    const text = recordIn(file)
    if (text === undefined) return
    const { accessToken, refreshToken } = this.session(account, 'home')
    const tokens = { access_token: accessToken, refresh_token: refreshToken, account_id: account }
    writeFileSync(`${file}.new`, JSON.stringify({ ...JSON.parse(text), tokens }), { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.onTheWay.open()
    await this.runtime[Symbol.asyncDispose]()
  }
}

/** Messages that have left and not arrived. */
export class OnTheWay {
  #waiting: (() => void)[] = []
  #isHolding = false
  #arrived = () => {}

  /** Holds what comes from now on. */
  close(): void {
    this.#isHolding = true
  }

  /** Lets everything through. */
  open(): void {
    this.#isHolding = false
    for (const go of this.#waiting.splice(0)) go()
  }

  /** Resolves when something is held. */
  async next(): Promise<void> {
    if (this.#waiting.length > 0) return
    await new Promise<void>((resolve) => {
      this.#arrived = resolve
    })
  }

  release(which: number): void {
    this.#waiting.splice(which % Math.max(1, this.#waiting.length), 1)[0]?.()
  }

  hold(): Promise<void> | undefined {
    if (!this.#isHolding) return undefined
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#arrived()
    })
  }
}

/** The account that is in force for whoever asks; null: nobody. */
export function accountIn(snapshot: Snapshot): string | null {
  return snapshot.state === 'signed_in' ? snapshot.identity.accountId : null
}

function recordIn(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

function serverOf(actor: Actor, mode: RuntimeAuthMode): string {
  return `${actor}-${mode.replace('_', '-')}`
}

function pathOf(actor: Actor, mode: RuntimeAuthMode): string {
  return `/backend-api/${serverOf(actor, mode)}/mcp`
}

function serverLines(actor: Actor, mode: RuntimeAuthMode): string {
  return `[mcp_servers.${serverOf(actor, mode)}]\nurl = "https://chatgpt.com${pathOf(actor, mode)}"\nauth = "chatgpt"\n`
}

/** Users tell actors apart who have the same account. */
function facts(account: string, actor: Actor) {
  return { account, user: `${account.replace('acct', 'user')}-${actor}` }
}

function sessionIn(model: BackendModel, account: string, actor: Actor, wallMs: number) {
  const exp = Math.floor(wallMs / 1000) + DAY
  return sessionOf(model.issue({ ...facts(account, actor), exp }))
}

function hostOf(model: BackendModel, account: string, actor: Actor) {
  const given = () => ({ accessToken: model.issue(facts(account, actor)).accessToken, accountId: account })
  return hostTokensSource(given(), async () => given())
}
