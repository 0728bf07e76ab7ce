import { describe, expect, it } from 'vitest'
import { httpServer, stdioServer } from '../../test/fixtures/connections/servers.js'
import type { EffectiveServer } from '../catalog/index.js'
import { cacheIdentity, connectionIdentity, type IdentityContext } from './identity.js'

const CONTEXT: IdentityContext = {
  profile: { clientInfo: { name: 'reeve', version: '1' }, capabilities: { elicitation: { form: {} } } },
  env: {},
  fallbackCwd: '/srv/here',
}

function digest(server: EffectiveServer, context: Partial<IdentityContext> = {}): string {
  return connectionIdentity(server, { ...CONTEXT, ...context }).digest
}

describe('the identity of a connection', () => {
  it('does not depend on the order of maps', () => {
    const one = stdioServer('s', {}, { env: { A: '1', B: '2' }, envVars: ['X', 'Y'] })
    const other = stdioServer('s', {}, { env: { B: '2', A: '1' }, envVars: ['Y', { name: 'X', source: 'local' }] })
    expect(digest(one)).toBe(digest(other))
    expect(digest(httpServer('s', {}, { httpHeaders: { A: '1', B: '2' } }))).toBe(
      digest(httpServer('s', {}, { httpHeaders: { B: '2', A: '1' } })),
    )
  })

  it('is not changed by what only shapes a view', () => {
    const plain = digest(stdioServer('s'))
    expect(
      digest(
        stdioServer('s', {
          enabledTools: ['a'],
          disabledTools: ['b'],
          startupTimeoutMs: 1,
          toolTimeoutMs: 2,
          required: true,
          startupReadiness: 'catalog',
          supportsParallelToolCalls: true,
          defaultToolsApprovalMode: 'prompt',
          tools: { a: { approvalMode: 'approve' } },
          omitToolsFrom: ['direct'],
        }),
      ),
    ).toBe(plain)
  })

  it.each<[string, EffectiveServer, EffectiveServer]>([
    ['name', stdioServer('s'), stdioServer('t')],
    ['environment of the key', stdioServer('s', {}, {}, 'a'), stdioServer('s', {}, {}, 'b')],
    ['thread-wide or not', stdioServer('s'), stdioServer('s', {}, {}, 'a')],
    ['execution environment', stdioServer('s'), stdioServer('s', { environmentId: 'devbox' })],
    ['command', stdioServer('s'), stdioServer('s', {}, { command: 'other' })],
    ['arguments', stdioServer('s', {}, { args: ['a', 'b'] }), stdioServer('s', {}, { args: ['ab'] })],
    ['literal variable', stdioServer('s', {}, { env: { A: '1' } }), stdioServer('s', {}, { env: { A: '2' } })],
    ['cwd', stdioServer('s', {}, { cwd: '/a' }), stdioServer('s', {}, { cwd: '/b' })],
    ['sandbox', stdioServer('s'), stdioServer('s', {}, { sandbox: { mode: 'read-only', network: false } })],
    [
      'network of the sandbox',
      stdioServer('s', {}, { sandbox: { mode: 'read-only', network: true } }),
      stdioServer('s', {}, { sandbox: { mode: 'read-only', network: false } }),
    ],
    ['URL', httpServer('s'), httpServer('s', {}, { url: 'http://127.0.0.1:2/mcp' })],
    ['header', httpServer('s'), httpServer('s', {}, { httpHeaders: { 'X-Team': 'a' } })],
    ['auth mode', httpServer('s'), httpServer('s', {}, { auth: 'chatgpt' })],
    ['old transport by name', httpServer('s'), httpServer('s', {}, { type: 'sse' })],
  ])('changes with the %s', (_what, one, other) => {
    expect(digest(one)).not.toBe(digest(other))
  })

  it('changes with the plugin root and the agent-plugin flag', () => {
    const plugin = (hostRoot: string, agentPlugin = false): EffectiveServer => ({
      ...stdioServer('s'),
      source: { kind: 'host_plugin', order: 0, plugin: { id: 'p', displayName: 'P', agentPlugin, hostRoot } },
    })
    expect(digest(plugin('file:///a'))).toBe(digest(plugin('file:///a')))
    expect(digest(plugin('file:///a'))).not.toBe(digest(plugin('file:///b')))
    expect(digest(plugin('file:///a'))).not.toBe(digest(plugin('file:///a', true)))
  })

  it('changes with the value of a variable that the server gets, and only with those', () => {
    const server = stdioServer('s', {}, { envVars: ['TOKEN', { name: 'FAR', source: 'remote' }] })
    expect(digest(server, { env: { TOKEN: 'a' } })).not.toBe(digest(server, { env: { TOKEN: 'b' } }))
    expect(digest(server, { env: { TOKEN: 'a' } })).not.toBe(digest(server, { env: {} }))
    expect(digest(server, { env: { TOKEN: '' } })).not.toBe(digest(server, { env: {} }))
    expect(digest(server, { env: { TOKEN: 'a', FAR: 'x', OTHER: 'y' } })).toBe(digest(server, { env: { TOKEN: 'a' } }))
  })

  it('counts a bearer variable of a remote server only when it is set here', () => {
    const local = httpServer('s', {}, { bearerTokenEnvVar: 'T' })
    const remote = httpServer('s', { environmentId: 'devbox' }, { bearerTokenEnvVar: 'T' })
    expect(connectionIdentity(local, CONTEXT).fields.variables).toEqual({ T: null })
    expect(connectionIdentity(remote, CONTEXT).fields.variables).toEqual({})
    expect(digest(remote, { env: { T: 'a' } })).not.toBe(digest(remote, { env: { T: 'b' } }))
  })

  it('is not confused by variables with the names of object members', () => {
    const server = stdioServer('s', {}, { envVars: ['__proto__', 'constructor', 'toString'] })
    expect(digest(server)).toBe(digest(server, { env: {} }))
    expect(connectionIdentity(server, CONTEXT).fields.variables).toEqual(
      Object.fromEntries(['__proto__', 'constructor', 'toString'].map((name) => [name, null])),
    )
  })

  it('counts the fallback directory only where it is used', () => {
    const elsewhere = { fallbackCwd: '/srv/there' }
    expect(digest(stdioServer('s'), elsewhere)).not.toBe(digest(stdioServer('s')))
    expect(digest(stdioServer('s', {}, { cwd: '/a' }), elsewhere)).toBe(digest(stdioServer('s', {}, { cwd: '/a' })))
    expect(digest(stdioServer('s', {}, { cwd: 'a' }), elsewhere)).not.toBe(digest(stdioServer('s', {}, { cwd: 'a' })))
    expect(digest(stdioServer('s', { environmentId: 'd' }), elsewhere)).toBe(
      digest(stdioServer('s', { environmentId: 'd' })),
    )
    expect(digest(httpServer('s'), elsewhere)).toBe(digest(httpServer('s')))
    const helped = httpServer('s', {}, { httpHeadersHelper: 'print-headers' })
    expect(digest(helped, elsewhere)).not.toBe(digest(helped))
  })

  it('changes with the client profile and with the handle of the environment', () => {
    const profile = { ...CONTEXT.profile, capabilities: { elicitation: { form: {}, url: {} } } }
    expect(digest(stdioServer('s'), { profile })).not.toBe(digest(stdioServer('s')))
    expect(digest(stdioServer('s'), { environmentHandle: '1' })).not.toBe(
      digest(stdioServer('s'), { environmentHandle: '2' }),
    )
  })

  it.each<[string, EffectiveServer, IdentityContext['env'], boolean]>([
    ['no authorization at all', httpServer('s'), {}, true],
    ['a static Authorization', httpServer('s', {}, { httpHeaders: { authorization: 'Bearer a' } }), {}, false],
    ['a static one that is no header value', httpServer('s', {}, { httpHeaders: { Authorization: 'a\nb' } }), {}, true],
    [
      'a header variable that is set',
      httpServer('s', {}, { envHttpHeaders: { Authorization: 'A' } }),
      { A: 'x' },
      false,
    ],
    [
      'a header variable that is blank',
      httpServer('s', {}, { envHttpHeaders: { Authorization: 'A' } }),
      { A: ' ' },
      true,
    ],
    ['a header variable that is not set', httpServer('s', {}, { envHttpHeaders: { Authorization: 'A' } }), {}, true],
    ['a bearer variable', httpServer('s', {}, { bearerTokenEnvVar: 'T' }), { T: 'x' }, false],
    ['stdio', stdioServer('s'), {}, false],
    ['chatgpt outside the host', httpServer('s', { environmentId: 'd' }, { auth: 'chatgpt' }), {}, false],
  ])('depends on stored credentials with %s: %#', (_what, server, env, depends) => {
    const one = digest(server, { env, storedCredentials: 'a' })
    const other = digest(server, { env, storedCredentials: 'b' })
    expect(one !== other).toBe(depends)
  })

  it('holds no secret in the clear, wherever the configuration puts it', () => {
    const secret = 'hunter2-hunter2'
    const servers = [
      stdioServer(
        's',
        {},
        { command: `/opt/${secret}`, args: [`--token=${secret}`], env: { A: secret }, envVars: ['V'] },
      ),
      httpServer(
        's',
        {},
        {
          url: `https://mcp.example/${secret}?key=${secret}`,
          httpHeaders: { Authorization: secret },
          httpHeadersHelper: `print ${secret}`,
          bearerTokenEnvVar: 'V',
        },
      ),
    ]
    for (const server of servers) {
      const identity = connectionIdentity(server, { ...CONTEXT, env: { V: secret } })
      expect(JSON.stringify(identity)).not.toContain(secret)
      expect(identity.digest).toMatch(/^[0-9a-f]{64}$/)
    }
  })
})

describe('the identity in the inventory cache', () => {
  const cached = (server: EffectiveServer, context: Partial<IdentityContext> = {}) =>
    cacheIdentity(server, { ...CONTEXT, ...context })

  it('keeps apart what two environments of one name offer', () => {
    const server = stdioServer('s', { environmentId: 'devbox' })
    expect(cached(server, { environmentHandle: '1' })).toBe(cached(server, { environmentHandle: '1' }))
    expect(cached(server, { environmentHandle: '1' })).not.toBe(cached(server, { environmentHandle: '2' }))
  })

  it('counts the capabilities of the client, not its name', () => {
    const renamed = { ...CONTEXT.profile, clientInfo: { name: 'other', version: '2' } }
    const abler = { ...CONTEXT.profile, capabilities: {} }
    expect(cached(stdioServer('s'), { profile: renamed })).toBe(cached(stdioServer('s')))
    expect(cached(stdioServer('s'), { profile: abler })).not.toBe(cached(stdioServer('s')))
  })

  it('changes with whatever is launched', () => {
    const all = [
      stdioServer('s'),
      stdioServer('s', {}, { command: 'b' }),
      stdioServer('s', {}, { args: ['b'] }),
      stdioServer('s', {}, { env: { A: 'b' } }),
      httpServer('s'),
      httpServer('s', {}, { url: 'http://127.0.0.1:2/' }),
      httpServer('s', {}, { httpHeaders: { A: 'b' } }),
    ].map((server) => cached(server))
    expect(new Set(all).size).toBe(all.length)
  })

  it.each<[string, EffectiveServer, boolean, string?]>([
    ['stdio', stdioServer('s'), true],
    ['a host variable', stdioServer('s', {}, { envVars: ['A'] }), true],
    ['a remote variable', stdioServer('s', {}, { envVars: [{ name: 'A', source: 'remote' }] }), false],
    ['HTTP', httpServer('s'), true],
    ['a header variable', httpServer('s', {}, { envHttpHeaders: { 'X-Team': 'TEAM' } }), true],
    [
      'a header variable that is read on an executor',
      httpServer('s', { environmentId: 'devbox' }, { envHttpHeaders: { 'X-Team': 'TEAM' } }),
      false,
    ],
    [
      'a bearer that is read on an executor',
      httpServer('s', { environmentId: 'devbox' }, { bearerTokenEnvVar: 'A' }),
      false,
    ],
    ['a headers helper', httpServer('s', {}, { httpHeadersHelper: 'x' }), false],
    ['oauth settings', httpServer('s', {}, { oauth: {} }), false],
    ['scopes', httpServer('s', { scopes: [] }), false],
    ['an OAuth resource', httpServer('s', {}, { oauthResource: 'x' }), false],
    ['chatgpt', httpServer('s', {}, { auth: 'chatgpt' }), false],
    ['chatgpt with a header', httpServer('s', {}, { auth: 'chatgpt', httpHeaders: { Authorization: 'x' } }), true],
    ['stored credentials', httpServer('s'), false, 'digest'],
    ['stored credentials and a header', httpServer('s', {}, { httpHeaders: { Authorization: 'x' } }), true, 'digest'],
    ['stored credentials and a bearer variable', httpServer('s', {}, { bearerTokenEnvVar: 'T' }), true, 'digest'],
  ])('exists with %s: %#', (_what, server, exists, storedCredentials) => {
    const context = storedCredentials === undefined ? {} : { storedCredentials }
    expect(cached(server, context) !== undefined).toBe(exists)
  })
})

describe('first-party auth', () => {
  const server = httpServer('s', {}, { auth: 'chatgpt' })
  const mine = { mode: 'off', source: 'chatgpt', account: 'a1' } as const

  it.each([
    ['mode', { ...mine, mode: 'assertion_only' as const }],
    ['source', { ...mine, source: 'chatgptAuthTokens' }],
    ['account', { ...mine, account: 'a2' }],
  ])('makes another %s another connection and another kept inventory', (_what, other) => {
    expect(digest(server, { firstParty: mine })).toBe(digest(server, { firstParty: { ...mine } }))
    expect(digest(server, { firstParty: other })).not.toBe(digest(server, { firstParty: mine }))
    const kept = (firstParty: typeof other) => cacheIdentity(server, { ...CONTEXT, firstParty })
    expect(kept(mine)).toBeDefined()
    expect(kept(other)).not.toBe(kept(mine))
  })

  it('keeps no inventory of nobody', () => {
    const nobody = { mode: 'off', source: null, account: null } as const
    expect(cacheIdentity(server, { ...CONTEXT, firstParty: nobody })).toBeUndefined()
    expect(cacheIdentity(server, CONTEXT)).toBeUndefined()
  })
})
