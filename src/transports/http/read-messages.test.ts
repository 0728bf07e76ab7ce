import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isErrorResponse, isMessage, readMessages } from './read-messages.js'

describe('a JSON-RPC message', () => {
  it.each([
    { jsonrpc: '2.0', id: 1, method: 'x', params: {}, extra: true },
    { jsonrpc: '2.0', id: '1', method: 'x' },
    { jsonrpc: '2.0', method: 'x' },
    { jsonrpc: '2.0', id: 0, result: {} },
    { jsonrpc: '2.0', id: 1, error: { code: -1, message: '' } },
    { jsonrpc: '2.0', id: null, error: { code: -1, message: '' } },
    { jsonrpc: '2.0', error: { code: -1, message: '' } },
  ])('is %j', (value) => {
    expect(isMessage(value)).toBe(true)
  })

  it.each([
    null,
    'text',
    1,
    {},
    [],
    { id: 1, method: 'x' },
    { jsonrpc: '1.0', id: 1, method: 'x' },
    { jsonrpc: '2.0', id: null, method: 'x' },
    { jsonrpc: '2.0', id: {}, method: 'x' },
    { jsonrpc: '2.0', id: 1, method: 7 },
    { jsonrpc: '2.0', id: 1, method: 'x', params: [1] },
    { jsonrpc: '2.0', id: 1, result: 'text' },
    { jsonrpc: '2.0', result: {} },
    { jsonrpc: '2.0', id: 1, error: 'text' },
    { jsonrpc: '2.0', id: 1, error: { code: '1', message: '' } },
    { jsonrpc: '2.0', id: 1, result: {}, error: { code: 1, message: '' }, method: null },
  ])('is not %j', (value) => {
    expect(isMessage(value)).toBe(false)
  })

  it('is never made from anything odd, nor does anything odd throw', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const { messages, faults } = readMessages(value, 'p')
        expect(messages.length + faults.length).toBe(Array.isArray(value) ? value.length : 1)
        isErrorResponse(value)
      }),
    )
  })

  it('keeps the good ones of a batch and names the id of the bad', () => {
    const good = { jsonrpc: '2.0', id: 1, result: {} }
    const { messages, faults } = readMessages([good, { id: 2 }, 'x'], 'http://a.test/mcp')
    expect(messages).toEqual([good])
    expect(faults.map(({ data }) => data)).toEqual([{ id: 2 }, undefined])
  })
})
