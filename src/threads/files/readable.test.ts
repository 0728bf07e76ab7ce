import { posix } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../protocol/index.js'
import { readableUnder } from './readable.js'

type Access = 'read' | 'write' | 'deny'

function profile(...entries: readonly JsonObject[]): JsonObject {
  return { type: 'managed', network: 'restricted', file_system: { type: 'restricted', entries: [...entries] } }
}
const at = (path: string, access: Access): JsonObject => ({ path: { type: 'path', path }, access })
const special = (kind: string, access: Access): JsonObject => ({ path: { type: 'special', value: { kind } }, access })
const glob = (pattern: string, access: Access): JsonObject => ({ path: { type: 'glob_pattern', pattern }, access })

const PLACE = { cwd: '/work', workspaceRoots: ['/work', '/more'], style: 'posix' } as const
const reads = (of: JsonObject | null) => readableUnder({ ...PLACE, profile: of })

describe('what a permission profile lets be read', () => {
  it('is everything where none was handed over, or where it restricts no files', () => {
    for (const one of [
      null,
      { type: 'disabled' },
      { type: 'external', network: 'restricted' },
      { type: 'managed', network: 'restricted', file_system: { type: 'unrestricted' } },
      profile(special('root', 'read')),
    ])
      expect(reads(one)('/etc/passwd')).toBe(true)
  })

  it('is what the nearest entry says, of equals the stricter', () => {
    const mayRead = reads(
      profile(at('/a', 'read'), at('/a/b', 'deny'), at('/a/b/c', 'write'), at('/d', 'deny'), at('/d', 'read')),
    )
    expect(['/a', '/a/x', '/a/b', '/a/b/x', '/a/b/c/x', '/ab', '/', '/d/x'].map(mayRead)).toEqual([
      true,
      true,
      false,
      false,
      true,
      false,
      false,
      false,
    ])
  })

  it('is under every root of the workspace, and nowhere beside one', () => {
    const mayRead = reads(profile(special('project_roots', 'write')))
    expect(['/work/a', '/more/a', '/moreover', '/elsewhere'].map(mayRead)).toEqual([true, true, false, false])
  })

  it('is nothing that a pattern denies, nor what lies in a folder that one denies', () => {
    const mayRead = reads(profile(special('root', 'read'), glob('**/*.key', 'deny'), glob('/x/se*t', 'deny')))
    expect(['/work/a', '/work/a.key', '/work/b/c.key', '/x/secret/a', '/x/set', '/x/other'].map(mayRead)).toEqual([
      true,
      false,
      false,
      false,
      false,
      true,
    ])
  })

  it('is nothing where a pattern that denies can not be read for certain', () => {
    expect(reads(profile(special('root', 'read'), glob('/x/{a,b}', 'deny')))('/y')).toBe(false)
    expect(() => reads(profile(special('root', 'read'), special('unknown', 'deny')))).toThrow()
  })

  it('goes by the rules of Windows there', () => {
    const mayRead = readableUnder({
      profile: profile(at('C:\\Work', 'read'), at('C:\\Work\\Secret', 'deny')),
      cwd: 'C:\\Work',
      workspaceRoots: [],
      style: 'windows',
    })
    expect(['c:\\work\\a', 'C:\\WORK\\secret\\a', 'D:\\a'].map(mayRead)).toEqual([true, false, false])
  })

  it('never grows by an entry that denies, and never shrinks by one that lets be read', () => {
    const name = fc.constantFrom('a', 'b', 'c')
    const path = fc.array(name, { maxLength: 4 }).map((parts) => `/${parts.join('/')}`)
    const entry = fc.tuple(path, fc.constantFrom<Access>('read', 'write', 'deny'))
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 6 }), path, path, (entries, target, extra) => {
        const given = entries.map(([one, access]) => at(one, access))
        const before = reads(profile(...given))(target)
        if (!before) expect(reads(profile(...given, at(extra, 'deny')))(target)).toBe(false)
        if (before) expect(reads(profile(...given, at(extra, 'read')))(target)).toBe(true)
        // By hand: the longest entry that contains it, the stricter of equals.
        const over = entries.filter(([one]) => !posix.relative(one, target).startsWith('..'))
        const longest = Math.max(...over.map(([one]) => one.split('/').filter(Boolean).length))
        const nearest = over.filter(([one]) => one.split('/').filter(Boolean).length === longest)
        expect(before).toBe(nearest.length > 0 && nearest.every(([, access]) => access !== 'deny'))
      }),
    )
  })
})
