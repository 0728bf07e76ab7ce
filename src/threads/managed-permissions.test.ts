import { describe, expect, it } from 'vitest'
import type { ManagedPermissions } from '../config/index.js'
import { NO_PERMISSIONS, type PermissionSettings } from '../config/index.js'
import type { JsonObject } from '../protocol/index.js'
import { discoveryProfile, governingProfiles } from './governing-profiles.js'
import { limitedPolicy } from './managed-permissions.js'
import { selectPlaces } from './selection.js'
import type { SelectedEnvironment } from './types.js'

type Demand = Omit<ManagedPermissions, 'source'>

const demands = (...all: readonly Demand[]): readonly ManagedPermissions[] =>
  all.map((one, index) => ({ source: `/managed/${index}.toml`, ...one }))

function parts(managed: PermissionSettings['managed'], environments: readonly SelectedEnvironment[], chosen?: string) {
  const places = selectPlaces(environments, { defaultSelection: [], cwdOf: () => undefined, cwd: '/here' })
  const settings = { ...NO_PERMISSIONS, ...(managed && { managed }) }
  return { places, permissions: { settings, home: '/home/me', ...(chosen && { chosen }) }, threadCwd: '/here' }
}

/** What governs on the host, with the codes of the problems that there are. */
function held(managed: PermissionSettings['managed'], asked: JsonObject | string | undefined) {
  const permissions = typeof asked === 'object' ? asked : undefined
  const place = { id: 'local', cwd: '/w', ...(permissions && { permissions }) }
  const chosen = typeof asked === 'string' ? asked : undefined
  const { runtime, problems } = governingProfiles(parts(managed, [place], chosen))
  return { profile: runtime, problems: problems.map(({ code, environment }) => `${environment}: ${code}`) }
}

const ROOT = { type: 'special', value: { kind: 'root' } }
const managed = (entries: JsonObject[], network = 'restricted'): JsonObject => ({
  type: 'managed',
  file_system: { type: 'restricted', entries },
  network,
})
const READ_ONLY = managed([{ path: ROOT, access: 'read' }])
const NOTHING = managed([])
const FULL: JsonObject = { type: 'disabled' }
const at = (path: string, access: string): JsonObject => ({ path: { type: 'path', path }, access })
const TOLD = ['local: profile_not_allowed']

describe('sandbox modes that are allowed', () => {
  it('leave a wider profile what it lets be read, and a narrower one as it is', () => {
    const writing = demands({ modes: ['read-only', 'workspace-write'] })
    expect(held(writing, ':danger-full-access')).toEqual({ profile: READ_ONLY, problems: TOLD })
    expect(held(writing, ':workspace').problems).toEqual([])
    expect(held(writing, undefined)).toEqual({ profile: READ_ONLY, problems: [] })
    expect(held(demands({ modes: ['workspace-write'] }), ':read-only').problems).toEqual([])
  })

  it('never let more be read than the profile did', () => {
    const asked = managed([at('/w', 'write'), at('/w/.git', 'read'), at('/w/secret', 'deny')], 'enabled')
    const left = managed([at('/w', 'read'), at('/w/.git', 'read'), at('/w/secret', 'deny')])
    expect(held(demands({ modes: ['read-only'] }), asked)).toEqual({ profile: left, problems: TOLD })
  })

  it('take a profile that writes to the root for full access, whatever it denies below', () => {
    const asked = managed([{ path: ROOT, access: 'write' }, at('/nowhere', 'deny')])
    const slash = managed([at('/', 'write'), at('/nowhere', 'deny')])
    const writing = demands({ modes: ['workspace-write'] })
    expect(held(writing, asked).profile).toEqual(managed([{ path: ROOT, access: 'read' }, at('/nowhere', 'deny')]))
    expect(held(writing, slash).profile).toEqual(managed([at('/', 'read'), at('/nowhere', 'deny')]))
  })

  it('let another sandbox answer only where that is said', () => {
    const external = { type: 'external', network: 'enabled' }
    expect(held(demands({ modes: ['workspace-write'] }), external)).toEqual({ profile: NOTHING, problems: TOLD })
    expect(held(demands({ modes: ['read-only', 'external-sandbox'] }), external)).toEqual({
      profile: external,
      problems: [],
    })
  })

  it('keep the network closed where only reading is allowed', () => {
    const asked = managed([{ path: ROOT, access: 'read' }], 'enabled')
    expect(held(demands({ modes: ['read-only'] }), asked)).toEqual({ profile: READ_ONLY, problems: TOLD })
  })

  it('allow nothing where none is allowed, or the profile can’t be told', () => {
    expect(held(demands({ modes: [] }), ':read-only')).toEqual({ profile: NOTHING, problems: TOLD })
    const unknown = held(demands({ modes: ['danger-full-access'] }), { type: 'later' })
    expect(unknown).toEqual({ profile: NOTHING, problems: ['local: invalid_permission_profile'] })
  })
})

describe('permission profiles that are allowed', () => {
  it('are compared by what they say', () => {
    const workspace = demands({ presets: ['workspace-write'] })
    expect(held(workspace, ':workspace').problems).toEqual([])
    const handedOver = held(undefined, ':workspace').profile
    expect(held(workspace, { ...handedOver })).toEqual({ profile: handedOver, problems: [] })
    expect(held(workspace, { ...handedOver, network: 'enabled' }).problems).toEqual(TOLD)
    expect(held(workspace, FULL)).toEqual({ profile: READ_ONLY, problems: TOLD })
  })

  it('do not let a profile of the user’s own go by the name of one', () => {
    const rules = [{ path: ':root', access: 'write' as const }]
    const origin = { file: 'f', layer: 'user' as const }
    const own = { name: 'workspace-write', workspaceRoots: [], rules, origin }
    const given = parts(demands({ presets: ['workspace-write'] }), [{ id: 'local' }], 'workspace-write')
    const settings = { ...given.permissions.settings, profiles: new Map([['workspace-write', own]]) }
    const { runtime, problems } = governingProfiles({ ...given, permissions: { ...given.permissions, settings } })
    expect([runtime, problems.length]).toEqual([READ_ONLY, 1])
  })
})

describe('every environment', () => {
  it('is under what all files demand, also to be looked into', () => {
    const both = demands({ modes: ['workspace-write'] }, { modes: ['read-only'] })
    const environments = [
      { id: 'box', cwd: '/srv', permissions: FULL },
      { id: 'other', cwd: '/o' },
    ]
    const given = parts(both, environments, ':danger-full-access')
    const { ofEnvironment, problems } = governingProfiles(given)
    expect([ofEnvironment('box'), ofEnvironment('other')]).toEqual([READ_ONLY, READ_ONLY])
    expect(problems.map(({ environment }) => environment)).toEqual(expect.arrayContaining(['box', 'other']))
    expect(problems[0]?.message).toContain('allowed_sandbox_modes of /managed/0.toml')
    expect(discoveryProfile('box', given)).toEqual(READ_ONLY)
    expect(discoveryProfile('box', parts(both, [{ id: 'box', permissions: FULL }]))).toEqual(READ_ONLY)
    expect(discoveryProfile('box', parts(both, [{ id: 'box', cwd: '/srv' }]))).toBeUndefined()
    expect(discoveryProfile('box', parts(demands({ modes: [] }), [{ id: 'box', cwd: '/srv' }]))).toEqual(NOTHING)
  })
})

describe('approval policies that are allowed', () => {
  it('put the strictest in place of one that is wider than all of them', () => {
    const policies = demands({ policies: ['untrusted', 'on-request'] })
    expect(limitedPolicy('never', policies)).toEqual({
      value: 'untrusted',
      exceeded: ['allowed_approval_policies of /managed/0.toml'],
    })
    expect(limitedPolicy('on-request', policies).value).toBe('on-request')
    expect(limitedPolicy('untrusted', demands({ policies: ['never'] })).exceeded).toEqual([])
    expect(limitedPolicy('on-request', demands({ policies: [] })).value).toBe('untrusted')
    expect(limitedPolicy(null, demands({ policies: [] }))).toEqual({ value: null, exceeded: [] })
  })
})
