import { describe, expect, it } from 'vitest'
import { stdioConfig } from '../../test/fixtures/server-config.js'
import type { PermissionAuthority } from '../catalog/index.js'
import { serverKey } from '../identity/index.js'
import type { JsonObject } from '../protocol/index.js'
import { issuedAuthority, stepApprovals } from './call-authority.js'
import { callSandbox, withSandbox } from './call-sandbox.js'
import { selectPlaces } from './selection.js'

const PROFILE: JsonObject = { type: 'disabled', later: 1 }
const places = selectPlaces(
  [
    { id: 'devbox', cwd: '/srv/app', workspaceRoots: ['/srv/app', '/srv/lib'] },
    { id: 'plain', cwd: '/srv' },
  ],
  { defaultSelection: [], cwdOf: () => undefined, cwd: '/here' },
)
const moment = { threadId: 'thread', turn: undefined, approvals: stepApprovals({}), places, threadCwd: '/here' }
const issued = (environmentId: string, judgedBy: PermissionAuthority<JsonObject | null>) =>
  issuedAuthority(
    { key: serverKey('s'), config: stdioConfig({}, { environmentId }), catalogRevision: 1 },
    judgedBy,
    moment,
  )
function of(environment: string, profile: JsonObject | null = PROFILE) {
  const authority = issued(environment, { kind: 'environment', environment, profile })
  return authority && callSandbox(authority)
}

const ASKS = { capabilities: { experimental: { 'codex/sandbox-state': {} } } }
const LAUNCHER = { codexExecutable: '/opt/codex/codex' }
const found = () => Promise.resolve(LAUNCHER)
const unasked = () => Promise.reject(new Error('asked for a launcher'))

describe('the policy that calls carry', () => {
  it('is of the environment that the server runs in', () => {
    expect(of('devbox')).toEqual({
      executionEnvironment: 'devbox',
      profile: PROFILE,
      cwd: '/srv/app',
    })
    expect(of('local')).toMatchObject({ cwd: '/here' })
  })

  it('is none where the thread does not work, where nothing governs, and where none is known', () => {
    expect(of('other')).toBeUndefined()
    expect(of('devbox', null)).toBeUndefined()
    expect(issued('devbox', { kind: 'none' })).toBeUndefined()
  })
})

describe('a call', () => {
  const payload: { readonly arguments: JsonObject; readonly _meta: JsonObject } = {
    arguments: {},
    _meta: { mine: 1, threadId: 't' },
  }

  it('has it behind all else', async () => {
    const { _meta } = await withSandbox(payload, of('local'), ASKS, 'stdio', found)
    expect(Object.keys(_meta)).toEqual([
      'mine',
      'threadId',
      'codex/sandbox-state',
      'codex/sandbox-state-meta',
      'codex/sandbox-launcher',
    ])
    expect(_meta['codex/sandbox-launcher']).toEqual(LAUNCHER)
  })

  it('looks for a launcher only where it would be sent', async () => {
    expect(await withSandbox(payload, of('local'), { capabilities: {} }, 'stdio', unasked)).toBe(payload)
    expect(await withSandbox(payload, undefined, ASKS, 'stdio', unasked)).toBe(payload)
    for (const [sandbox, transport] of [
      [of('devbox'), 'stdio'],
      [of('local'), 'streamable_http'],
    ] as const) {
      const { _meta } = await withSandbox(payload, sandbox, ASKS, transport, unasked)
      expect(Object.keys(_meta).slice(2)).toEqual(['codex/sandbox-state', 'codex/sandbox-state-meta'])
    }
  })

  it('can be given up while a launcher is tried out', async () => {
    const abort = new AbortController()
    const call = withSandbox(payload, of('local'), ASKS, 'stdio', () => new Promise(() => {}), abort.signal)
    abort.abort()
    await expect(call).rejects.toMatchObject({ code: 'cancelled' })
  })

  it('goes without a launcher where none works', async () => {
    const { _meta } = await withSandbox(payload, of('local'), ASKS, 'stdio', () => Promise.resolve(undefined))
    expect(_meta).not.toHaveProperty(['codex/sandbox-launcher'])
    expect(_meta).toHaveProperty(['codex/sandbox-state'])
  })
})
