import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeHeaderValue, type JsonObject } from '../../protocol/index.js'
import { checkHeaders, checkParameters } from './modern-headers.js'

const request = (method: string, params: JsonObject = {}) => ({ jsonrpc: '2.0' as const, id: 1, method, params })
const revision = { 'mcp-protocol-version': '2026-07-28' }

describe('the headers of a modern request', () => {
  it('are what its body says, for every name that can be written', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (name) => {
        const headers = { ...revision, 'mcp-method': 'tools/call', 'mcp-name': encodeHeaderValue(name) }
        checkHeaders(headers, request('tools/call', { name }))
        expect(() => checkHeaders(headers, request('tools/call', { name: `${name}x` }))).toThrow('Mcp-Name')
      }),
    )
  })

  it('come once', () => {
    const twice = { ...revision, 'mcp-method': 'tools/list, tools/list' }
    expect(() => checkHeaders(twice, request('tools/list'))).toThrow('Mcp-Method')
  })

  it('need no name where there is none to mirror', () => {
    const headers = { ...revision, 'mcp-method': 'tools/call' }
    expect(() => checkHeaders(headers, request('tools/call', { name: 7 }))).not.toThrow()
    expect(() => checkHeaders(headers, request('tools/call', { name: 'x' }))).toThrow('Mcp-Name is missing')
    expect(() =>
      checkHeaders({ ...revision, 'mcp-method': 'tasks/get' }, request('tasks/get', { taskId: 't' })),
    ).toThrow()
  })
})

describe('mirrored parameters', () => {
  const schema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } }

  it('are those that the schema marks, whatever stands beside them', () => {
    expect(() => checkParameters({ 'mcp-param-region': 'eu' }, schema, { region: 'eu' })).not.toThrow()
    expect(() => checkParameters({}, schema, { region: 'eu' })).toThrow('Mcp-Param-Region is missing')
    expect(() => checkParameters({ 'mcp-param-other': 'x' }, schema, undefined)).not.toThrow()
    for (const schemaless of [undefined, true, {}]) expect(() => checkParameters({}, schemaless, {})).not.toThrow()
    // A value of a type that no header can hold is the tool's to refuse.
    expect(() => checkParameters({}, schema, { region: ['eu'] })).not.toThrow()
  })

  it('of a tool with wrong marks can not be checked, and the tool not be called', () => {
    const twice = {
      properties: { a: { type: 'string', 'x-mcp-header': 'A' }, b: { type: 'string', 'x-mcp-header': 'a' } },
    }
    expect(() => checkParameters({}, twice, {})).toThrow("can't be called over HTTP")
  })
})
