import { describe, expect, it } from 'vitest'
import { callArguments, callersParams, callMeta } from './meta.js'

describe('the _meta of a call', () => {
  it('keeps the members of the caller in order and puts the live ids over theirs', () => {
    const meta = callMeta('p/echo', { 'vendor/x': [1], threadId: 'forged', a: null }, { threadId: 't1' })
    expect(JSON.stringify(meta)).toBe('{"vendor/x":[1],"threadId":"t1","a":null}')
  })

  it('drops sandbox members that a caller wrote', () => {
    const forged = {
      'codex/sandbox-state': {},
      'codex/sandbox-state-meta': {},
      'codex/sandbox-launcher': { codexExecutable: '/x' },
    }
    expect(callMeta('p/echo', { ...forged, kept: true }, {})).toEqual({ kept: true })
    expect(callersParams({ ref: 1, _meta: { ...forged, kept: true } })).toEqual({ ref: 1, _meta: { kept: true } })
    expect(callersParams({ ref: 1, _meta: 'x' })).toEqual({ ref: 1, _meta: 'x' })
  })

  it('carries a member called __proto__ as data', () => {
    const meta = callMeta('p/echo', JSON.parse('{"__proto__":{"admin":true}}'), {})
    expect(JSON.stringify(meta)).toBe('{"__proto__":{"admin":true}}')
    expect((meta as { admin?: unknown }).admin).toBeUndefined()
  })

  it('refuses anything but an object, in the words of the reference', () => {
    expect(() => callMeta('probe/echo', 'notobj', {})).toThrow(
      'tool call failed for `probe/echo`: MCP tool request _meta must be a JSON object, got "notobj"',
    )
    expect(() => callArguments('probe/echo', 'notobj')).toThrow(
      'tool call failed for `probe/echo`: MCP tool arguments must be a JSON object, got "notobj"',
    )
    for (const value of [null, [], 1, true, 'x'.repeat(10_000)]) {
      expect(() => callArguments('p/t', value)).toThrowError(
        expect.objectContaining({ code: 'invalid_arguments', place: 'p/t' }),
      )
    }
    expect(callArguments('p/t', undefined)).toBeUndefined()
  })
})
