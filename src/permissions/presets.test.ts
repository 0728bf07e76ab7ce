import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PermissionProfileError } from '../errors.js'
import { materialiseRoots } from './materialise.js'
import { parsePermissionProfile } from './parse-profile.js'
import { presetProfile } from './presets.js'
import { hasFullAccess, hasFullDiskRead, hasFullDiskWrite, hasNetwork } from './questions.js'
import { parseSandboxPolicy, profileOfPolicy } from './sandbox-policy.js'

const pathsOf = (profile: object) =>
  JSON.parse(JSON.stringify(profile)).file_system.entries.map(
    ({ path }: { path: { path?: string; value?: { kind: string } } }) => path.path ?? path.value?.kind,
  )

describe('presets', () => {
  it('protects the same folders in every workspace root', () => {
    const profile = presetProfile('workspace-write', { cwd: '/w', workspaceRoots: ['/w', '/v'], excludeTmpdir: true })
    expect(pathsOf(profile)).toEqual([
      'root',
      '/w',
      '/v',
      'slash_tmp',
      ...['.git', '.agents', '.codex', '.aws'].map((name) => `/w/${name}`),
      ...['.git', '.agents', '.codex', '.aws'].map((name) => `/v/${name}`),
    ])
  })

  it("follows the environment's path style", () => {
    const profile = presetProfile('workspace-write', { cwd: 'C:\\w', style: 'windows', excludeSlashTmp: true })
    expect(pathsOf(profile)).toContain('C:\\w\\.git')
    expect(() => presetProfile('workspace-write', { cwd: 'C:\\w' })).toThrow(PermissionProfileError)
    expect(() => presetProfile('workspace-write', { cwd: '/w', style: 'windows' })).toThrow(PermissionProfileError)
  })

  it('is read back as it was written', () => {
    for (const preset of ['read-only', 'workspace-write', 'danger-full-access'] as const) {
      const profile = presetProfile(preset, { cwd: '/w', network: 'enabled' })
      expect(parsePermissionProfile(JSON.parse(JSON.stringify(profile)))).toEqual(profile)
    }
  })
})

describe('sandbox policies', () => {
  const profileFor = (policy: unknown) => profileOfPolicy(parseSandboxPolicy(policy), { cwd: '/w' })

  it('say the same as the presets', () => {
    expect(profileFor({ type: 'dangerFullAccess' })).toEqual({ type: 'disabled' })
    expect(profileFor({ type: 'readOnly' })).toEqual(presetProfile('read-only', { cwd: '/w' }))
    expect(profileFor({ type: 'externalSandbox', networkAccess: 'enabled' })).toEqual({
      type: 'external',
      network: 'enabled',
    })
    expect(profileFor({ type: 'workspaceWrite', writableRoots: ['/v'], networkAccess: true })).toEqual(
      presetProfile('workspace-write', { cwd: '/w', workspaceRoots: ['/v'], network: 'enabled' }),
    )
    expect(
      pathsOf(profileFor({ type: 'workspaceWrite', excludeSlashTmp: true, excludeTmpdirEnvVar: true })).slice(0, 3),
    ).toEqual(['root', '/w', '/w/.git'])
  })

  it('are refused by the member that is wrong', () => {
    const placed = (place: string) => expect.objectContaining({ code: 'invalid_permission_profile', place })
    expect(() => parseSandboxPolicy({ type: 'readonly' })).toThrow(placed('sandboxPolicy.type'))
    expect(() => parseSandboxPolicy({ type: 'readOnly', networkAccess: 1 })).toThrow(
      placed('sandboxPolicy.networkAccess'),
    )
    expect(() => parseSandboxPolicy({ type: 'workspaceWrite', writableRoots: ['w'] })).toThrow(
      placed('sandboxPolicy.writableRoots[0]'),
    )
    expect(() => parseSandboxPolicy({ type: 'workspaceWrite', excludeSlashTmp: 'no' })).toThrow(
      placed('sandboxPolicy.excludeSlashTmp'),
    )
  })
})

describe('materialised roots', () => {
  const special = (value: object, more: object = {}) => ({ path: { type: 'special', value }, access: 'write', ...more })
  const managed = (...entries: object[]) => ({
    type: 'managed',
    file_system: { type: 'restricted', entries, later: 1 },
    network: 'restricted',
    unknown: { kept: [1] },
  })

  it('are one entry a root, with everything else as it came', () => {
    const profile = managed(
      special({ kind: 'root' }),
      special({ kind: 'project_roots', subpath: 'src' }, { note: 'x' }),
      special({ kind: 'current_working_directory' }),
      special({ kind: 'tmpdir' }),
    )
    expect(materialiseRoots(profile, { cwd: '/w', roots: ['/w', '/v'] })).toEqual(
      managed(
        special({ kind: 'root' }),
        { path: { type: 'path', path: '/w/src' }, access: 'write', note: 'x' },
        { path: { type: 'path', path: '/v/src' }, access: 'write', note: 'x' },
        { path: { type: 'path', path: '/w' }, access: 'write' },
        special({ kind: 'tmpdir' }),
      ),
    )
  })

  it("are joined by the environment's rules", () => {
    const profile = managed(special({ kind: 'project_roots', subpath: 'a/b' }))
    expect(pathsOf(materialiseRoots(profile, { cwd: 'D:\\w', style: 'windows' }))).toEqual(['D:\\w\\a\\b'])
    expect(() => materialiseRoots(profile, { cwd: 'D:\\w' })).toThrow(PermissionProfileError)
  })

  it('never lie outside', () => {
    for (const subpath of ['..', '../x', '/etc', 'a/../../x']) {
      const profile = managed(special({ kind: 'project_roots', subpath }))
      expect(() => materialiseRoots(profile, { cwd: '/w' })).toThrow(/leads out of its root/)
    }
    const profile = managed(special({ kind: 'project_roots', subpath: '..x/../y' }))
    expect(pathsOf(materialiseRoots(profile, { cwd: '/w' }))).toEqual(['/w/y'])
  })

  it('leave profiles without entries alone', () => {
    for (const profile of [{ type: 'disabled' }, { file_system: { read: ['/'] } }, { file_system: null }]) {
      expect(materialiseRoots(profile, { cwd: '/w' })).toBe(profile)
    }
  })
})

describe('what a profile allows', () => {
  const entry = (path: object, access: string) => ({ path, access })
  const root = (access: string) => entry({ type: 'special', value: { kind: 'root' } }, access)
  const at = (path: string, access: string) => entry({ type: 'path', path }, access)
  const answers = (...entries: object[]) => {
    const profile = parsePermissionProfile({
      type: 'managed',
      file_system: { type: 'restricted', entries },
      network: 'enabled',
    })
    return { read: hasFullDiskRead(profile), write: hasFullDiskWrite(profile), all: hasFullAccess(profile) }
  }

  it('is everything only without an entry that narrows it', () => {
    expect(answers(root('write'))).toEqual({ read: true, write: true, all: true })
    expect(answers(at('/', 'write'))).toEqual({ read: true, write: true, all: true })
    expect(answers(root('write'), at('/a', 'read'))).toEqual({ read: true, write: false, all: false })
    expect(answers(root('write'), at('/a', 'read'), at('/a', 'write'))).toEqual({ read: true, write: true, all: true })
    expect(answers(root('write'), at('/a', 'write'), at('/a', 'deny'))).toEqual({
      read: false,
      write: false,
      all: false,
    })
    const minimal = entry({ type: 'special', value: { kind: 'minimal' } }, 'read')
    expect(answers(root('write'), minimal)).toEqual({ read: true, write: true, all: true })
    expect(answers(root('read'))).toEqual({ read: true, write: false, all: false })
    expect(answers(at('/a', 'write'))).toEqual({ read: false, write: false, all: false })
  })

  it('includes the network only where the profile says so', () => {
    expect(hasNetwork({ type: 'disabled' })).toBe(true)
    expect(hasNetwork({ type: 'external', network: 'restricted' })).toBe(false)
    expect(hasFullDiskWrite({ type: 'external', network: 'restricted' })).toBe(true)
    expect(hasFullAccess({ type: 'managed', file_system: { type: 'unrestricted' }, network: 'restricted' })).toBe(false)
  })
})

describe('materialised roots of any profile', () => {
  it('change entries for roots, and nothing else', () => {
    const entry = fc.oneof(
      fc.jsonValue(),
      fc.record({
        path: fc.record({
          type: fc.constant('special'),
          value: fc.record({ kind: fc.constantFrom('root', 'project_roots', 'later'), more: fc.jsonValue() }),
        }),
        access: fc.jsonValue(),
        more: fc.jsonValue(),
      }),
    )
    fc.assert(
      fc.property(fc.array(entry), fc.jsonValue(), (entries, more) => {
        const profile = JSON.parse(JSON.stringify({ file_system: { entries, more }, more }))
        const made = JSON.parse(JSON.stringify(materialiseRoots(profile, { cwd: '/w' })))
        expect(Object.keys(made)).toEqual(Object.keys(profile))
        expect(made.more).toEqual(profile.more)
        expect(made.file_system.more).toEqual(profile.file_system.more)
        for (const [index, one] of profile.file_system.entries.entries()) {
          const isRoot = one?.path?.type === 'special' && one.path.value?.kind === 'project_roots'
          const expected = isRoot ? { ...one, path: { type: 'path', path: '/w' } } : one
          expect(made.file_system.entries[index]).toEqual(expected)
        }
      }),
    )
  })
})
