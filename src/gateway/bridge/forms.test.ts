import { describe, expect, it } from 'vitest'
import { RpcError } from '../../errors.js'
import type { Era } from '../../protocol/index.js'
import { uncovered } from './coverage.js'
import { errorIn } from './error-form.js'
import { LEGACY_FORM, MODERN_FORM } from './result-form.js'

const SERVER_INFO = 'io.modelcontextprotocol/serverInfo'

describe('a result for a legacy client', () => {
  it('is the very value that a legacy server sent, whatever its members are called', () => {
    const result = { resultType: 'x', ttlMs: 1, content: [], structuredContent: [1], _meta: { [SERVER_INFO]: {} } }
    expect(LEGACY_FORM.relayed('legacy', 'tools/call', result)).toBe(result)
  })

  it('lacks what only the modern era has', () => {
    const hints = { ttlMs: 5, cacheScope: 'public' }
    const result = {
      resultType: 'complete',
      contents: [],
      ...hints,
      _meta: { [SERVER_INFO]: { name: 's' } },
      'x-more': 1,
    }
    expect(LEGACY_FORM.relayed('modern', 'resources/read', result)).toEqual({ contents: [], 'x-more': 1 })
    const kept = { ...result, _meta: { ...result._meta, 'x/y': 1 } }
    expect(LEGACY_FORM.relayed('modern', 'tools/call', kept)).toEqual({
      contents: [],
      'x-more': 1,
      ...hints,
      _meta: { 'x/y': 1 },
    })
  })

  it('has structured content and its schema only where they are objects', () => {
    const call = (structuredContent: number[] | { a: number }) =>
      LEGACY_FORM.relayed('modern', 'tools/call', { content: [], structuredContent })
    expect(call([1])).toEqual({ content: [] })
    expect(call({ a: 1 })).toEqual({ content: [], structuredContent: { a: 1 } })
    const tool = (type: string) => ({ name: 't', outputSchema: { type }, 'x-more': 1 })
    expect(LEGACY_FORM.tool('modern', tool('array'))).toEqual({ name: 't', 'x-more': 1 })
    expect(LEGACY_FORM.tool('modern', tool('object'))).toEqual(tool('object'))
    expect(LEGACY_FORM.tool('legacy', tool('array'))).toEqual(tool('array'))
    expect(MODERN_FORM.tool('modern', tool('array'))).toEqual(tool('array'))
  })
})

describe('a result for a modern client', () => {
  it('of a legacy server is complete and kept by nobody, whatever it says', () => {
    expect(MODERN_FORM.relayed('legacy', 'tools/call', { resultType: 'task', content: [] })).toEqual({
      resultType: 'complete',
      content: [],
    })
    expect(MODERN_FORM.relayed('legacy', 'resources/read', { contents: [], ttlMs: 9, cacheScope: 'public' })).toEqual({
      resultType: 'complete',
      contents: [],
      ttlMs: 0,
      cacheScope: 'private',
    })
  })

  it('of a modern server keeps its type and hints, and is private where it has none', () => {
    const read = { resultType: 'complete', contents: [], ttlMs: 9, cacheScope: 'public' }
    expect(MODERN_FORM.relayed('modern', 'resources/read', read)).toEqual(read)
    expect(MODERN_FORM.relayed('modern', 'resources/read', { contents: [], ttlMs: -1 })).toMatchObject({
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
    })
    for (const resultType of ['input_required', 'task', 'x/unknown']) {
      expect(MODERN_FORM.relayed('modern', 'resources/read', { resultType })).toEqual({ resultType })
    }
  })
})

describe('an error', () => {
  const key = { name: 's', environment: null }
  const told = (
    client: Era,
    server: Era | undefined,
    code: number,
    method = 'resources/read',
    data: object = { uri: 'a:b' },
  ) => errorIn(client, server, method, new RpcError(code, 'said', data, key)).rpcCode

  it('of a missing resource has the code of the client’s era', () => {
    expect(told('modern', 'legacy', -32002)).toBe(-32602)
    expect(told('legacy', 'modern', -32602)).toBe(-32002)
    expect(told('legacy', 'modern', -32602, 'resources/read', {})).toBe(-32602)
    expect(told('legacy', 'modern', -32602, 'tools/call')).toBe(-32602)
    expect(told('legacy', 'legacy', -32602)).toBe(-32602)
    expect(told('modern', 'modern', -32602)).toBe(-32602)
  })

  it('of the hop behind is no fault of the client, and an error of this side stays', () => {
    for (const client of ['legacy', 'modern'] as const) {
      expect(told(client, 'modern', -32020)).toBe(-32603)
      expect(told(client, 'modern', -32022)).toBe(-32603)
      expect(told(client, 'modern', -32021)).toBe(-32021)
      expect(told(client, undefined, -32020)).toBe(-32020)
    }
    expect(told('modern', 'legacy', -32042)).toBe(-32603)
    expect(told('legacy', 'legacy', -32042)).toBe(-32042)
  })

  it('keeps its words, data and server', () => {
    const error = errorIn('modern', 'legacy', 'resources/read', new RpcError(-32002, 'said', { uri: 'a:b' }, key))
    expect(error).toMatchObject({ message: 'said', rpcData: { uri: 'a:b' }, key })
  })
})

describe('what a client would have to declare', () => {
  const form = { message: '?' }
  const page = { mode: 'url', url: 'https://example.com' }

  it.each([
    ['roots/list', {}, {}, { roots: {} }],
    ['roots/list', {}, { roots: {} }, undefined],
    ['roots/list', {}, { roots: true }, { roots: {} }],
    ['sampling/createMessage', {}, {}, { sampling: {} }],
    ['sampling/createMessage', { tools: [] }, { sampling: {} }, { sampling: { tools: {} } }],
    ['sampling/createMessage', { tools: [] }, { sampling: { tools: {} } }, undefined],
    ['elicitation/create', form, {}, { elicitation: {} }],
    ['elicitation/create', form, { elicitation: {} }, undefined],
    ['elicitation/create', form, { elicitation: { url: {} } }, { elicitation: { form: {} } }],
    ['elicitation/create', form, { elicitation: { form: {}, url: {} } }, undefined],
    ['elicitation/create', page, { elicitation: {} }, { elicitation: { url: {} } }],
    ['elicitation/create', page, { elicitation: { url: {} } }, undefined],
    ['tasks/get', {}, {}, { tasks: {} }],
    ['x/unknown', {}, {}, undefined],
  ])('to be asked %s %j, having declared %j, is %j', (method, params, capabilities, missing) => {
    expect(uncovered(capabilities, method, params)).toEqual(missing)
  })
})
