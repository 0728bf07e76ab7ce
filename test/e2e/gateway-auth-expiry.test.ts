import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createHttpClient, type HttpClient } from '../../src/environments/index.js'
import type { HttpLimits } from '../../src/gateway/http/limits.js'
import type { ModernAnswerer } from '../../src/gateway/http/modern-post.js'
import { gateway, initialize, noModern } from '../fixtures/gateway/http-sessions.js'
import { eventually } from '../fixtures/stdio/running.js'
import { TokenIssuer, type TokenWish } from '../standins/token-issuer.js'
import { RawSession, send, start } from './gateway/raw-http.js'
import { RawModern } from './gateway/raw-modern.js'

const HOUR = 3_600_000

let issuer: TokenIssuer
let http: HttpClient
/** How far the clock of the gateway has jumped. */
let jumped: number
beforeEach(async () => {
  issuer = await TokenIssuer.listen()
  http = createHttpClient({ env: {} })
  jumped = 0
})
afterEach(async () => {
  await http.close()
  await issuer[Symbol.asyncDispose]()
})

function guarded(limits: Partial<HttpLimits> = {}, answerModern: ModernAnswerer = noModern) {
  const resource = { issuer: issuer.origin, http, clockSkewMs: 0, now: () => Date.now() + jumped }
  return gateway({ expiryLookMs: 20, ...limits }, { authentication: { kind: 'oauth', resource }, answerModern })
}

/** Lives for an hour. */
const token = (url: string, scope = 'mcp:tools mcp:resources mcp:prompts', wish: TokenWish = {}) =>
  issuer.token(url, scope, { lifetime: HOUR / 1000, ...wish })

describe('a clock that jumps', () => {
  it('ends tokens and begins them, forth and back, and leaves the keys alone', async () => {
    const { url } = await guarded()
    const nbf = Math.floor(Date.now() / 1000)
    const authorization = `Bearer ${await token(url, undefined, { claims: { nbf } })}`
    const tried = async () => {
      const answer = await send(url, { headers: { authorization }, body: initialize() })
      return [answer.status, /error_description="([^"]*)"/.exec(answer.headers['www-authenticate'] ?? '')?.[1]]
    }
    expect(await tried()).toEqual([200, undefined])
    jumped = 24 * HOUR
    expect(await tried()).toEqual([401, 'it has expired'])
    jumped = -24 * HOUR
    expect(await tried()).toEqual([401, 'its nbf does not fit'])
    jumped = 0
    expect(await tried()).toEqual([200, undefined])
    expect(issuer.requests.filter(({ path }) => path.includes('jwks'))).toHaveLength(1)
  })

  it('ends a stream that was opened in time, also when it jumps back first', async () => {
    const { url, sessions } = await guarded()
    const session = await RawSession.open(url, { token: await token(url) })
    const stream = await session.listen()
    jumped = -HOUR
    await sessions.peers[0]?.notify('said', { text: 'here' })
    expect((await stream.message()).params).toEqual({ text: 'here' })
    jumped = 2 * HOUR
    expect(await stream.next()).toBeUndefined()
  })
})

describe('an answer that still streams when the token has expired', () => {
  it('has a while longer, and is cut then', async () => {
    const { url, sessions } = await guarded({ expiredCallMs: HOUR, plainMs: 0 })
    const session = await RawSession.open(url, { token: await token(url) })
    const stream = await session.stream('talk-and-wait', { name: 'a' })
    await stream.message()
    jumped = 1.5 * HOUR
    // Another one, which it ends, tells that there was a look.
    const listening = await new RawSession(url, session.headers).listen().catch(() => undefined)
    expect(listening?.response.statusCode).toBe(401)
    sessions.release('a', { done: true })
    expect((await stream.message()).result).toEqual({ done: true })
    jumped = 0
    const late = await session.stream('talk-and-wait', { name: 'b' })
    await late.message()
    jumped = 2.5 * HOUR
    expect(await late.next()).toBeUndefined()
  })
})

describe('subscriptions/listen', () => {
  /** Acknowledges and then waits for the client to leave. */
  const listening = () => {
    const left: string[] = []
    const answer: ModernAnswerer = async ({ method, principal, signal, notify }) => {
      notify('notifications/subscriptions/acknowledged', {})
      await once(signal, 'abort')
      left.push(`${method} ${principal.slice(0, 6)}`)
      return {}
    }
    return { left, answer }
  }

  it('ends with the token, and its subscriptions with it', async () => {
    const { left, answer } = listening()
    const { url } = await guarded({}, answer)
    const client = new RawModern(url, { token: await token(url) })
    const stream = await client.stream('subscriptions/listen', { notifications: { toolsListChanged: true } })
    expect((await stream.message()).method).toBe('notifications/subscriptions/acknowledged')
    expect(left).toEqual([])
    jumped = 2 * HOUR
    expect(await stream.next()).toBeUndefined()
    await eventually(() => expect(left).toEqual(['subscriptions/listen oauth-']))
  })

  it('ends with the token although its client reads nothing', async () => {
    const { left, answer } = listening()
    const flooding: ModernAnswerer = (request) => {
      for (let n = 0; n < 64; n += 1) request.notify('notifications/message', { text: 'x'.repeat(256 * 1024) })
      return answer(request)
    }
    const { url } = await guarded({ backlogBytes: 64 * 1024 * 1024 }, flooding)
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'subscriptions/listen',
      params: { _meta: META, notifications: { toolsListChanged: true } },
    })
    const authorization = `Bearer ${await token(url)}`
    const headers = { authorization, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' }
    const response = await start(url, { headers, body })
    response.on('error', () => undefined)
    jumped = 2 * HOUR
    await eventually(() => expect(left).toHaveLength(1))
    response.destroy()
  })

  it.each([
    ['toolsListChanged', 'mcp:tools'],
    ['promptsListChanged', 'mcp:prompts'],
    ['resourcesListChanged', 'mcp:resources'],
    ['resourceSubscriptions', 'mcp:resources'],
    ['taskIds', 'mcp:tools'],
  ])('of %s needs %s', async (member, scope) => {
    const { answer } = listening()
    const { url } = await guarded({}, answer)
    const notifications = { [member]: member.endsWith('Changed') ? true : ['x:1'] }
    const others = ['mcp:tools', 'mcp:prompts', 'mcp:resources'].filter((other) => other !== scope).join(' ')
    const refused = await new RawModern(url, { token: await token(url, others) }).request('subscriptions/listen', {
      notifications,
    })
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([
      403,
      expect.stringContaining(`error_description="it needs ${scope}"`),
    ])
    const client = new RawModern(url, { token: await token(url, scope) })
    const stream = await client.stream('subscriptions/listen', { notifications })
    expect((await stream.message()).method).toBe('notifications/subscriptions/acknowledged')
    stream.drop()
  })
})

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
