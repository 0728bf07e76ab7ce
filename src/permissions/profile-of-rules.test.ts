import { describe, expect, it } from 'vitest'
import { PermissionProfileError } from '../errors.js'
import { parsePermissionProfile } from './parse-profile.js'
import { type ProfileRules, profileOfRules } from './profile-of-rules.js'

const PLACE = { roots: ['/w'], style: 'posix', home: '/home/me' } as const
const rules = (...given: ProfileRules['rules']): ProfileRules => ({ rules: given, workspaceRoots: [], network: false })
const pathsOf = (profile: ProfileRules, place: Parameters<typeof profileOfRules>[1] = PLACE) => {
  const made = profileOfRules(profile, place)
  if (made.type !== 'managed' || made.file_system.type !== 'restricted') throw new Error('no entries')
  return made.file_system.entries.map(({ path }) =>
    path.type === 'path' ? path.path : path.type === 'glob_pattern' ? `glob ${path.pattern}` : path.value,
  )
}

describe('a profile of rules', () => {
  it('names every root, and what lies below each', () => {
    const profile: ProfileRules = {
      ...rules(
        { path: ':workspace_roots', access: 'write' },
        { path: ':workspace_roots', subpath: '**/*.env', access: 'deny' },
        { path: '/opt/*.key', access: 'deny' },
        { path: '/opt', subpath: 'a/b', access: 'read' },
        { path: '~/.ssh', access: 'deny' },
        { path: ':root', access: 'read' },
        { path: ':later', subpath: 'x', access: 'read' },
      ),
      workspaceRoots: ['~/more', '/w'],
      globScanMaxDepth: 2,
      network: true,
    }
    expect(pathsOf(profile)).toEqual([
      '/w',
      '/home/me/more',
      'glob /w/**/*.env',
      'glob /home/me/more/**/*.env',
      'glob /opt/*.key',
      '/opt/a/b',
      '/home/me/.ssh',
      { kind: 'root' },
      { kind: 'unknown', path: ':later', subpath: 'x' },
    ])
    const made = profileOfRules(profile, PLACE)
    expect(made).toMatchObject({ network: 'enabled', file_system: { glob_scan_max_depth: 2 } })
    expect(parsePermissionProfile(JSON.parse(JSON.stringify(made)))).toEqual(made)
  })

  it('can not be told where `~` means nothing, or a root is of another system', () => {
    const { home: _, ...unknown } = PLACE
    for (const one of [rules({ path: '~/x', access: 'deny' }), { ...rules(), workspaceRoots: ['~'] }])
      expect(() => profileOfRules(one, unknown)).toThrow(PermissionProfileError)
    expect(() => profileOfRules({ ...rules(), workspaceRoots: ['C:\\w'] }, PLACE)).toThrow(PermissionProfileError)
  })

  it('takes the roots of a Windows machine', () => {
    const profile = rules({ path: ':workspace_roots', subpath: 'a', access: 'read' })
    expect(pathsOf(profile, { roots: ['C:\\w'], style: 'windows' })).toEqual(['C:\\w\\a'])
  })
})
