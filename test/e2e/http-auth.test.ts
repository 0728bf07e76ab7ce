import { afterAll, describe, expect, it } from 'vitest'
import { createHttpClient, LocalEnvironment } from '../../src/environments/index.js'
import type { HttpAuth, HttpOperation, Refusal } from '../../src/transports/index.js'
import { ManualTimers } from '../fixtures/http/manual-timers.js'
import { failure } from '../fixtures/http/plain.js'
import { startServer, type Turn } from '../fixtures/http/server.js'
import { openSession } from '../fixtures/http/session.js'

const BEARER = { 'WWW-Authenticate': 'Bearer resource_metadata="http://a.test/.well-known/x"' }

/** Gives a new token for every operation and keeps account. */
class CountingAuth implements HttpAuth {
  readonly asked: HttpOperation[] = []
  readonly refused: Refusal[] = []
  renew = false

  async headers(operation: HttpOperation) {
    this.asked.push(operation)
    return [['Authorization', `Bearer token-${this.asked.length}`]] as const
  }

  async onUnauthorized(_operation: HttpOperation, refusal: Refusal) {
    this.refused.push(refusal)
    return this.renew
  }
}

describe('the configured credential', () => {
  it('is the bearer token of a variable, over a static Authorization and an outside source', async () => {
    await using server = await startServer()
    const auth = new CountingAuth()
    await using session = await openSession(server.url, {
      env: { TOKEN: 'from-env' },
      server: { bearerTokenEnvVar: 'TOKEN', httpHeaders: { authorization: 'Basic x', 'X-A': 'a' } },
      auth,
    })
    await session.peer.request('ping')
    expect(server.received[0]?.headers).toMatchObject({ authorization: 'Bearer from-env', 'x-a': 'a' })
    expect(auth.asked).toEqual([])
  })

  it.each([
    ['not set', {}, 'is not set'],
    ['empty', { TOKEN: '' }, 'is empty'],
    ['blank', { TOKEN: '  ' }, 'is empty'],
    ['no Unicode', { TOKEN: 'abc\ufffd' }, 'is not valid Unicode'],
    ['of two lines', { TOKEN: 'hunter2\n' }, 'a line end'],
  ])('is an error before any contact when its variable is %s', async (_what, env, text) => {
    await using server = await startServer()
    const error = await failure(
      openSession(server.url, { env, server: { bearerTokenEnvVar: 'TOKEN' }, label: 'notes' }),
    )
    expect(error).toMatchObject({ code: 'bearer_token', place: 'notes bearer_token_env_var' })
    expect(error.message).toContain(text)
    expect(error.message).toMatch(/TOKEN.*'notes'/)
    expect(error.message).not.toContain('hunter2')
    expect(server.received).toEqual([])
  })

  it('may be a header from the environment, which wins over a static one and over an outside source', async () => {
    await using server = await startServer()
    const auth = new CountingAuth()
    await using session = await openSession(server.url, {
      env: { KEY: 'Token k' },
      server: { httpHeaders: { Authorization: 'Basic x' }, envHttpHeaders: { AUTHORIZATION: 'KEY' } },
      auth,
    })
    await session.peer.request('ping')
    expect(server.received[0]?.headers.authorization).toBe('Token k')
    expect(auth.asked).toEqual([])
  })

  it('leaves headers out that cannot be sent, with a warning each', async () => {
    await using server = await startServer()
    await using session = await openSession(server.url, { server: { httpHeaders: { 'bad name': 'x', 'X-Good': 'y' } } })
    expect(session.warnings).toMatchObject([{ code: 'invalid_arguments', place: 'test http_headers.bad name' }])
    await session.peer.request('ping')
    expect(server.received[0]?.headers['x-good']).toBe('y')
  })
})

describe('an outside credential source', () => {
  it('is asked for every POST, GET, DELETE, retry, redirect and resumption, and nothing it gives is kept', async () => {
    const timers = new ManualTimers()
    await using server = await startServer(
      {
        'tools/list': ({ earlier, text, result }) => (earlier === 0 ? text(503) : result({ tools: [] })),
        'tools/call': (turn) => {
          if (turn.request.url === '/mcp') return turn.text(307, '', { Location: '/other' })
          turn.stream()
          turn.event('', { id: 'e1' })
          turn.response.end()
        },
        GET: (turn) => {
          turn.stream()
          if (turn.request.headers['last-event-id'] === 'e1') {
            turn.event({ jsonrpc: '2.0', id: 3, result: {} })
            turn.response.end()
          }
        },
      },
      { session: 's1' },
    )
    const auth = new CountingAuth()
    const session = await openSession(server.url, { auth, timers })
    await session.initialize()
    await expect.poll(() => server.of('GET').length).toBe(1)
    const listing = session.peer.request('tools/list')
    await timers.waitingFor(250)
    timers.advance(250)
    await listing
    const call = session.peer.request('tools/call', {})
    await timers.waitingFor(500)
    timers.advance(500)
    await call
    await session.peer.close()
    await session.http.close()
    expect(
      auth.asked.map(({ method, rpcMethod, url }) => `${method} ${rpcMethod ?? ''} ${new URL(url).pathname}`),
    ).toEqual([
      'POST initialize /mcp',
      'POST notifications/initialized /mcp',
      'GET  /mcp',
      'POST tools/list /mcp',
      'POST tools/list /mcp',
      'POST tools/call /mcp',
      'POST tools/call /other',
      'GET  /mcp',
      'DELETE  /mcp',
    ])
    const sent = server.received.map(({ headers }) => headers.authorization)
    expect(new Set(sent).size).toBe(sent.length)
    expect(auth.asked.every(({ origin }) => origin === server.origin)).toBe(true)
  })

  it('gets one chance after a 401, and is told which headers were refused', async () => {
    await using server = await startServer({
      'tools/call': ({ request, text, result }) =>
        request.headers.authorization === 'Bearer token-1' ? text(401, '', BEARER) : result({ content: [] }),
    })
    const auth = new CountingAuth()
    auth.renew = true
    await using session = await openSession(server.url, { auth })
    expect(await session.peer.request('tools/call', {})).toEqual({ content: [] })
    expect(auth.refused).toEqual([
      { status: 401, challenge: BEARER['WWW-Authenticate'], headers: [['Authorization', 'Bearer token-1']] },
    ])
  })

  it('gets no second chance within one operation', async () => {
    await using server = await startServer({ 'tools/call': ({ text }) => text(401, '', BEARER) })
    const auth = new CountingAuth()
    auth.renew = true
    await using session = await openSession(server.url, { auth })
    expect(await failure(session.peer.request('tools/call', {}))).toMatchObject({
      code: 'auth_required',
      challenge: BEARER['WWW-Authenticate'],
    })
    expect(server.received).toHaveLength(2)
  })

  it('that fails fails the operation, unsent', async () => {
    await using server = await startServer()
    const broken = new Error('keychain locked')
    await using session = await openSession(server.url, { auth: { headers: () => Promise.reject(broken) } })
    expect(await failure(session.peer.request('ping'))).toBe(broken)
    expect(server.received).toEqual([])
  })

  it('that hangs does not outlive its caller', async () => {
    await using server = await startServer()
    await using session = await openSession(server.url, { auth: { headers: () => new Promise(() => {}) } })
    const abort = new AbortController()
    const failing = failure(session.peer.request('ping', {}, { signal: abort.signal }))
    abort.abort()
    expect(await failing).toMatchObject({ code: 'cancelled' })
  })

  it('that gives an impossible header is refused without showing it', async () => {
    await using server = await startServer()
    await using session = await openSession(server.url, { auth: { headers: async () => [['X-A', 'secret\n']] } })
    const error = await failure(session.peer.request('ping'))
    expect(error).toMatchObject({ code: 'invalid_arguments' })
    expect(error.message).not.toContain('secret')
    expect(server.received).toEqual([])
  })
})

describe('a refusal', () => {
  it('with 401 and a challenge says what is wanted, all fields of it', async () => {
    await using server = await startServer({
      'tools/call': ({ text }) => text(401, '', { 'WWW-Authenticate': ['Basic realm="x"', 'Bearer scope="s"'] }),
    })
    await using session = await openSession(server.url)
    expect(await failure(session.peer.request('tools/call', {}))).toMatchObject({
      code: 'auth_required',
      place: server.url,
      challenge: 'Basic realm="x", Bearer scope="s"',
    })
    expect(server.received).toHaveLength(1)
  })

  it('with 401 and no challenge is a plain error, each time', async () => {
    await using server = await startServer({ 'tools/call': ({ text }) => text(401, 'who are you') })
    await using session = await openSession(server.url)
    for (const _time of [1, 2]) {
      expect(await failure(session.peer.request('tools/call', {}))).toMatchObject({
        code: 'http_status',
        status: 401,
        message: 'HTTP 401: who are you',
      })
    }
    expect(server.received).toHaveLength(2)
  })

  it.each([
    ['in one field', ['Bearer error="insufficient_scope", scope="files:write"'], 'files:write'],
    ['behind Basic', ['Basic realm="x"', 'Bearer error="insufficient_scope"'], undefined],
  ])('with 403 and a scope challenge %s names the scope', async (_what, challenge, scope) => {
    await using server = await startServer({
      'tools/call': ({ text }) => text(403, 'no', { 'WWW-Authenticate': challenge }),
    })
    await using session = await openSession(server.url)
    expect(await failure(session.peer.request('tools/call', {}))).toMatchObject({ code: 'insufficient_scope', scope })
  })

  it('with any other 403 is a plain error', async () => {
    await using server = await startServer({ 'tools/call': ({ text }: Turn) => text(403, 'no', BEARER) })
    await using session = await openSession(server.url)
    expect(await failure(session.peer.request('tools/call', {}))).toMatchObject({ code: 'http_status', status: 403 })
  })
})

describe('the headers helper', () => {
  const local = new LocalEnvironment({ http: createHttpClient({ env: {} }) })
  const spawn: LocalEnvironment['spawn'] = (request) => local.spawn(request)
  afterAll(() => local.close())
  /** Prints another token on every run. */
  const helper = `printf '{"X-Token":"%s"}' "$(date +%s%N)"`
  const options = { env: { PATH: process.env.PATH }, server: { httpHeadersHelper: helper }, spawn }

  it('runs once, and again after a 401', async () => {
    await using server = await startServer({
      'tools/call': ({ earlier, text, result }) => (earlier === 0 ? text(401, 'expired') : result({ content: [] })),
    })
    await using session = await openSession(server.url, options)
    await session.peer.request('ping')
    await session.peer.request('ping')
    await session.peer.request('tools/call', {})
    const tokens = server.received.map(({ headers }) => headers['x-token'])
    expect(tokens[0]).toMatch(/^\d+$/)
    expect(tokens.slice(1, 3)).toEqual([tokens[0], tokens[0]])
    expect(tokens[3]).not.toBe(tokens[0])
    expect(tokens).toHaveLength(4)
  })

  it('runs once for calls that are refused together', async () => {
    const turns: Turn[] = []
    await using server = await startServer({
      'tools/call': (turn) => {
        if (turn.earlier >= 4) return turn.result({ content: [] })
        turns.push(turn)
        if (turns.length === 4) for (const refused of turns) refused.text(401)
      },
    })
    await using session = await openSession(server.url, options)
    await Promise.all([1, 2, 3, 4].map((n) => session.peer.request('tools/call', { n })))
    expect(new Set(server.received.map(({ headers }) => headers['x-token'])).size).toBe(2)
  })

  it('that keeps giving the refused headers is not asked for ever', async () => {
    await using server = await startServer({ 'tools/call': ({ text }) => text(401, '', BEARER) })
    await using session = await openSession(server.url, {
      ...options,
      server: { httpHeadersHelper: `echo '{"X-Token":"same"}'` },
    })
    expect(await failure(session.peer.request('tools/call', {}))).toMatchObject({ code: 'auth_required' })
    expect(server.received).toHaveLength(1)
  })

  it('stands under an outside source, whose headers win', async () => {
    await using server = await startServer()
    await using session = await openSession(server.url, {
      ...options,
      server: { httpHeadersHelper: `echo '{"Authorization":"Bearer helper","X-Token":"h"}'` },
      auth: new CountingAuth(),
    })
    await session.peer.request('ping')
    expect(server.received[0]?.headers).toMatchObject({ authorization: 'Bearer token-1', 'x-token': 'h' })
  })

  it('that failed is tried again by the next operation', async () => {
    await using server = await startServer()
    await using session = await openSession(server.url, { ...options, server: { httpHeadersHelper: 'exit 7' } })
    for (const _time of [1, 2]) {
      expect(await failure(session.peer.request('ping'))).toMatchObject({ code: 'process_failed', data: { code: 7 } })
    }
    expect(server.received).toEqual([])
  })

  it('is refused for servers that are not reached from this host', async () => {
    const error = await failure(openSession('http://a.test/', { server: { httpHeadersHelper: helper } }))
    expect(error).toMatchObject({ code: 'unsupported', place: 'test http_headers_helper' })
  })
})
