import { createHash, createHmac } from 'node:crypto'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  type ExecutorAuthentication,
  serveExecutorStdio,
  serveExecutorWebSocket,
  type WebSocketExecutor,
} from '../../src/executor/index.js'
import {
  connectExecutor,
  type ExecutorClient,
  ended,
  type Message,
  nodeProcess,
  outputOf,
} from '../e2e/executor-client.js'
import { readVectors } from './cases.js'
import { executorUpstream } from './executor-upstream.js'

const Msg = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z.record(z.string(), z.unknown()).optional(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z
    .object({ code: z.number(), message: z.string(), data: z.record(z.string(), z.unknown()).optional() })
    .optional(),
})
const Step = z.looseObject({
  conn: z.string().default('A'),
  dir: z.enum(['c2s', 's2c', 'event', 'upgrade']),
  msg: Msg.optional(),
  raw: z.string().optional(),
  label: z.string().optional(),
  request: z.object({ path: z.string(), headers: z.record(z.string(), z.string()) }).optional(),
  response: z.object({ status: z.number() }).optional(),
})
const Case = z.looseObject({
  name: z.string(),
  transport: z.string().optional(),
  messages: z.array(Step),
})
type Case = z.infer<typeof Case>
type Step = z.infer<typeof Step>

const CASES = z.object({ cases: z.array(Case) }).parse(readVectors('executor-protocol.json')).cases

/** Cases that say nothing of a server, or that we answer otherwise on purpose. */
const OTHERWISE: Readonly<Record<string, string>> = {
  'order/exited-after-closed': 'a model for clients: no process behind it',
  'order/late-output': 'a model for clients: no process behind it',
  'order/output-before-start-response': 'a model for clients: no process behind it',
  'resume/real-client': 'an excerpt: the start of its process was left out',
  'process/pty-output-after-exit': 'this executor has no terminals and says so',
}
/** Output by a timer: how much of it comes before the next step is another time's. */
const BY_TIMER = new Set(['resume/after-drop', 'resume/attached-elsewhere'])

let folder: string
let upstream: Awaited<ReturnType<typeof executorUpstream>>

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'reeve-vectors-')))
  await mkdir(join(folder, 'sub'))
  await writeFile(join(folder, 'a.txt'), 'text')
  upstream = await executorUpstream()
})
afterAll(async () => {
  await upstream[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

/** What the placeholders of the vectors stand for here. */
function local(text: string): string {
  return text
    .replaceAll('file:///srv/app', pathToFileURL(folder).href)
    .replaceAll('"/usr/bin:/bin"', JSON.stringify(`${dirname(process.execPath)}:/usr/bin:/bin`))
    .replaceAll('http://127.0.0.1:8080', upstream.origin)
}

describe('the executor answers like the reference', () => {
  for (const one of CASES.filter(({ name, transport }) => !name.startsWith('auth/') && transport !== 'stdio')) {
    if (one.name in OTHERWISE) continue
    it(one.name, async () => {
      await using executor = await serveExecutorWebSocket({
        host: '127.0.0.1',
        port: 0,
        authentication: { kind: 'none' },
        env: { PATH: process.env.PATH, EXAMPLE_TOKEN: 'secret', EXAMPLE_X: '1' },
        ...(one.name === 'resume/expired' && { detachedMs: 0 }),
      })
      await new Replay(one, executor).run()
    })
  }

  it('except in cases that are there', () => {
    expect(CASES.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(OTHERWISE)))
  })

  it('on stdio, too', async () => {
    const { messages } = CASES.find(({ transport }) => transport === 'stdio') ?? { messages: [] }
    const [input, output] = [new PassThrough(), new PassThrough()]
    await using _executor = serveExecutorStdio({ input, output })
    for (const { raw, msg } of messages) {
      if (raw !== undefined) input.write(raw)
      if (msg === undefined) continue
      const line = await new Promise<Buffer>((resolve) => output.once('data', resolve))
      expectAnswer(JSON.parse(String(line)), msg, {})
    }
  })
})

class Replay {
  readonly #case: Case
  readonly #executor: WebSocketExecutor
  readonly #clients = new Map<string, ExecutorClient>()
  /** Placeholders of session ids, and what they are here. */
  readonly #sessions = new Map<string, string>()
  readonly #taken = new Set<Message>()

  constructor(one: Case, executor: WebSocketExecutor) {
    this.#case = one
    this.#executor = executor
  }

  async run(): Promise<void> {
    expect(this.#case.messages.length).toBeGreaterThan(0)
    for (const step of this.#case.messages) await this.#step(step)
    for (const client of this.#clients.values()) await client.drop()
  }

  async #step(step: Step): Promise<void> {
    const client = await this.#client(step.conn)
    // The transcript leaves out that time passed.
    if (this.#case.name === 'resume/exit-while-detached' && step.msg?.method === 'process/read')
      await closed(client, String(step.msg.params?.processId))
    if (step.dir === 'c2s') client.send(this.#outgoing(step))
    else if (step.dir === 'event') await this.#ends(client)
    else if (step.msg !== undefined) await this.#comes(client, step.msg)
  }

  async #client(name: string): Promise<ExecutorClient> {
    const client = this.#clients.get(name) ?? (await connectExecutor(this.#executor.url))
    this.#clients.set(name, client)
    return client
  }

  #outgoing({ raw, msg }: Step): string {
    let text = raw ?? JSON.stringify(msg)
    for (const [placeholder, id] of this.#sessions) text = text.replaceAll(placeholder, id)
    return local(text)
  }

  /** The executor drops the socket for a violation; everywhere else the client does. */
  async #ends(client: ExecutorClient): Promise<void> {
    if (this.#case.name.startsWith('framing/')) expect(await client.closed).toBe(1006)
    else if (this.#case.name === 'resume/expired') await dropUntilExpired(client)
    else await client.drop()
  }

  async #comes(client: ExecutorClient, expected: z.infer<typeof Msg>): Promise<void> {
    if (expected.id === undefined) return this.#notified(client, expected)
    const fits = (message: Message) => message.id === expected.id && !this.#taken.has(message)
    let answer = await client.until(fits)
    this.#taken.add(answer)
    const resumes = expected.result?.sessionId !== undefined
    while (resumes && answer.error?.code === -32010) {
      // The executor has not seen yet that the other socket is gone.
      const id = this.#sessions.get(String(expected.result?.sessionId))
      client.send({ id: expected.id, method: 'initialize', params: { clientName: 'c', resumeSessionId: id } })
      answer = await client.until(fits)
      this.#taken.add(answer)
    }
    if (resumes) this.#sessions.set(String(expected.result?.sessionId), String(answer.result?.sessionId))
    expectAnswer(answer, expected, { timed: BY_TIMER.has(this.#case.name) })
  }

  async #notified(client: ExecutorClient, { method, params = {} }: z.infer<typeof Msg>): Promise<void> {
    const fits = (message: Message) =>
      message.method === method &&
      message.params?.processId === params.processId &&
      message.params?.requestId === params.requestId
    const timed = BY_TIMER.has(this.#case.name)
    if (method === 'process/output') {
      const expected = this.#outputSoFar(params)
      await client.when(() =>
        timed
          ? client.received.some((message) => fits(message))
          : this.#fits(outputOf(client, String(params.processId), String(params.stream)), expected),
      )
    } else if (method === 'http/request/bodyDelta') {
      if (params.done === true) {
        const last = await client.until((message) => fits(message) && message.params?.done === true)
        expect(typeof last.params?.error).toBe(typeof params.error)
      } else await client.until(fits)
      expectNumbers(client.received.filter(fits))
    } else {
      const told = await client.until(fits)
      expect({ ...told.params, seq: 0 }).toEqual({ ...params, seq: 0 })
      if (method === 'process/closed' && !timed)
        expectNumbers(
          client.received.filter(({ params: its }) => its?.processId === params.processId && its?.seq !== undefined),
        )
    }
    this.#told.push({ method, params })
  }

  /** Variables have no order. */
  #fits(text: string, expected: string): boolean {
    const sorted = (lines: string) => lines.split('\n').sort().join('\n')
    if (this.#case.name.startsWith('process/env-policy')) return sorted(text) === sorted(expected)
    return text.startsWith(expected)
  }

  readonly #told: z.infer<typeof Msg>[] = []

  /** What the case had on a stream of a process up to here; chunks may be cut otherwise. */
  #outputSoFar(params: Readonly<Record<string, unknown>>): string {
    const before = this.#told.filter(
      (one) => one.params?.processId === params.processId && one.params?.stream === params.stream,
    )
    const chunks = [...before.map((one) => one.params), params]
    return local(Buffer.concat(chunks.map((one) => Buffer.from(String(one?.chunk), 'base64'))).toString()).replaceAll(
      '/srv/app',
      folder,
    )
  }
}

async function closed(client: ExecutorClient, processId: string): Promise<void> {
  for (let afterSeq = 0; ; ) {
    const { result } = await client.ask('process/read', { processId, afterSeq, waitMs: 10_000 })
    if (result?.closed === true) return
    afterSeq = Number(result?.nextSeq) - 1
  }
}

/** A session takes its processes with it: one of them is the witness that it has ended. */
async function dropUntilExpired(client: ExecutorClient): Promise<void> {
  await client.ask('process/start', nodeProcess('witness', 'console.log(process.pid);setInterval(() => {}, 1000)'))
  await client.when(() => outputOf(client, 'witness').endsWith('\n'))
  await client.drop()
  await ended(Number(outputOf(client, 'witness')))
}

/** One counter from 1 without a hole. */
function expectNumbers(messages: readonly Message[]): void {
  const numbers = messages.map(({ params }) => Number(params?.seq)).sort((a, b) => a - b)
  expect(numbers).toEqual(numbers.map((_, index) => index + 1))
}

function expectAnswer(answer: Message, expected: z.infer<typeof Msg>, { timed = false }): void {
  expect(answer.error?.code).toBe(expected.error?.code)
  expect(answer.error?.data?.kind).toBe(expected.error?.data?.kind)
  const [given = {}, wanted = {}] = [answer.result, expected.result]
  if ('sessionId' in wanted) expect(given).toMatchObject({ sessionId: expect.any(String), environmentInfo: INFO })
  else if ('shell' in wanted) expect(given).toMatchObject(INFO)
  else if ('headers' in wanted) expectHttp(given, wanted)
  else if ('chunks' in wanted && timed) expect(Object.keys(given).sort()).toEqual(Object.keys(wanted).sort())
  else expect(given).toEqual(wanted)
}

const INFO = { shell: { name: expect.any(String), path: expect.any(String) }, capabilities: expect.any(Object) }
const Http = z.object({
  status: z.number(),
  headers: z.array(z.object({ name: z.string(), value: z.string() })),
  bodyBase64: z.string(),
})

/** The vectors leave out headers that they don't need. */
function expectHttp(given: unknown, wanted: unknown): void {
  const [ours, theirs] = [Http.parse(given), Http.parse(wanted)]
  expect([ours.status, ours.bodyBase64]).toEqual([theirs.status, theirs.bodyBase64])
  const named = new Set(theirs.headers.map(({ name }) => name))
  expect(ours.headers.filter(({ name }) => named.has(name))).toEqual(theirs.headers)
}

const SECRET = 'a secret of the tests, long enough for HS256'
const AUTHENTICATIONS: Readonly<Record<string, ExecutorAuthentication>> = {
  'auth/capability-token': token(),
  'auth/capability-token-sha256': token(),
  'auth/signed-bearer-token': {
    kind: 'signed-bearer-token',
    secret: Buffer.from(SECRET),
    issuer: 'iss1',
    audience: 'aud1',
    maxClockSkewSeconds: 5,
  },
  'auth/signed-bearer-token-default-skew': {
    kind: 'signed-bearer-token',
    secret: Buffer.from(SECRET),
    maxClockSkewSeconds: 30,
  },
}

function token(): ExecutorAuthentication {
  return { kind: 'capability-token', sha256: createHash('sha256').update('TOKEN').digest() }
}

describe('the executor lets in like the reference', () => {
  for (const { name, messages } of CASES.filter((one) => one.name.startsWith('auth/'))) {
    it.each(messages.map((step) => [step.label, step] as const))(`${name}: %s`, async (_, { request, response }) => {
      const authentication = AUTHENTICATIONS[name]
      if (authentication === undefined || request === undefined) throw new Error(`no such case: ${name}`)
      await using executor = await serveExecutorWebSocket({ host: '127.0.0.1', port: 0, authentication })
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([key, value]) => [
          key,
          value.replace(/<JWT (.*)>/, (__, text) => jwt(text)),
        ]),
      )
      const connecting = connectExecutor(`${executor.url}${request.path}`, headers)
      if (response?.status !== 101) return await expect(connecting).rejects.toThrow(String(response?.status))
      await using client = await connecting
      expect(await client.greet()).toMatch(/-/)
    })
  }
})

/** `HS256 [wrong-key] iss=… aud=[a,b] exp=+60 nbf=-3`, signed. */
function jwt(text: string): string {
  const [alg = '', ...rest] = text.split(' ')
  const claims: Record<string, unknown> = {}
  for (const part of rest.filter((one) => one.includes('='))) {
    const [key = '', value = ''] = part.split('=')
    if (key === 'exp' || key === 'nbf') claims[key] = Math.floor(Date.now() / 1000) + Number(value)
    else claims[key] = value.startsWith('[') ? value.slice(1, -1).split(',') : value
  }
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${encode({ alg, typ: 'JWT' })}.${encode(claims)}`
  if (alg === 'none') return `${signed}.`
  const key = rest.includes('wrong-key') ? 'another key of the tests, also long enough' : SECRET
  return `${signed}.${createHmac(alg.replace('HS', 'sha'), key).update(signed).digest('base64url')}`
}
