import { describe, expect, it } from 'vitest'
import { KeptApprovals } from '../../test/fixtures/authority/approval-call.js'
import { stdioConfig } from '../../test/fixtures/server-config.js'
import type { ApprovalMode, ServerConfig } from '../config/index.js'
import type { CapturedServer } from '../connections/index.js'
import { serverKey } from '../identity/index.js'
import type { JsonObject } from '../protocol/index.js'
import { approvalTarget, CallApprovals } from './approval.js'
import { callAuthority, issuedAuthority, stepApprovals } from './call-authority.js'
import { HostChannel } from './host-channel.js'
import type { ThreadOptions } from './types.js'

const TOOL: JsonObject = { name: 'wipe', inputSchema: { type: 'object' } }

function server(config: ServerConfig, environment: string | null = null, tools: readonly JsonObject[] = [TOOL]) {
  const captured: CapturedServer = {
    key: serverKey('notes', environment),
    config,
    source: { kind: 'config' },
    live: true,
    tools,
    catalogRevision: 1,
    client: undefined,
    clientNow: () => undefined,
    inventory: undefined,
    error: undefined,
    outage: () => undefined,
    prepareCall: () => {
      throw new Error('nothing is called here')
    },
  }
  return captured
}

const configured = (mode?: ApprovalMode, more: Partial<ServerConfig> = {}) =>
  stdioConfig({}, { ...(mode && { defaultToolsApprovalMode: mode }), ...more })

function approvals(options: Pick<ThreadOptions, 'onRequest' | 'onApproval'> = {}, live?: CapturedServer) {
  return new CallApprovals({
    multiEnvironment: true,
    primaryEnvironment: () => 'local',
    durable: new KeptApprovals(),
    live: async () => {
      if (live === undefined) throw new Error('started')
      return live
    },
    channel: new HostChannel(options),
    review: { compatibility: false },
    options,
    warn: () => {},
    apps: { approvalMode: () => undefined, connectorOf: () => undefined },
  })
}

function issuedFor(from: CallApprovals, captured: CapturedServer, tool: string) {
  const moment = { threadId: 'thread', turn: undefined, approvals: stepApprovals({}), places: [], threadCwd: '/here' }
  const issued = issuedAuthority(captured, { kind: 'runtime', profile: null }, moment)
  if (issued === undefined) throw new Error('nothing governs it')
  return callAuthority(issued, from.modeOf(captured, tool, issued))
}

const approve = (from: CallApprovals, captured: CapturedServer, tool = 'wipe') =>
  from.approve(
    captured,
    { tool, definition: TOOL, authority: issuedFor(from, captured, tool), payload: {}, ...NOBODY_ELSE },
    {},
  )
const bound = (from: CallApprovals, captured: CapturedServer) =>
  from.bound(captured, 'wipe', issuedFor(from, captured, 'wipe'), undefined)

/** Neither recorded nor hooked. */
const NOBODY_ELSE = { record: undefined, permission: undefined }

describe('without a policy of the thread', () => {
  it.each([
    [undefined, null],
    ['approve', null],
    [undefined, 'enva'],
    ['auto', 'enva'],
  ] as const)('a tool of mode %s in %s runs', async (mode, environment) => {
    expect(await approve(approvals(), server(configured(mode), environment))).toBeUndefined()
  })

  it.each([
    ['prompt', null],
    ['writes', 'enva'],
    ['auto', null],
  ] as const)('a tool of mode %s in %s is refused where nobody can be asked', async (mode, environment) => {
    await expect(approve(approvals(), server(configured(mode), environment))).rejects.toMatchObject({
      code: 'approval_required',
    })
  })

  it('takes no mode from a name that every object has', async () => {
    expect(await approve(approvals(), server(configured()), 'constructor')).toBeUndefined()
  })

  it('says in a shell’s words how to allow it', async () => {
    const odd = { ...server(configured('prompt'), 'dev box'), key: serverKey('my notes', 'dev box') }
    await expect(approve(approvals(), odd, "it's")).rejects.toThrow(
      process.platform === 'win32' ? /--env "dev box"/ : /reeve approvals allow 'my notes' 'it'\\''s' --env 'dev box'/,
    )
  })
})

describe('a tool that is only known from the cache', () => {
  const cached = { ...server(configured('prompt')), live: false }

  it('is looked up before anybody is asked, and bound to what is there', async () => {
    const now = server(configured('prompt'), null, [{ ...TOOL, description: 'new words' }])
    expect(await bound(approvals({}, now), cached)).toBe(now)
  })

  it('is not looked up where nobody would be asked', async () => {
    const free = { ...server(configured()), live: false }
    expect(await bound(approvals(), free)).toBe(free)
  })

  it.each([
    ['is gone', server(configured('prompt'), null, [])],
    ['takes something else', server(configured('prompt'), null, [{ name: 'wipe', inputSchema: { type: 'array' } }])],
    ['is configured otherwise', server(configured('prompt', { toolTimeoutMs: 1 }))],
  ])('is refused when it %s', async (_what, now) => {
    await expect(bound(approvals({}, now), cached)).rejects.toMatchObject({ code: 'stale_catalog' })
  })
})

it('names what an approval would be for, and nothing that is not there', () => {
  const { subject, binding } = approvalTarget(server(configured(), 'enva'), 'wipe')
  expect(subject).toMatchObject({ key: { name: 'notes', environment: 'enva' }, pluginId: null, tool: 'wipe' })
  expect(binding.definition).toMatch(/^[0-9a-f]{64}$/)
  expect(() => approvalTarget(server(configured()), 'toString')).toThrow(
    expect.objectContaining({ code: 'unknown_tool' }),
  )
})
