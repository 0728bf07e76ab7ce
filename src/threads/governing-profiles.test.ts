import { describe, expect, it } from 'vitest'
import { NO_PERMISSIONS, type PermissionSettings } from '../config/index.js'
import type { JsonObject } from '../protocol/index.js'
import { discoveryProfile, governingProfiles } from './governing-profiles.js'
import { selectPlaces } from './selection.js'
import type { SelectedEnvironment } from './types.js'

const settings = (more: Partial<PermissionSettings>): PermissionSettings => ({ ...NO_PERMISSIONS, ...more })
const WRITING = settings({ byDefault: { is: 'mode', mode: 'workspace-write' } })

function parts(environments: readonly SelectedEnvironment[], given = NO_PERMISSIONS, chosen?: string) {
  const places = selectPlaces(environments, { defaultSelection: [], cwdOf: () => undefined, cwd: '/here' })
  const permissions = { settings: given, home: '/home/me', ...(chosen !== undefined && { chosen }) }
  return { places, permissions, threadCwd: '/here' }
}
const of = (...given: Parameters<typeof parts>) => governingProfiles(parts(...given))
/** What may be written to, of a profile. */
const written = (profile: JsonObject | null | undefined) =>
  JSON.stringify(profile).match(/"path":"[^"]+"(?=\},"access":"write")/g) ?? []

describe('without a profile that was handed over', () => {
  it('nothing is written where nothing is configured', () => {
    const { runtime, ofEnvironment, problems } = of([{ id: 'box', cwd: '/srv' }])
    const readOnly = {
      type: 'managed',
      file_system: {
        type: 'restricted',
        entries: [{ path: { type: 'special', value: { kind: 'root' } }, access: 'read' }],
      },
      network: 'restricted',
    }
    expect([runtime, ofEnvironment('box'), ofEnvironment('other'), problems]).toEqual([
      readOnly,
      readOnly,
      undefined,
      [],
    ])
  })

  it('each environment has what is configured, in its own folders', () => {
    const found = of(
      [
        { id: 'local', cwd: '/w', workspaceRoots: ['/w', '/x'] },
        { id: 'box', cwd: 'C:\\srv' },
      ],
      WRITING,
    )
    expect(written(found.runtime)).toEqual(['"path":"/w"', '"path":"/x"'])
    expect(written(found.ofEnvironment('box'))).toEqual(['"path":"C:\\\\srv"'])
  })

  it('an environment has its own, and what was asked for counts before that', () => {
    const own = settings({ ...WRITING, ofEnvironment: new Map([['box', 'read-only']]) })
    const places = [{ id: 'local' }, { id: 'box' }]
    expect(written(of(places, own).ofEnvironment('box'))).toEqual([])
    expect(written(of(places, own).ofEnvironment('local'))).toEqual(['"path":"/here"'])
    expect(of(places, own, ':danger-full-access').ofEnvironment('box')).toEqual({ type: 'disabled' })
  })

  it('nothing is allowed where a name means nothing, or `~` does', () => {
    const profiles = new Map([
      [
        'p',
        {
          name: 'p',
          workspaceRoots: [],
          rules: [{ path: '~/.ssh', access: 'deny' as const }],
          origin: { file: 'f', layer: 'user' as const },
        },
      ],
    ])
    const given = settings({
      byDefault: { is: 'profile', name: 'p' },
      profiles,
      ofEnvironment: new Map([['a', undefined]]),
    })
    const { runtime, ofEnvironment, problems } = of([{ id: 'a' }, { id: 'box' }], given)
    const nothing = { type: 'managed', file_system: { type: 'restricted', entries: [] }, network: 'restricted' }
    expect([ofEnvironment('a'), ofEnvironment('box')]).toEqual([nothing, nothing])
    expect(JSON.stringify(runtime)).toContain('/home/me/.ssh')
    expect(problems).toMatchObject([{ code: 'invalid_permission_profile', environment: 'box' }])
  })
})

describe('a profile that was handed over', () => {
  const special = { type: 'special', value: { kind: 'project_roots' } }
  const profile: JsonObject = {
    later: 3,
    type: 'managed',
    file_system: { type: 'restricted', entries: [{ path: special, access: 'write', later: 1 }], later: 2 },
    network: 'restricted',
  }

  it('has its roots as paths, and keeps what nobody knows where it was', () => {
    const { ofEnvironment } = of([{ id: 'box', cwd: '/a', workspaceRoots: ['/a', '/b'], permissions: profile }])
    const entry = (path: string) => ({ path: { type: 'path', path }, access: 'write', later: 1 })
    const entries = [entry('/a'), entry('/b')]
    expect(JSON.stringify(ofEnvironment('box'))).toBe(
      JSON.stringify({ ...profile, file_system: { type: 'restricted', entries, later: 2 } }),
    )
  })

  it('of the host holds where nobody says otherwise, in the folders there', () => {
    const places = [
      { id: 'local', cwd: '/w', permissions: profile },
      { id: 'box', cwd: '/srv' },
    ]
    expect(written(of(places).ofEnvironment('box'))).toEqual(['"path":"/srv"'])
    const own = settings({ ofEnvironment: new Map([['box', 'read-only']]) })
    expect(written(of(places, own).ofEnvironment('box'))).toEqual([])
    expect(written(of(places, own, 'read-only').ofEnvironment('local'))).toEqual(['"path":"/w"'])
  })

  it('that leads out of its roots is one problem, and allows nothing there alone', () => {
    const out = { type: 'special', value: { kind: 'project_roots', subpath: '../x' } }
    const bad = { ...profile, file_system: { type: 'restricted', entries: [{ path: out, access: 'write' }] } }
    const { ofEnvironment, problems } = of([
      { id: 'box', cwd: '/a', permissions: bad },
      { id: 'other', cwd: '/b', permissions: profile },
    ])
    expect(problems).toMatchObject([{ code: 'invalid_permission_profile', environment: 'box' }])
    expect(JSON.stringify(ofEnvironment('box'))).toContain('"entries":[]')
    expect(written(ofEnvironment('other'))).toEqual(['"path":"/b"'])
  })
})

describe('an environment is looked into', () => {
  it('under what was handed over or configured, and else openly', () => {
    const box = [{ id: 'box' }]
    expect(discoveryProfile('box', parts(box))).toBeUndefined()
    expect(discoveryProfile('box', parts(box, WRITING))).toMatchObject({ type: 'managed' })
    expect(discoveryProfile('box', parts([{ id: 'box', permissions: { type: 'later' } }]))).toEqual({ type: 'later' })
    expect(discoveryProfile('other', parts(box, WRITING))).toBeUndefined()
  })
})
