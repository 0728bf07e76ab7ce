import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { presetProfile } from '../../src/permissions/index.js'
import type { JsonObject } from '../../src/protocol/index.js'
import type { ModelCallFacts, Thread, TurnFacts } from '../../src/reeve.js'
import { httpServer } from '../fixtures/http/recording-server.js'
import { type Frame, notes, notesToml, ThreadWorld } from '../fixtures/threads/thread-world.js'
import { oursOf, type VectorCase, vectorCases } from './cases.js'

const FILE = 'handshake.json'
const of = (kind: string) => vectorCases(FILE).filter(({ input }) => input.kind === kind)
const wantedOf = (one: VectorCase): unknown => oursOf(FILE, one) ?? one.expected
const titleOf = (one: VectorCase) => (oursOf(FILE, one) === undefined ? one.name : `${one.name}, ours`)

const LEGACY = 'protocol = "legacy"'
/** A server of this machine, in the world's folder. */
const NOTES = notesToml('p', ['--record', 'frames', '--plain'], LEGACY)
const LAUNCHER = fileURLToPath(new URL('../fixtures/sandbox/launcher.sh', import.meta.url))

describe('_meta of a call by a model', () => {
  for (const one of callsBy('model')) {
    it(one.name, async () => {
      const { sandboxCapability, userInputRequested, ...placed } = ModelCall.parse(one.input)
      await using served = await serverOf(placed, sandboxCapability)
      const { world } = served
      await using thread = await world.reeve.startThread({
        capabilityRoots: world.roots,
        environments: world.select(placed.executionEnvironment).map((place) => ({
          ...place,
          permissions: { type: 'disabled' },
        })),
      })
      await callOfModel(thread, TURN, { ...CALL, userInputRequested })
      const meta = callsIn(served.frames())[0]?.params?._meta ?? {}
      expect({
        metaKeys: Object.keys(meta),
        turnMetadataKeys: Object.keys(meta[TURN_METADATA] ?? {}),
      }).toEqual(one.expected)
    })
  }

  for (const one of callsBy('hook')) {
    it(one.name, async () => {
      const handler = 'type = "mcp_tool"\nserver = "p"\ntool = "ask"\n'
      const config = `${NOTES}[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\n${handler}`
      await using world = await ThreadWorld.open({ config })
      await using thread = await world.reeve.startThread()
      await callOfModel(thread, TURN, CALL)
      const [hook, model] = callsIn(world.received('frames'))
      expect([hook?.params?.name, model?.params?.name]).toEqual(['ask', 'whoami'])
      expect({ metaKeys: Object.keys(hook?.params?._meta ?? {}) }).toEqual(one.expected)
    })
  }

  for (const one of of('callMetaSample')) {
    it(titleOf(one), async () => {
      const { callId, itemId, model, cwd, sandboxMode } = Sample.parse(one.input)
      await using served = await serverOf(LOCAL)
      const { world } = served
      const permissions = z.record(z.string(), z.json()).parse(presetProfile(sandboxMode, { cwd }))
      await using thread = await world.reeve.startThread({ environments: [{ id: 'local', cwd, permissions }] })
      const metadata = { ...TURN.metadata, model, turn_id: '<turn-id>', sandbox: 'seccomp', sandbox_mode: sandboxMode }
      await callOfModel(thread, { metadata }, { callId, itemId })
      const meta = callsIn(served.frames())[0]?.params?._meta ?? {}
      expect(meta.progressToken).toEqual(expect.any(Number))
      const text = JSON.stringify({ meta: { ...meta, progressToken: '<number>' } })
      const seen = text.replaceAll(thread.id, '<thread-id>').replaceAll(LAUNCHER, '/opt/codex/codex')
      expect(JSON.parse(seen)).toEqual(wantedOf(one))
      expect(Object.keys(meta)).toEqual(Object.keys(Meta.parse(wantedOf(one)).meta))
    })
  }

  it('keeps what a caller writes of the turn from a server, and says nothing of a turn that nobody named', async () => {
    await using world = await ThreadWorld.open({ config: NOTES })
    await using thread = await world.reeve.startThread()
    const forged = { mine: 1, callId: 'x', [TURN_METADATA]: {}, sessionId: 'x', threadId: 'x', itemId: 'x' }
    await callOfModel(thread, TURN, { callId: 'call_1' }, forged)
    await callOfModel(thread, undefined, CALL)
    const [told, untold] = callsIn(world.received('frames')).map(({ params }) => params?._meta ?? {})
    expect(Object.keys(told ?? {})).toEqual([
      'mine',
      'callId',
      TURN_METADATA,
      'threadId',
      'sessionId',
      'windowId',
      'progressToken',
    ])
    expect(told).toMatchObject({ callId: 'call_1', threadId: thread.id, sessionId: thread.id })
    expect(Object.keys(untold ?? {})).toEqual(['threadId', 'progressToken'])
  })

  it('is not made, nor a step taken, with facts that can not be sent', async () => {
    await using world = await ThreadWorld.open({ config: NOTES })
    await using thread = await world.reeve.startThread()
    await expect(thread.step({ turn: { window: -1 } })).rejects.toMatchObject({ code: 'invalid_arguments' })
    const facts: object = { callId: 7 }
    await expect(callOfModel(thread, TURN, facts)).rejects.toMatchObject({ place: 'call.callId' })
    expect(callsIn(world.received('frames'))).toEqual([])
  })
})

it('leaves no case of these kinds out', () => {
  expect(['model', 'client', 'hook'].map((origin) => callsBy(origin).length)).toEqual([10, 4, 1])
  expect(of('callMeta')).toHaveLength(15)
  expect(of('callMetaSample')).toHaveLength(1)
})

const TURN_METADATA = 'x-codex-turn-metadata'

/** As a host like the reference tells it; `session_id` and `thread_id` are the runtime's. */
const TURN = {
  metadata: {
    model: 'mock-model',
    turn_id: 'turn-1',
    turn_started_at_unix_ms: 1_700_000_000_000,
    sandbox: 'none',
    sandbox_mode: 'danger-full-access',
    auto_review_enabled: false,
    node_repl_auto_review_required: false,
    node_repl_disabled: false,
    codex_version: '0.171.0',
  },
}
const CALL = { callId: 'call_1', itemId: 'fc_1' }

const callsBy = (origin: string) => of('callMeta').filter(({ input }) => input.origin === origin)
const callsIn = (frames: readonly Frame[]) => frames.filter(({ method }) => method === 'tools/call')

async function callOfModel(thread: Thread, turn: TurnFacts | undefined, call: ModelCallFacts, _meta?: JsonObject) {
  const step = await thread.step({ wait: 'all', ...(turn && { turn }) })
  const tool = step.tools.find((one) => one.tool === 'whoami')
  if (tool === undefined) throw new Error('nothing is offered')
  await step.call({ ...tool, ...(_meta && { _meta }) }, { call })
}

const Placed = z.looseObject({
  transport: z.enum(['stdio', 'streamable_http']),
  environmentId: z.string().nullable(),
  executionEnvironment: z.string(),
  plugin: z.boolean(),
})
const LOCAL = { transport: 'stdio', environmentId: null, executionEnvironment: 'local', plugin: false } as const
const ModelCall = Placed.extend({ sandboxCapability: z.boolean(), userInputRequested: z.boolean() })
const Sample = z.looseObject({
  callId: z.string(),
  itemId: z.string(),
  model: z.string(),
  cwd: z.string(),
  sandboxMode: z.enum(['read-only', 'workspace-write', 'danger-full-access']),
})
const Meta = z.object({ meta: z.record(z.string(), z.json()) })

interface Served extends AsyncDisposable {
  readonly world: ThreadWorld
  readonly frames: () => readonly Frame[]
}

/** The server `p`, declared where a case wants it: by the host, by a plugin, or by the configuration of an executor. */
async function serverOf(placed: z.infer<typeof Placed>, asks = true): Promise<Served> {
  const { transport, environmentId, executionEnvironment, plugin } = placed
  const isLocal = executionEnvironment === 'local'
  const http = transport === 'stdio' ? undefined : await httpServer()
  const url = http && `[mcp_servers.p]\nurl = "${http.url}"\n${LEGACY}\n`
  const place = `${isLocal ? '' : `environment_id = "${executionEnvironment}"\n`}cwd = "/"\n`
  const folder = mkdtempSync(join(tmpdir(), 'reeve-frames-'))
  const record = join(folder, 'frames')
  const recording = ['--record', record, ...(asks ? [] : ['--plain'])]
  const ofHost = environmentId === null ? (url ?? notesToml('p', recording, `${place}${LEGACY}`)) : ''
  const ofPlugin = http ? { url: http.url, protocol: 'legacy' } : notes(...recording)
  const world = await ThreadWorld.open({
    executors: isLocal ? [] : [executionEnvironment],
    config: `launcher = ${JSON.stringify(LAUNCHER)}\n${ofHost}`,
    plugins: plugin ? [{ id: 'root', environment: executionEnvironment, servers: { p: ofPlugin } }] : [],
  })
  if (environmentId !== null && !plugin) {
    mkdirSync(join(world.folder, '.codex'))
    world.write('.codex/config.toml', url ?? '')
  }
  return {
    world,
    frames: () => http?.messages ?? framesOf(record),
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      await http?.[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function framesOf(file: string): readonly Frame[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line))
}
