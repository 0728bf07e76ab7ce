import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RequestStates, requestDigest } from './request-state.js'
import { UsedStates } from './used-states.js'

const key = Buffer.alloc(32, 7)
const KEY = () => key
const binding = { principal: 'ada', method: 'tools/call', digest: requestDigest({ name: 'x' }) }

describe('a request state', () => {
  it('gives back what was put into it, to whom and for what it was made', () => {
    const states = new RequestStates(1000, () => 5, KEY)
    const { text, opened } = states.seal(binding, { kind: 'server', state: 'opaque \u{1f600}' })
    expect(text).toMatch(/^reeve1\.[A-Za-z0-9_-]+$/)
    expect(text).not.toContain('opaque')
    expect(states.open(text, binding)).toMatchObject({ ...opened, issuedAt: 5, expiresAt: 1005 })
    expect(states.open(text, { ...binding, principal: 'eve' })).toBe('foreign')
    expect(states.open(text, { ...binding, method: 'prompts/get' })).toBe('mismatched')
    expect(states.open(text, { ...binding, digest: requestDigest({ name: 'y' }) })).toBe('mismatched')
  })

  it('ends with its time', () => {
    let now = 0
    const states = new RequestStates(1000, () => now, KEY)
    const { text } = states.seal(binding, { kind: 'held' })
    now = 999
    expect(states.open(text, binding)).toHaveProperty('id')
    now = 1000
    expect(states.open(text, binding)).toBe('expired')
  })

  it('is worth nothing after any change, and nothing elsewhere', () => {
    const states = new RequestStates(1000, () => 0, KEY)
    const { text } = states.seal(binding, { kind: 'held' })
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.string({ minLength: 1, maxLength: 3 }), (at, put) => {
        const changed = text.slice(0, at) + put + text.slice(at + 1)
        fc.pre(changed !== text)
        expect(states.open(changed, binding)).toBe('invalid')
      }),
    )
    fc.assert(fc.property(fc.string(), (any) => states.open(any, binding) === 'invalid'))
    const other = new RequestStates(
      1000,
      () => 0,
      () => Buffer.alloc(32, 8),
    )
    expect(other.open(text, binding)).toBe('invalid')
    expect(new RequestStates(1000, () => 0, KEY).open(text, binding)).toHaveProperty('id')
  })
})

describe('the digest of a request', () => {
  it('is the same for equal values and another for others', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        const text = (value: unknown) => requestDigest(value as Parameters<typeof requestDigest>[0])
        expect(text(JSON.parse(JSON.stringify(a)))).toBe(text(a))
        if (JSON.stringify(a) !== JSON.stringify(b) && typeof a !== 'object') expect(text(a)).not.toBe(text(b))
      }),
    )
    expect(requestDigest({ a: 1, b: [{ c: 2, d: 3 }] })).toBe(requestDigest({ b: [{ d: 3, c: 2 }], a: 1 }))
    expect(requestDigest({ a: [1, 2] })).not.toBe(requestDigest({ a: [2, 1] }))
    expect(requestDigest({ a: '1' })).not.toBe(requestDigest({ a: 1 }))
    expect(requestDigest({ a: null })).not.toBe(requestDigest({}))
  })
})

describe('states that were used', () => {
  const state = (id: string, issuedAt = 1, expiresAt = 1000) => ({
    id,
    issuedAt,
    expiresAt,
    content: { kind: 'held' as const },
  })

  it('are refused, while they are in use and afterwards, unless nothing came of it', () => {
    const used = new UsedStates(() => 0)
    const first = used.claim(state('a'))
    expect(used.claim(state('a'))).toBeUndefined()
    first?.release()
    const second = used.claim(state('a'))
    second?.spend()
    second?.release()
    expect(used.claim(state('a'))).toBeUndefined()
    expect(used.claim(state('b'))).toBeDefined()
  })

  it('are refused rather than forgotten when there are too many', () => {
    const used = new UsedStates(() => 0, 2)
    for (const [index, id] of ['a', 'b', 'c'].entries()) used.claim(state(id, index + 1))?.spend()
    for (const [index, id] of ['a', 'b', 'c'].entries()) expect(used.claim(state(id, index + 1))).toBeUndefined()
    expect(used.claim(state('new', 4))).toBeDefined()
  })

  it('are forgotten once they have expired, which is another reason to refuse them', () => {
    let now = 0
    const used = new UsedStates(() => now, 2)
    used.claim(state('a', 1, 10))?.spend()
    now = 10
    used.claim(state('b', 11))?.spend()
    expect(used.claim(state('c', 2, 1000))).toBeDefined()
  })
})
