import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { serverKey } from './key.js'
import { readableName, readableNamespace, readableNaming } from './readable-naming.js'

const name = (server: string, environment: string | null, tool: string) =>
  readableName(serverKey(server, environment), tool)

describe('readable names', () => {
  it('spells server and tool, and the environment of a scoped server', () => {
    expect(name('notes', null, 'add')).toBe('notes__add')
    expect(name('notes', 'devbox', 'add')).toBe('devbox__notes__add')
    expect(name('my-notes', null, 'get_all-Notes')).toBe('my-notes__get_all-Notes')
    expect(name('notes', null, '_private')).toBe('notes___private')
    expect(name('notes', null, 'constructor')).toBe('notes__constructor')
  })

  it('closes by a hash what a plain name cannot spell, and keeps it legible', () => {
    expect(name('notes', null, 'add.one')).toMatch(/^notes__add_one--[a-z2-7]{16}$/)
    expect(name('@scope/server', 'dev box', 'x')).toMatch(/^dev_box___scope_server__x--[a-z2-7]{16}$/)
    expect(name('notes', null, '検索')).toMatch(/^notes___--[a-z2-7]{16}$/)
    expect(name('notes', null, '')).toMatch(/^notes___--[a-z2-7]{16}$/)
    expect(name('notes', null, '__proto__')).toMatch(/^notes____proto__--[a-z2-7]{16}$/)
    expect(name('notes_', null, 'add')).toMatch(/--[a-z2-7]{16}$/)
  })

  it('closes a name that could be read as another triple', () => {
    expect(name('devbox', null, 'notes__add')).not.toBe(name('notes', 'devbox', 'add'))
    expect(name('devbox__notes', null, 'add')).not.toBe(name('notes', 'devbox', 'add'))
    expect(name('devbox__notes', null, 'add')).not.toBe(name('devbox', null, 'notes__add'))
  })

  it('closes a name that looks closed', () => {
    const closed = name('notes', null, 'add.one')
    const impostor = name('notes', null, closed.slice('notes__'.length))
    expect(impostor).not.toBe(closed)
    expect(impostor).toMatch(/--[a-z2-7]{16}$/)
  })

  it('keeps exactly 64 characters plain and closes 65', () => {
    expect(name('a'.repeat(31), null, 'b'.repeat(31))).toBe(`${'a'.repeat(31)}__${'b'.repeat(31)}`)
    expect(name('a'.repeat(31), null, 'b'.repeat(32))).toMatch(/^a{22}__b{22}--[a-z2-7]{16}$/)
  })

  it('leaves a short part whole when a long one is cut', () => {
    expect(name('n'.repeat(300), 'devbox', 'add')).toMatch(/^devbox__n{33}__add--[a-z2-7]{16}$/)
    expect(name('notes', null, 't'.repeat(300))).toMatch(/^notes__t{39}--[a-z2-7]{16}$/)
  })

  it('tells a thread-wide server from one in the environment of the empty name', () => {
    expect(name('notes', '', 'add')).not.toBe(name('notes', null, 'add'))
  })

  it('tells lone surrogates apart', () => {
    expect(name('a', null, '\ud800')).not.toBe(name('a', null, '\ud801'))
  })

  it('never changes: these names are in configurations and prompts of users', () => {
    expect(name('notes', null, 'add.one')).toBe('notes__add_one--h2iwd7mzsgi3an7g')
    expect(readableNamespace(serverKey('a.b', 'devbox'))).toBe('devbox__a_b--zjtaw36a4uznu5lj')
  })

  it('splits into a namespace by server and a name by tool', () => {
    const [plain, closed] = readableNaming.assign([
      { key: serverKey('notes', 'devbox'), tool: 'add' },
      { key: serverKey('notes', 'devbox'), tool: 'add.one' },
    ])
    expect(plain).toMatchObject({ namespace: 'devbox__notes', name: 'add', flat: 'devbox__notes__add' })
    expect(closed).toMatchObject({ namespace: 'devbox__notes', tool: 'add.one' })
    expect(closed?.name).toMatch(/^add_one--[a-z2-7]{16}$/)
    expect(closed?.flat).toMatch(/^devbox__notes__add_one--[a-z2-7]{16}$/)
  })

  it('names a tool the same whoever else is there, and once', () => {
    const input = { key: serverKey('a.b'), tool: 'x' }
    const [alone] = readableNaming.assign([input])
    const crowd = readableNaming.assign([
      { key: serverKey('a-b'), tool: 'x' },
      input,
      { key: serverKey('a_b'), tool: 'x' },
      input,
    ])
    expect(crowd).toHaveLength(3)
    expect(crowd).toContainEqual(alone)
  })

  it('offers by server as the reference does, then by name', () => {
    const order = readableNaming
      .assign([
        { key: serverKey('zed'), tool: 'a' },
        { key: serverKey('notes', 'enva'), tool: 'b' },
        { key: serverKey('notes', 'enva'), tool: 'a' },
        { key: serverKey('Zed'), tool: 'a' },
      ])
      .map(({ flat }) => flat)
    expect(order).toEqual(['Zed__a', 'enva__notes__a', 'enva__notes__b', 'zed__a'])
  })

  it('gives different names to different triples', () => {
    const part = fc.oneof(
      fc.stringMatching(/^[ab_-]{0,4}$/),
      fc.constantFrom(
        'a__b',
        'a.b',
        '検索',
        '😀',
        '',
        '__proto__',
        'constructor',
        'n'.repeat(300),
        `${'n'.repeat(300)}m`,
      ),
      fc.string({ unit: 'binary', maxLength: 8 }),
    )
    const names = new Map<string, string>()
    const pairs = new Map<string, string>()
    fc.assert(
      fc.property(fc.option(part), part, part, (environment, server, tool) => {
        const triple = JSON.stringify([environment, server, tool])
        const [named] = readableNaming.assign([{ key: serverKey(server, environment), tool }])
        const { flat, ...pair } = named ?? { flat: '', namespace: '', name: '' }
        for (const text of [flat, pair.namespace, pair.name]) expect(text).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
        expect(names.get(flat) ?? triple).toBe(triple)
        expect(pairs.get(`${pair.namespace} ${pair.name}`) ?? triple).toBe(triple)
        names.set(flat, triple)
        pairs.set(`${pair.namespace} ${pair.name}`, triple)
      }),
      { numRuns: 10_000 },
    )
  })
})
