import { describe, expect, it } from 'vitest'
import type { HttpServer } from '../../config/index.js'
import { buildHeaders, configuredHeaders, type HeaderLayers, isSendable } from './header-fields.js'

const built = (layers: Partial<HeaderLayers>) =>
  Object.fromEntries(buildHeaders({ method: 'POST', configured: [], auth: [], ...layers }))

describe('the headers of an operation', () => {
  it.each([
    ['POST', { Accept: 'text/event-stream, application/json', 'Content-Type': 'application/json' }],
    ['GET', { Accept: 'text/event-stream' }],
    ['DELETE', {}],
  ] as const)('%s has its own', (method, expected) => {
    expect(built({ method })).toEqual({ 'User-Agent': 'reeve', ...expected })
  })

  it.each(['POST', 'GET', 'DELETE'] as const)('%s carries each layer over the one before', (method) => {
    const all = [
      ['user-agent', 'mine'],
      ['mcp-protocol-version', 'configured'],
      ['x-auth', 'configured'],
      ['authorization', 'Basic configured'],
      ['accept', 'text/html'],
      ['content-type', 'text/html'],
      ['mcp-session-id', 'configured'],
      ['last-event-id', 'configured'],
    ] as const
    const headers = built({
      method,
      configured: all,
      protocolVersion: '2025-06-18',
      auth: [
        ['X-Auth', 'fresh'],
        ['Authorization', 'Bearer fresh'],
        ['Accept', 'text/plain'],
        ['MCP-Session-ID', 'stolen'],
      ],
      sessionId: 's1',
      lastEventId: 'e1',
    })
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
    expect(Object.keys(lower).length).toBe(Object.keys(headers).length)
    expect(lower).toMatchObject({
      'user-agent': 'mine',
      'mcp-protocol-version': '2025-06-18',
      'x-auth': 'fresh',
      authorization: 'Bearer fresh',
      'mcp-session-id': 's1',
      'last-event-id': 'e1',
    })
    // A DELETE has no body and wants none: what was configured stands.
    expect(lower.accept).toBe(
      { POST: 'text/event-stream, application/json', GET: 'text/event-stream', DELETE: 'text/plain' }[method],
    )
  })

  it('lets a message say of itself what nobody else may say', () => {
    const headers = built({
      configured: [['mcp-method', 'configured']],
      auth: [['MCP-NAME', 'stolen']],
      headers: [
        ['MCP-Protocol-Version', '2026-07-28'],
        ['Mcp-Method', 'tools/call'],
        ['Mcp-Name', 'echo'],
        ['Accept', 'text/html'],
      ],
    })
    expect(headers).toMatchObject({
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call',
      'Mcp-Name': 'echo',
      Accept: 'text/event-stream, application/json',
    })
    expect(Object.keys(headers)).toHaveLength(6)
  })

  it.each([
    ['a line end', ['X-Token', 'secret\r\nX-Evil: 1']],
    ['a NUL', ['X-Token', 'secret\0']],
    ['a name with a space', ['X Token', 'secret']],
    ['a field of the connection', ['Transfer-Encoding', 'secret']],
  ] as const)('are refused with %s from a credential source, without showing it', (_what, field) => {
    expect(() => built({ auth: [field] })).toThrowError(
      expect.objectContaining({
        code: 'invalid_arguments',
        message: expect.not.stringContaining('secret') as unknown as string,
      }),
    )
  })
})

describe('configured headers', () => {
  const server = (parts: Partial<HttpServer>): HttpServer => ({
    type: 'streamable_http',
    url: 'http://a.test/',
    httpHeaders: {},
    envHttpHeaders: {},
    auth: 'oauth',
    ...parts,
  })

  it('come from the file and, over it, from the environment, whatever the case', () => {
    const { fields, warnings } = configuredHeaders(
      server({ httpHeaders: { 'X-A': 'static', 'X-B': 'static' }, envHttpHeaders: { 'x-a': 'A', 'X-C': 'C' } }),
      { A: 'from env', C: 'Zoë' },
      'notes',
    )
    expect(fields).toEqual([
      ['x-a', 'from env'],
      ['X-B', 'static'],
      ['X-C', 'Zoë'],
    ])
    expect(warnings).toEqual([])
  })

  it('pass over a variable that is unset or blank', () => {
    const { fields, warnings } = configuredHeaders(
      server({ httpHeaders: { 'X-A': 'static' }, envHttpHeaders: { 'X-A': 'UNSET', 'X-B': 'BLANK' } }),
      { BLANK: ' \t' },
      'notes',
    )
    expect([fields, warnings]).toEqual([[['X-A', 'static']], []])
  })

  it('leave out what cannot be sent and say so, by name and never by value', () => {
    const { fields, warnings } = configuredHeaders(
      server({
        httpHeaders: { 'bad name': 'secret1', 'X-Bad': 'secret2\n', 'Content-Length': '7', 'X-Good': 'v' },
        envHttpHeaders: { 'X-Env': 'E' },
      }),
      { E: 'secret3\u007f' },
      'notes',
    )
    expect(fields).toEqual([['X-Good', 'v']])
    expect(warnings.map(({ place }) => place)).toEqual([
      'notes http_headers.bad name',
      'notes http_headers.X-Bad',
      'notes http_headers.Content-Length',
      'notes env_http_headers.X-Env',
    ])
    expect(warnings.map(({ message }) => message).join()).not.toMatch(/secret/)
  })
})

it.each([
  ['X-A', 'tab\tand text', true],
  ['X-A', '', true],
  ['X-A', 'ünïcode ✓', true],
  ['X-A', 'bell\u0007', false],
  ['', 'v', false],
  ['X:A', 'v', false],
  ['HOST', 'other.test', true],
  ['Connection', 'close', false],
])('header %s with value %j can be sent: %s', (name, value, sendable) => {
  expect(isSendable(name, value)).toBe(sendable)
})
