import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readGlob } from './glob-pattern.js'

const matches = (pattern: string, path: string): boolean => {
  const glob = readGlob(pattern, '/cwd')
  if ('fault' in glob) throw new Error(glob.fault)
  return glob.matches(path)
}

describe('readGlob', () => {
  it.each([
    ['/w/*.env', '/w/.env', true],
    ['/w/*.env', '/w/a.env', true],
    ['/w/*.env', '/w/sub/a.env', false],
    ['/w/**/*.env', '/w/a.env', true],
    ['/w/**/*.env', '/w/a/b/c.env', true],
    ['/w/**', '/w/a/b', true],
    ['/w/**', '/w', false],
    ['/w/**/x/**/y', '/w/x/y', true],
    ['/w/**/x/**/y', '/w/1/x/2/3/y', true],
    ['/w/s?cret', '/w/secret', true],
    ['/w/s?cret', '/w/s/cret', false],
    ['/w/[a-c]x', '/w/bx', true],
    ['/w/[!a-c]x', '/w/bx', false],
    ['/w/[^a-c]x', '/w/dx', true],
    ['/w/[!a]', '/w//', false],
    ['/w/[]]x*', '/w/]xy', true],
    ['/w/a.b*', '/w/aXb', false],
    ['/w/(a|b)+*', '/w/(a|b)+', true],
    ['/w/💥?', '/w/💥💥', true],
    ['/w/*', '/w/two\nlines', true],
  ])('%s on %s: %s', (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected)
  })

  it('names the folder that everything lies in', () => {
    expect(readGlob('/w/a/b*/c', '/cwd')).toMatchObject({ base: '/w/a' })
  })

  it('starts at the cwd where it is relative, whose characters stand for themselves', () => {
    const glob = readGlob('./sub/*.env', '/w/[x]/{y}*')
    if ('fault' in glob) throw new Error(glob.fault)
    expect(glob.base).toBe('/w/[x]/{y}*/sub')
    expect(glob.matches('/w/[x]/{y}*/sub/a.env')).toBe(true)
    expect(readGlob('*.env', '/')).toHaveProperty('fault')
  })

  it.each([
    '',
    '../*',
    '/w/plain',
    '/*/x',
    '/**/x',
    '/w/{a,b}*',
    '/w/a\\*',
    '/w/[a',
    '/w/a]*',
    '/w/[]*',
    '/w/[z-a]',
    '/w/a**b',
    '/w/../*',
  ])('does not guess what %s means', (pattern) => {
    expect(readGlob(pattern, '/cwd')).toHaveProperty('fault')
  })

  it('is read, or refused, whatever it holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'*?[]!^-/\\{}().+|$a~&💥') }), (text) => {
        const glob = readGlob(`/w/${text}`, '/cwd')
        if (!('fault' in glob)) glob.matches('/w/a/b')
      }),
    )
  })

  it('matches every name by itself, with a star for an end', () => {
    const name = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
      .filter((text) => !/[/*?[\]{}\\\0]/.test(text))
    fc.assert(
      fc.property(name, (text) => {
        fc.pre(text !== '.' && text !== '..')
        expect(matches(`/w/${text}*`, `/w/${text}`)).toBe(true)
      }),
    )
  })
})
