import { describe, expect, it } from 'vitest'
import { checkRoots, type SelectionContext, selectPlaces } from './selection.js'

const context = (changes: Partial<SelectionContext> = {}): SelectionContext => ({
  defaultSelection: ['local', 'devbox'],
  cwdOf: (id) => (id === 'devbox' ? '/srv/app' : undefined),
  known: ['local', 'devbox', 'winbox'],
  cwd: '/work',
  ...changes,
})
const codeOf = (work: () => unknown) => {
  try {
    work()
  } catch (error) {
    return (error as { code?: unknown }).code
  }
  return undefined
}

describe('selecting environments', () => {
  it('takes what the configuration selects where nothing is asked for, and nothing where nothing is wanted', () => {
    expect(selectPlaces(undefined, context()).map(({ id }) => id)).toEqual(['local', 'devbox'])
    expect(selectPlaces([], context())).toEqual([])
  })

  it('works in the folder named, else in the environment’s own, else in the thread’s', () => {
    const places = selectPlaces([{ id: 'devbox' }, { id: 'local' }, { id: 'winbox', cwd: 'D:\\src' }], context())
    expect(places.map(({ cwd }) => cwd)).toEqual(['/srv/app', '/work', 'D:\\src'])
    expect(places.map(({ workspaceRoots }) => workspaceRoots)).toEqual([['/srv/app'], ['/work'], ['D:\\src']])
  })

  it.each([
    ['unknown_environment', { id: 'nope' }],
    ['unknown_environment', { id: '' }],
    ['unknown_environment', { id: '__proto__' }],
    ['relative_cwd', { id: 'devbox', cwd: 'rel' }],
    ['relative_cwd', { id: 'devbox', cwd: '' }],
    ['relative_cwd', { id: 'devbox', cwd: '\\drive-less' }],
    ['relative_cwd', { id: 'devbox', cwd: 'C:rel' }],
    ['relative_cwd', { id: 'devbox', workspaceRoots: ['/ok', './rel'] }],
  ])('refuses with %s what it can’t be: %j', (code, one) => {
    expect(codeOf(() => selectPlaces([one], context()))).toBe(code)
  })

  it('refuses an environment that is there twice', () => {
    expect(codeOf(() => selectPlaces([{ id: 'local' }, { id: 'local' }], context()))).toBe('duplicate_environment')
  })

  it('restores what was selected once, whether it is still there or not', () => {
    const { known: _, ...restoring } = context()
    expect(selectPlaces([{ id: 'gone', cwd: '/x' }], restoring)).toMatchObject([{ id: 'gone', cwd: '/x' }])
  })

  it('keeps the profile that was handed over, whatever becomes of the object', () => {
    const permissions = { type: 'managed', entries: [{ access: 'read' }] }
    const [place] = selectPlaces([{ id: 'devbox', permissions }], context())
    permissions.entries.length = 0
    expect(place?.permissions).toEqual({ type: 'managed', entries: [{ access: 'read' }] })
    expect(Object.isFrozen(place?.permissions?.entries)).toBe(true)
  })
})

describe('capability roots of a thread', () => {
  it('may be in any environment under any id, at an absolute path of either style', () => {
    const roots = [
      { id: '', environment: 'nope', path: '/plugins/demo' },
      { id: 'w', environment: 'winbox', path: 'C:\\plugins' },
      { id: 'u', environment: 'winbox', path: '\\\\server\\share' },
    ]
    expect(checkRoots(roots)).toEqual(roots)
    expect(codeOf(() => checkRoots([{ id: 'x', environment: 'devbox', path: 'rel' }]))).toBe('relative_path')
  })
})
