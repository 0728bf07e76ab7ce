import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { serverKey } from '../identity/index.js'
import { parseUri, qualifyUri } from './uris.js'

const wellFormed = (text: string) => /^\P{Cs}*$/u.test(text)
const name = fc.oneof(
  fc.constantFrom(
    'notes',
    'a/b',
    'a@b',
    'a:b',
    '',
    '@',
    '/',
    '%',
    '%2F',
    "o'brien",
    '日本',
    'reeve://x',
    '__proto__',
    '..',
  ),
  fc.string({ unit: 'binary' }).filter(wellFormed),
)
const uri = fc.oneof(
  fc.constantFrom(
    '',
    '/',
    'file:///a.md',
    'file:///{path}',
    'file:///{+path}{?q,r*}',
    'file:///a%2Fb c/é',
    'reeve://notes/file:///a.md',
    'ui://pie',
    'ui://reeve.notes/pie',
    'ui://',
    'UI://pie',
    'not a uri',
    'a@b/c',
    '\u0000\n\uD800',
  ),
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  fc.string({ unit: 'binary' }),
)
const owned = fc.record({ name, environment: fc.option(name), uri })

describe('qualified URIs', () => {
  it('look like this', () => {
    expect(qualifyUri(serverKey('notes'), 'file:///a.md')).toBe('reeve://notes/file:///a.md')
    expect(qualifyUri(serverKey('notes', 'devbox'), 'file:///{path}')).toBe('reeve://notes@devbox/file:///{path}')
    expect(qualifyUri(serverKey('a/b@c'), 'x:y')).toBe('reeve://a%2Fb%40c/x:y')
    expect(qualifyUri(serverKey('charts', 'envA'), 'ui://pie/1')).toBe('ui://reeve.charts@envA/pie/1')
  })

  it('come back as what they were, whatever they hold', () => {
    fc.assert(
      fc.property(owned, (one) => {
        const key = serverKey(one.name, one.environment)
        expect(parseUri(qualifyUri(key, one.uri))).toEqual({ key, uri: one.uri })
      }),
      { numRuns: 5000 },
    )
  })

  it('are never shared by two resources', () => {
    fc.assert(
      fc.property(owned, owned, (one, other) => {
        const qualified = [one, other].map((each) => qualifyUri(serverKey(each.name, each.environment), each.uri))
        const equal = one.name === other.name && one.environment === other.environment && one.uri === other.uri
        expect(qualified[0] === qualified[1]).toBe(equal)
      }),
      { numRuns: 5000 },
    )
  })

  it('are read in other spellings of the same', () => {
    expect(parseUri('reeve://n%6Ftes@dev%62ox/x')).toEqual({ key: serverKey('notes', 'devbox'), uri: 'x' })
    expect(parseUri('reeve://notes/ui://pie')).toEqual({ key: serverKey('notes'), uri: 'ui://pie' })
  })

  it.each([
    'reeve://notes',
    'reeve://notes@a@b/x',
    'reeve://%/x',
    'reeve://%ff/x',
    'ui://reeve.notes',
    'ui://pie',
    'file:///x',
    '',
  ])('are not found in %j', (text) => expect(parseUri(text)).toBeUndefined())

  it('never fail to be read or refused', () => {
    const text = fc
      .tuple(fc.constantFrom('reeve://', 'ui://reeve.', 'REEVE://', ''), fc.string({ unit: 'binary' }))
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, (candidate) => {
        const parsed = parseUri(candidate)
        if (parsed !== undefined) expect(parseUri(qualifyUri(parsed.key, parsed.uri))).toEqual(parsed)
      }),
      { numRuns: 5000 },
    )
  })

  it('expand like the template that the server gave', () => {
    const values: Record<string, string> = { path: 'a%2Fb', id: '%C3%A9' }
    const expand = (template: string) => template.replace(/\{(\w+)\}/g, (_all, member: string) => values[member] ?? '')
    fc.assert(
      fc.property(
        name,
        fc.constantFrom('file:///{path}', 'ui://card/{id}', 'db://{path}/rows/{id}'),
        (server, template) => {
          const key = serverKey(server)
          expect(parseUri(expand(qualifyUri(key, template)))).toEqual({ key, uri: expand(template) })
        },
      ),
    )
  })
})
