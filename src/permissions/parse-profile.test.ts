import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PermissionProfileError } from '../errors.js'
import { parsePermissionProfile } from './parse-profile.js'

const ROOT = { path: { type: 'special', value: { kind: 'root' } }, access: 'read' }
const managed = (...entries: unknown[]) => ({
  type: 'managed',
  file_system: { type: 'restricted', entries },
  network: 'restricted',
})
const placeOf = (value: unknown): string | undefined => {
  try {
    parsePermissionProfile(value, 'permissionProfile')
  } catch (error) {
    if (error instanceof PermissionProfileError) return error.place
    throw error
  }
  return undefined
}

describe('parsePermissionProfile', () => {
  it('reads the old `none` as `deny`, and leaves out what is null', () => {
    const entry = { path: { type: 'path', path: '/a' }, access: 'none', missing_path_behavior: null }
    expect(parsePermissionProfile(managed(entry))).toEqual(
      managed({ path: { type: 'path', path: '/a' }, access: 'deny' }),
    )
  })

  it('reads the forms without a type', () => {
    const path = (at: string) => ({ type: 'path', path: at })
    expect(parsePermissionProfile({ network: { enabled: true }, file_system: { read: ['/'], write: ['/a'] } })).toEqual(
      {
        type: 'managed',
        file_system: {
          type: 'restricted',
          entries: [
            { path: path('/'), access: 'read' },
            { path: path('/a'), access: 'write' },
          ],
        },
        network: 'enabled',
      },
    )
    expect(parsePermissionProfile({ network: null, file_system: { read: null } })).toEqual(managed())
    expect(parsePermissionProfile({ file_system: { entries: [ROOT] } })).toEqual(managed(ROOT))
  })

  it('refuses what the form without a type does not know, since no type says what it means', () => {
    expect(placeOf({ file_system: { deny: ['/a'] } })).toBe('permissionProfile.file_system.deny')
    expect(placeOf({ file_system: { entries: [], read: [] } })).toBe('permissionProfile.file_system.read')
    expect(placeOf({ kind: 'managed' })).toBe('permissionProfile.kind')
  })

  it('takes paths of other systems, and no relative ones', () => {
    const write = (path: string) => managed({ path: { type: 'path', path }, access: 'write' })
    expect(placeOf(write('C:\\work'))).toBeUndefined()
    expect(placeOf(write('\\\\server\\share\\x'))).toBeUndefined()
    for (const path of ['rel', '~/x', '', '\\x', 'C:x', 'file:///a', '/a\0b']) {
      expect(placeOf(write(path))).toBe('permissionProfile.file_system.entries[0].path.path')
    }
  })

  it('names the member at fault', () => {
    expect(placeOf(null)).toBe('permissionProfile')
    expect(placeOf({ type: 'external' })).toBe('permissionProfile.network')
    expect(placeOf(managed(ROOT, { ...ROOT, access: 'exec' }))).toBe('permissionProfile.file_system.entries[1].access')
    for (const depth of [0, -1, 1.5, '3']) {
      const profile = managed(ROOT)
      expect(placeOf({ ...profile, file_system: { ...profile.file_system, glob_scan_max_depth: depth } })).toBe(
        'permissionProfile.file_system.glob_scan_max_depth',
      )
    }
  })

  it('finds nothing in what every object inherits', () => {
    expect(placeOf(JSON.parse('{"__proto__": {"type": "disabled"}}'))).toBe('permissionProfile.__proto__')
    expect(placeOf(Object.create({ type: 'disabled' }))).toBeUndefined()
    expect(parsePermissionProfile(Object.create({ type: 'disabled' }))).toEqual(managed())
  })

  it('gives a profile or a named refusal for any value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('type', 'file_system', 'network', 'entries'), (value, name) => {
        for (const profile of [value, { [name]: value }, managed(value), { ...managed(ROOT), [name]: value }]) {
          placeOf(profile)
        }
      }),
    )
  })

  it('cannot be changed afterwards', () => {
    const profile = parsePermissionProfile(managed(ROOT))
    if (profile.type !== 'managed' || profile.file_system.type !== 'restricted') throw new Error('not restricted')
    expect(Object.isFrozen(profile)).toBe(true)
    expect(Object.isFrozen(profile.file_system.entries)).toBe(true)
    expect(Object.isFrozen(profile.file_system.entries[0]?.path)).toBe(true)
  })
})
