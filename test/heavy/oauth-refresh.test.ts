import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HomeCredentialStore } from '../../src/auth/index.js'
import { type Keyring, NO_KEYRING, startKeyring } from '../fixtures/auth/keyring.js'
import { storedLogin } from '../fixtures/auth/stored-login.js'
import { bundled } from '../fixtures/bundled.js'
import { AuthorizationServer } from '../standins/authorization-server.js'

const PROCESSES = 16
const ROUNDS = 20
const HOUR = 3_600
const BOMBS = ['locked', 'sent', 'stored'] as const

let folder: string
let worker: string
beforeAll(async () => {
  // Within the project, where the packages of the bundle are found.
  const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
  await mkdir(join(root, '.cache'), { recursive: true })
  folder = await mkdtemp(join(root, '.cache', 'oauth-refresh-'))
  worker = join(folder, 'worker.mjs')
  await bundled('test/heavy/oauth-refresh/worker.ts', worker, { packages: 'external' })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

interface Outcome {
  readonly status?: number
  readonly attempt?: number
  readonly error?: string
}

/** A process of the test; `ask` resolves to undefined when it is killed instead of answering. */
class Worker {
  readonly #child: ChildProcess
  readonly #gone: Promise<undefined>
  readonly #lines: AsyncIterator<string>

  constructor(home: string, owner: object, keyring: Keyring | undefined) {
    const child = spawn(
      process.execPath,
      [worker, home, JSON.stringify(owner), keyring === undefined ? 'file' : 'keyring'],
      { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, ...keyring?.env } },
    )
    this.#child = child
    this.#gone = once(child, 'exit').then(() => undefined)
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  }

  get isGone(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  async ask(round: object): Promise<Outcome | undefined> {
    this.#child.stdin?.write(`${JSON.stringify(round)}\n`)
    const line = await Promise.race([this.#lines.next(), this.#gone])
    return line === undefined || line.done === true ? undefined : JSON.parse(line.value)
  }

  async end(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#gone
  }
}

describe.each([
  ['a file', undefined],
  ['the keychain', NO_KEYRING],
])('one login that sixteen processes use, in %s', (place, missing) => {
  const none = missing === undefined ? '' : ` (${missing})`
  let keyring: Keyring | undefined
  beforeAll(async () => {
    if (place === 'a file' || missing !== undefined) return
    keyring = await startKeyring()
    // For the native code in this process, too, which the test ends with.
    process.env.DBUS_SESSION_BUS_ADDRESS = keyring.env.DBUS_SESSION_BUS_ADDRESS
  })
  afterAll(() => keyring?.[Symbol.asyncDispose]())

  it.skipIf(missing !== undefined)(`is refreshed once at each of twenty expiries${none}`, async () => {
    const result = await run(() => null, keyring)
    tell(place, 'lives', result)
    expect(result).toEqual({ refreshes: ROUNDS, reuses: 0, refused: 0, failures: [], killed: 0 })
  })

  it.skipIf(missing !== undefined)(
    `is refreshed once at each of twenty expiries when whoever does it is killed${none}`,
    async () => {
      const result = await run((round) => BOMBS[round % BOMBS.length] ?? null, keyring)
      tell(place, 'is killed each time', result)
      expect(result).toEqual({ refreshes: ROUNDS, reuses: 0, refused: 0, failures: [], killed: ROUNDS })
    },
  )
})

/** For whoever wants the figures. */
function tell(place: string, holder: string, result: object): void {
  if (process.env.REEVE_SHOW_COUNTS !== undefined)
    process.stdout.write(`\n${JSON.stringify({ place, holder, ...result })}\n`)
}

/** By turns a token ends by the clock, which all see coming, and by the word of the resource, which all are told. */
async function run(bombOf: (round: number) => (typeof BOMBS)[number] | null, keyring: Keyring | undefined) {
  const home = await mkdtemp(join(folder, 'home-'))
  await using server = await AuthorizationServer.listen({ lifetime: HOUR / 2 })
  const store = new HomeCredentialStore(home, { mode: keyring === undefined ? 'file' : 'keyring' })
  const credential = storedLogin(server)
  await store.save(credential)
  const { server: name, environment, url, principal } = credential
  const owner = { server: name, environment, url, principal }
  const workers = Array.from({ length: PROCESSES }, () => new Worker(home, owner, keyring))
  const failures: unknown[] = []
  let killed = 0
  try {
    for (let round = 1; round <= ROUNDS; round += 1) {
      const bomb = bombOf(round)
      const claim = join(home, `bomb-${round}`)
      const byClock = round % 2 === 1
      // The clock of the workers stands still where the resource has the word.
      const clock = (byClock ? round : round - 1) * HOUR * 1000
      if (!byClock) server.expire(store.find(owner)?.accessToken ?? '')
      const lifetime = clock / 1000 + HOUR / 2
      server.options = { lifetime, ...(bomb === 'sent' && { beforeRefresh: (_, by) => killSender(claim, by) }) }
      const outcomes = await Promise.all(workers.map((each) => each.ask({ clock, bomb, claim })))
      for (const outcome of outcomes) if (outcome !== undefined && outcome.status !== 200) failures.push(outcome)
      for (const [at, each] of workers.entries()) {
        if (!each.isGone) continue
        killed += 1
        workers[at] = new Worker(home, owner, keyring)
      }
    }
  } finally {
    await Promise.all(workers.map((each) => each.end()))
  }
  const { refreshes, reuses, refused } = server.counts
  return { refreshes, reuses, refused, failures, killed }
}

/** The request has come, its sender dies, and the server has done nothing yet. */
async function killSender(claim: string, pid: number): Promise<void> {
  try {
    await writeFile(claim, String(pid), { flag: 'wx' })
  } catch {
    return
  }
  process.kill(pid, 'SIGKILL')
  throw new Error('the sender is gone')
}
