import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { executionCwd, type SandboxHost, sandboxMeta } from '../../src/authority/index.js'
import { presetProfile } from '../../src/permissions/index.js'
import { callMeta } from '../../src/threads/meta.js'
import { vectorCases } from './cases.js'

const FILE = 'sandbox.json'
const KINDS = ['capability', 'callerMeta', 'launcher', 'state', 'sandboxCwd', 'launcherValue'] as const
const of = (kind: (typeof KINDS)[number]) => vectorCases(FILE).filter(({ input }) => input.kind === kind)

const PATH = '/opt/codex/codex'
const HOST: SandboxHost = { launcher: { codexExecutable: PATH } }
const CALL = { executionEnvironment: 'local', profile: { type: 'disabled' }, cwd: '/workspace/a' }
const ASKING = { experimental: { 'codex/sandbox-state': {} } }
const STATE_KEYS = ['codex/sandbox-state', 'codex/sandbox-state-meta'] as const

const PRESETS = ['read-only', 'workspace-write', 'danger-full-access'] as const
const Json = z.record(z.string(), z.json())
const Placed = z.looseObject({ transport: z.enum(['stdio', 'streamable_http']), executionEnvironment: z.string() })

describe('capability', () => {
  for (const one of of('capability')) {
    it(one.name, () => {
      const { experimental, transport, executionEnvironment } = Placed.extend({ experimental: Json }).parse(one.input)
      const server = { capabilities: { experimental }, transport }
      const meta = sandboxMeta({ ...CALL, executionEnvironment }, server, HOST)
      const [state, alias] = STATE_KEYS.map((key) => meta[key] && JSON.stringify(meta[key]))
      expect({
        sandboxKeys: Object.keys(meta),
        stateCopiesEqual: state === undefined && alias === undefined ? null : state === alias,
      }).toEqual(one.expected)
    })
  }
})

describe('what a caller supplies', () => {
  for (const one of of('callerMeta')) {
    it(one.name, () => {
      const { experimental, callerMeta } = z.looseObject({ experimental: Json, callerMeta: Json }).parse(one.input)
      const ours = sandboxMeta(CALL, { capabilities: { experimental }, transport: 'stdio' }, HOST)
      const meta = callMeta('p/run', callerMeta, { threadId: 'thread-1', ...ours })
      const isSent = STATE_KEYS[0] in meta
      const isSpoof = meta[STATE_KEYS[0]] === callerMeta[STATE_KEYS[0]]
      expect({
        // The token is the connection's, which puts it behind all else.
        metaKeys: [...Object.keys(meta), 'progressToken'],
        mine: meta.mine,
        threadIdOverwritten: meta.threadId === 'thread-1',
        spoofRemoved: !isSent,
        spoofReplaced: isSent && !isSpoof,
      }).toEqual(one.expected)
    })
  }
})

describe('launcher', () => {
  for (const one of of('launcher')) {
    it(one.name, () => {
      const { transport, executionEnvironment } = Placed.parse(one.input)
      const meta = sandboxMeta({ ...CALL, executionEnvironment }, { capabilities: ASKING, transport }, HOST)
      expect({ launcher: 'codex/sandbox-launcher' in meta, state: STATE_KEYS[0] in meta }).toEqual(one.expected)
    })
  }

  for (const one of of('launcherValue')) {
    it(one.name, () => {
      const meta = sandboxMeta(CALL, { capabilities: ASKING, transport: 'stdio' }, HOST)
      expect({ value: meta['codex/sandbox-launcher'] }).toEqual(one.expected)
    })
  }
})

describe('state', () => {
  for (const one of of('state')) {
    it(one.name, () => {
      const { permissionMode, ownerCwd, helper } = z
        .looseObject({ permissionMode: z.string(), ownerCwd: z.string(), helper: z.string() })
        .parse(one.input)
      const { state } = z.looseObject({ state: Json }).parse(one.expected)
      const preset = PRESETS.find((name) => name === permissionMode)
      // A profile of the user's own is the environment's object.
      const profile = Json.parse(
        preset === undefined ? state.permissionProfile : presetProfile(preset, { cwd: ownerCwd }),
      )
      const host = { ...HOST, linuxSandboxExecutable: helper }
      const call = { ...CALL, profile, cwd: ownerCwd }
      const meta = sandboxMeta(call, { capabilities: ASKING, transport: 'stdio' }, host)
      for (const key of STATE_KEYS) expect(JSON.stringify(meta[key])).toBe(JSON.stringify(state))
    })
  }

  for (const one of of('sandboxCwd')) {
    it(one.name, () => {
      const { server, threadCwd, selectedEnvironments } = z
        .looseObject({
          server: z.looseObject({ executionEnvironment: z.string() }),
          threadCwd: z.string(),
          selectedEnvironments: z.array(z.object({ environmentId: z.string(), cwd: z.string() })),
        })
        .parse(one.input)
      const selected = selectedEnvironments.map(({ environmentId, cwd }) => ({ id: environmentId, cwd }))
      const { executionEnvironment } = server
      const cwd = executionCwd(executionEnvironment, selected, threadCwd)
      const call = { executionEnvironment, profile: CALL.profile, ...(cwd !== undefined && { cwd }) }
      const meta = sandboxMeta(call, { capabilities: ASKING, transport: 'stdio' }, HOST)
      const { sandboxCwd } = Json.parse(meta[STATE_KEYS[0]])
      expect({ sandboxCwd }).toEqual(one.expected)
    })
  }
})

describe('_meta of calls by models, clients and hooks', () => {
  const cases = vectorCases('handshake.json').filter(({ input }) => input.kind === 'callMeta')
  for (const one of cases) {
    it(one.name, () => {
      const { transport, executionEnvironment, sandboxCapability } = Placed.extend({
        sandboxCapability: z.boolean(),
      }).parse(one.input)
      const { metaKeys } = z.looseObject({ metaKeys: z.array(z.string()) }).parse(one.expected)
      const capabilities = sandboxCapability ? ASKING : {}
      const ours = Object.keys(sandboxMeta({ ...CALL, executionEnvironment }, { capabilities, transport }, HOST))
      expect(ours).toEqual(metaKeys.filter((key) => key.startsWith('codex/sandbox')))
      // Behind all ids, before the token.
      expect(metaKeys.slice(-ours.length - 1)).toEqual([...ours, 'progressToken'])
    })
  }

  it('are all there', () => {
    expect(cases).toHaveLength(15)
  })
})

it('leaves no case of these kinds out', () => {
  expect(KINDS.map((kind) => of(kind).length)).toEqual([5, 3, 6, 6, 4, 1])
})
