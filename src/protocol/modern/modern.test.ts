import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../message.js'
import {
  decodeHeaderValue,
  encodeHeaderValue,
  headerMarks,
  MODERN_META,
  namedRevision,
  parameterHeaders,
  readEnvelope,
  readInputRequired,
  standardHeaders,
  withEnvelope,
  withInputResponses,
  withoutEnvelope,
} from './index.js'

describe('the envelope of a modern request', () => {
  const envelope = {
    protocolVersion: '2026-07-28',
    clientInfo: { name: 'c', version: '1' },
    clientCapabilities: { roots: {} },
  }

  it('goes over what stood in its place and leaves every other member', () => {
    const params = {
      name: 'x',
      _meta: { 'vendor/x': [1], [MODERN_META.clientInfo]: { name: 'forged' }, [MODERN_META.logLevel]: 'debug' },
    }
    expect(withEnvelope(params, envelope)).toEqual({
      name: 'x',
      _meta: {
        'vendor/x': [1],
        [MODERN_META.protocolVersion]: '2026-07-28',
        [MODERN_META.clientInfo]: { name: 'c', version: '1' },
        [MODERN_META.clientCapabilities]: { roots: {} },
      },
    })
  })

  it('is read back, and taken out without a trace', () => {
    const params = withEnvelope({ uri: 'a:b' }, { ...envelope, logLevel: 'info' })
    expect(readEnvelope(params)).toEqual({ ...envelope, logLevel: 'info' })
    expect(withoutEnvelope(params)).toEqual({ uri: 'a:b' })
    expect(withoutEnvelope(withEnvelope({ _meta: { traceparent: 't' } }, envelope))).toEqual({
      _meta: { traceparent: 't' },
    })
  })

  it('names the member that is missing or wrong', () => {
    expect(readEnvelope(undefined)).toEqual({ invalid: MODERN_META.protocolVersion })
    expect(readEnvelope({ _meta: { [MODERN_META.protocolVersion]: '2026-07-28' } })).toEqual({
      invalid: MODERN_META.clientCapabilities,
    })
    expect(readEnvelope(withEnvelope({}, { ...envelope, clientInfo: [] as unknown as JsonObject }))).toEqual({
      invalid: MODERN_META.clientInfo,
    })
    expect(namedRevision({ _meta: { [MODERN_META.protocolVersion]: 3 } })).toBeUndefined()
    expect(namedRevision({ _meta: [] })).toBeUndefined()
  })
})

describe('a result that asks for input', () => {
  it('is told from a complete one, and keeps what a request is', () => {
    expect(readInputRequired({ resultType: 'complete', inputRequests: {} })).toBeUndefined()
    expect(readInputRequired({ content: [] })).toBeUndefined()
    const asked = readInputRequired({
      resultType: 'input_required',
      inputRequests: { a: { method: 'elicitation/create', params: { message: '?' } }, odd: 3, worse: { params: {} } },
      requestState: 's',
    })
    expect([...(asked?.inputRequests ?? [])]).toEqual([
      ['a', { method: 'elicitation/create', params: { message: '?' } }],
    ])
    expect(asked?.requestState).toBe('s')
  })

  it('is repeated with the answers and exactly the state that was given', () => {
    const params = { name: 'x', requestState: 'old', inputResponses: { old: {} } }
    expect(withInputResponses(params, new Map([['a', { action: 'accept' }]]), 'new')).toEqual({
      name: 'x',
      inputResponses: { a: { action: 'accept' } },
      requestState: 'new',
    })
    expect(withInputResponses(params, new Map(), undefined)).toEqual({ name: 'x', inputResponses: {} })
  })
})

describe('mirrored headers', () => {
  it.each([
    ['us-west1', 'us-west1'],
    ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
    [' padded ', '=?base64?IHBhZGRlZCA=?='],
    ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
    ['=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
    ['', '=?base64??='],
  ])('writes %j as %s', (value, header) => {
    expect(encodeHeaderValue(value)).toBe(header)
    expect(decodeHeaderValue(header)).toBe(value)
  })

  it('gives back every text, and never writes a byte that a header can not hold', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (value) => {
        const header = encodeHeaderValue(value)
        expect(header).toMatch(/^[\t\x20-\x7e]+$/)
        expect(decodeHeaderValue(header)).toBe(value)
      }),
    )
  })

  it('refuses what is neither plain nor proper base64', () => {
    for (const value of ['é', 'a\nb', '=?base64?***?=', '=?base64?/w==?=', '=?base64?YQ?='])
      expect(decodeHeaderValue(value)).toBeUndefined()
  })

  it('names the method, and the name or URI of a request', () => {
    expect(standardHeaders({ method: 'tools/call', params: { name: 'añadir' } })).toEqual([
      ['Mcp-Method', 'tools/call'],
      ['Mcp-Name', encodeHeaderValue('añadir')],
    ])
    expect(standardHeaders({ method: 'resources/read', params: { uri: 'a:b' } })[1]).toEqual(['Mcp-Name', 'a:b'])
    expect(standardHeaders({ method: 'tools/list' })).toEqual([['Mcp-Method', 'tools/list']])
  })

  const string = (more: JsonObject = {}): JsonObject => ({ type: 'string', ...more })

  it('mirrors marked parameters, nested ones too, and leaves out what is absent or null', () => {
    const read = headerMarks({
      type: 'object',
      properties: {
        region: string({ 'x-mcp-header': 'Region' }),
        inner: { type: 'object', properties: { count: { type: 'integer', 'x-mcp-header': 'Count' } } },
        note: string({ default: { 'x-mcp-header': 'no mark' } }),
        'x-mcp-header': string(),
      },
    })
    if ('invalid' in read) throw new Error(read.invalid)
    expect(read.marks).toEqual([
      { header: 'Count', path: ['inner', 'count'] },
      { header: 'Region', path: ['region'] },
    ])
    expect(parameterHeaders(read.marks, { region: 'us west ', inner: { count: 42 } })).toEqual([
      ['Mcp-Param-Count', '42'],
      ['Mcp-Param-Region', '=?base64?dXMgd2VzdCA=?='],
    ])
    expect(parameterHeaders(read.marks, { region: null, inner: {} })).toEqual([])
    expect(parameterHeaders(read.marks, undefined)).toEqual([])
  })

  it.each<[string, JsonObject]>([
    ['an empty name', { properties: { a: string({ 'x-mcp-header': '' }) } }],
    ['a name that is no token', { properties: { a: string({ 'x-mcp-header': 'a b' }) } }],
    ['a line feed', { properties: { a: string({ 'x-mcp-header': 'a\n' }) } }],
    ['a number', { properties: { a: { type: 'number', 'x-mcp-header': 'A' } } }],
    ['an object', { properties: { a: { type: 'object', 'x-mcp-header': 'A' } } }],
    ['the root', { 'x-mcp-header': 'A', type: 'string' }],
    ['items', { properties: { a: { type: 'array', items: string({ 'x-mcp-header': 'A' }) } } }],
    ['a choice', { properties: { a: { anyOf: [string({ 'x-mcp-header': 'A' })] } } }],
    ['a definition', { $defs: { a: string({ 'x-mcp-header': 'A' }) } }],
    ['two of one name', { properties: { a: string({ 'x-mcp-header': 'A' }), b: string({ 'x-mcp-header': 'a' }) } }],
  ])('refuses a mark on %s', (_where, schema) => {
    expect(headerMarks({ type: 'object', ...schema })).toHaveProperty('invalid')
  })
})
