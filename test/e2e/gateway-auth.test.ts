import { once } from 'node:events'
import { connect } from 'node:net'
import { generateKeyPair, SignJWT } from 'jose'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createHttpClient, type HttpClient } from '../../src/environments/index.js'
import type { HttpLimits } from '../../src/gateway/http/limits.js'
import { principalId, type ResourceServerOptions } from '../../src/gateway/inbound-auth/index.js'
import { gateway, initialize } from '../fixtures/gateway/http-sessions.js'
import { TokenIssuer, type TokenWish } from '../standins/token-issuer.js'
import { RawSession, send } from './gateway/raw-http.js'

const ALL = 'mcp:tools mcp:resources mcp:prompts'

let issuer: TokenIssuer
let http: HttpClient
beforeEach(async () => {
  issuer = await TokenIssuer.listen()
  http = createHttpClient({ env: {} })
})
afterEach(async () => {
  await http.close()
  await issuer[Symbol.asyncDispose]()
})

function guarded(options: Partial<ResourceServerOptions> = {}, limits: Partial<HttpLimits> = {}) {
  const resource = { issuer: issuer.origin, http, ...options }
  return gateway(limits, { authentication: { kind: 'oauth', resource } })
}

async function tried(url: string, wish: TokenWish = {}, scope = ALL) {
  return enter(url, `Bearer ${await issuer.token(url, scope, wish)}`)
}

function enter(url: string, authorization: string) {
  return send(url, { headers: { authorization }, body: initialize() })
}

describe('a gateway as a protected resource', () => {
  it('tells who gives tokens for it, at each of its well-known places', async () => {
    const { url } = await guarded()
    for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp']) {
      const answer = await send(url, { method: 'GET', path })
      expect([answer.status, answer.json()]).toMatchObject([
        200,
        {
          resource: url,
          authorization_servers: [issuer.origin],
          scopes_supported: ['mcp:tools', 'mcp:resources', 'mcp:prompts'],
          bearer_methods_supported: ['header'],
        },
      ])
    }
    expect((await send(url, { method: 'GET', path: '/.well-known/oauth-protected-resource/other' })).status).toBe(404)
    expect((await send(url, { path: '/.well-known/oauth-protected-resource' })).status).toBe(405)
  })

  it('challenges a client without a token', async () => {
    const { url } = await guarded()
    const answer = await send(url, { body: initialize() })
    expect(answer.status).toBe(401)
    const { origin } = new URL(url)
    expect(answer.headers['www-authenticate']).toBe(
      `Bearer scope="${ALL}", resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`,
    )
  })

  it('names the configured resource, and may be spoken to by its name', async () => {
    const resource = 'https://mcp.example/base/mcp'
    const { url } = await guarded({ resource, initialScopes: ['mcp:tools'] })
    const host = { host: 'mcp.example' }
    const answer = await send(url, { headers: host, body: initialize() })
    expect(answer.headers['www-authenticate']).toBe(
      'Bearer scope="mcp:tools", resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/base/mcp"',
    )
    const path = '/.well-known/oauth-protected-resource/base/mcp'
    expect((await send(url, { method: 'GET', path, headers: host })).json()).toMatchObject({ resource })
    expect((await enter(url, `Bearer ${await issuer.token(resource, ALL)}`)).status).toBe(200)
    expect((await tried(url)).status).toBe(401)
  })

  it.each<[string, TokenWish]>([
    ['as most servers write it', { header: { typ: 'JWT' } }],
    ['without a type', { header: { typ: undefined } }],
    ['for several audiences', {}],
    ['with its scopes in scp', { claims: { scp: ALL.split(' ') }, without: ['scope'] }],
    ['of a clock that is a little ahead', { claims: { nbf: Math.floor(Date.now() / 1000) + 10 } }],
    ['that has expired a moment ago', { lifetime: -5 }],
  ])('takes a token %s', async (_, wish) => {
    const { url } = await guarded()
    const several = _ === 'for several audiences' ? { ...wish, claims: { aud: ['other', url] } } : wish
    expect((await tried(url, several)).status).toBe(200)
  })

  it.each<[string, TokenWish, string]>([
    ['expired', { lifetime: -3600 }, 'it has expired'],
    ['not valid yet', { claims: { nbf: Math.floor(Date.now() / 1000) + 3600 } }, 'its nbf does not fit'],
    ['for somebody else', { claims: { aud: 'https://other.example/mcp' } }, 'its aud does not fit'],
    ['for the path above', { claims: { aud: 'http://127.0.0.1' } }, 'its aud does not fit'],
    ['of another issuer', { claims: { iss: 'https://evil.example' } }, 'its iss does not fit'],
    ['of an issuer with a slash more', { claims: { iss: 'http://127.0.0.1/' } }, 'its iss does not fit'],
    ['without an audience', { without: ['aud'] }, 'its aud does not fit'],
    ['without an end', { without: ['exp'] }, 'its exp does not fit'],
    ['without a subject', { without: ['sub'] }, 'its sub does not fit'],
    ['with an empty subject', { claims: { sub: '' } }, 'it names no subject'],
    ['of an unknown key', { header: { kid: 'key-9' } }, 'its key is not known'],
    ['for a logout', { header: { typ: 'logout+jwt' } }, 'it is no access token'],
    ['bound to a key', { claims: { cnf: { jkt: 'x' } } }, 'it is bound to a key, and such tokens are not taken'],
  ])('refuses a token that is %s', async (_, wish, why) => {
    const { url } = await guarded()
    const answer = await tried(url, wish)
    expect(answer.status).toBe(401)
    expect(answer.headers['www-authenticate']).toContain(`error="invalid_token", error_description="${why}"`)
  })

  it('refuses signatures that prove nothing', async () => {
    const { url } = await guarded()
    const token = await issuer.token(url, ALL)
    const [, payload = '', signature = ''] = token.split('.')
    const header = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const symmetric = await new SignJWT({ aud: url, sub: 'ann', iss: issuer.origin })
      .setProtectedHeader({ alg: 'HS256', kid: issuer.key.kid })
      .setExpirationTime('1h')
      .sign(Buffer.from('the public key, as if it were a secret'))
    const stranger = { ...issuer.key, privateKey: (await generateKeyPair('ES256')).privateKey }
    for (const forged of [
      `${header({ alg: 'none' })}.${payload}.`,
      `${header({ alg: 'none' })}.${payload}.${signature}`,
      `${header({ alg: 'NoNe', typ: 'at+jwt' })}.${payload}.${signature}`,
      `${header({ alg: 'ES256', crit: ['x'], x: 1 })}.${payload}.${signature}`,
      symmetric,
      await issuer.token(url, ALL, { key: stranger }),
      `${token.slice(0, -4)}AAAA`,
      'a.b.c',
      'opaque',
      `${token}.${token}`,
    ]) {
      const answer = await enter(url, `Bearer ${forged}`)
      expect([forged.slice(0, 20), answer.status]).toEqual([forged.slice(0, 20), 401])
      expect(answer.text + answer.headers['www-authenticate']).not.toContain(forged)
    }
    expect((await enter(url, `Bearer ${token}`)).status).toBe(200)
  })

  it('takes one token, in its header alone', async () => {
    const { url } = await guarded()
    const token = await issuer.token(url, ALL)
    const query = await send(url, {
      path: `/mcp?access_token=${token}`,
      headers: { authorization: `Bearer ${token}` },
      body: initialize(),
    })
    expect([query.status, query.headers['www-authenticate']]).toEqual([400, expect.stringContaining('invalid_request')])
    expect((await enter(url, `Bearer ${'x'.repeat(13_000)}`)).status).toBe(401)
    expect((await enter(url, `Bearer ${'x'.repeat(20_000)}`)).status).toBe(431)
    expect((await enter(url, `Basic ${token}`)).headers['www-authenticate']).not.toContain('error')
    expect((await enter(url, `Bearer ${token}, Bearer ${token}`)).status).toBe(401)
    expect((await enter(url, 'Bearer')).status).toBe(401)
    const doubled = await raw(url, [`Authorization: Bearer ${token}`, `authorization: Bearer ${token}`])
    expect(doubled).toMatch(/^HTTP\/1.1 400 [\s\S]*invalid_request/)
    expect(await raw(url, [`Authorization: Bearer ${token}`])).toMatch(/^HTTP\/1.1 200 /)
  })

  it.each([['none'], ['HS256'], []])('is not to be configured with %s', async (...algorithms) => {
    await expect(guarded({ algorithms })).rejects.toMatchObject({ code: 'unsafe_algorithm' })
  })
})

describe('scopes', () => {
  const list = (method: string) => JSON.stringify({ jsonrpc: '2.0', id: 1, method })

  it('are needed by the verb, and named together with those that are there', async () => {
    const { url } = await guarded()
    const token = await issuer.token(url, 'mcp:prompts openid')
    const session = await RawSession.open(url, { token })
    const answer = await send(url, { headers: session.headers, body: list('tools/list') })
    expect(answer.status).toBe(403)
    const { origin } = new URL(url)
    expect(answer.headers['www-authenticate']).toBe(
      'Bearer error="insufficient_scope", error_description="it needs mcp:tools", scope="mcp:prompts mcp:tools", ' +
        `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`,
    )
    for (const [method, status] of [
      ['prompts/list', 200],
      ['resources/read', 403],
      ['x-vendor/secret', 403],
      ['ping', 200],
    ] as const) {
      expect([method, (await send(url, { headers: session.headers, body: list(method) })).status]).toEqual([
        method,
        status,
      ])
    }
  })

  it('of a stepped-up token count in the same session', async () => {
    const { url } = await guarded()
    const session = await RawSession.open(url, { token: await issuer.token(url, 'mcp:prompts') })
    const more = `Bearer ${await issuer.token(url, 'mcp:prompts mcp:tools')}`
    const headers = { ...session.headers, authorization: more }
    expect((await send(url, { headers, body: list('tools/list') })).status).toBe(200)
  })

  it('follow the most exact entry of the mapping', async () => {
    const scopes = new Map([
      ['tools/call', ['run']],
      ['tools/*', []],
    ])
    const { url } = await guarded({ scopes, requiredScopes: ['mcp'] })
    expect((await tried(url, {}, 'run')).headers['www-authenticate']).toContain('scope="run mcp"')
    const session = await RawSession.open(url, { token: await issuer.token(url, 'mcp') })
    expect((await send(url, { headers: session.headers, body: list('tools/list') })).status).toBe(200)
    expect((await send(url, { headers: session.headers, body: list('tools/call') })).status).toBe(403)
    expect((await send(url, { headers: session.headers, body: list('anything') })).status).toBe(200)
  })
})

describe('a session', () => {
  it('belongs to a subject, whatever token it comes with', async () => {
    const { url, sessions } = await guarded()
    const session = await RawSession.open(url, { token: await issuer.token(url, ALL) })
    const stream = await session.listen()
    const renewed = { ...session.headers, authorization: `Bearer ${await issuer.token(url, ALL)}` }
    const again = new RawSession(url, renewed)
    expect((await again.request('echo', {})).status).toBe(200)
    await sessions.peers[0]?.notify('said', { text: 'still here' })
    expect((await stream.message()).params).toEqual({ text: 'still here' })
    stream.drop()
    issuer.user = 'bob'
    const theft = new RawSession(url, { ...session.headers, authorization: `Bearer ${await issuer.token(url, ALL)}` })
    const refused = await theft.request('echo', {})
    const unknown = await new RawSession(url, { ...theft.headers, 'mcp-session-id': 'nobody' }).request('echo', {})
    expect([refused.status, refused.text]).toEqual([404, unknown.text])
    expect((await theft.end()).status).toBe(404)
    expect((await again.request('echo', {})).status).toBe(200)
  })

  it('loses its stream when the token ends, and goes on with the next one', async () => {
    const { url, sessions } = await guarded({ clockSkewMs: 0 })
    const session = await RawSession.open(url, { token: await issuer.token(url, ALL) })
    const short = { ...session.headers, authorization: `Bearer ${await issuer.token(url, ALL, { lifetime: 2 })}` }
    const stream = await new RawSession(url, short).listen()
    await sessions.peers[0]?.notify('said', { text: 'first' })
    expect((await stream.message()).params).toEqual({ text: 'first' })
    const last = stream.events.at(-1)?.id
    expect(await stream.next()).toBeUndefined()
    expect((await send(url, { headers: short, body: initialize() })).status).toBe(401)
    await sessions.peers[0]?.notify('said', { text: 'missed' })
    const resumed = await new RawSession(url, { ...session.headers, 'last-event-id': String(last) }).listen()
    expect((await resumed.message()).params).toEqual({ text: 'missed' })
    resumed.drop()
  })

  it('has a principal that stands for issuer and subject', () => {
    expect(principalId('https://a', 'b')).toMatch(/^oauth-[0-9a-f]{48}$/)
    expect(principalId('https://a', 'b')).toBe(principalId('https://a', 'b'))
    expect(principalId('https://a', '","b')).not.toBe(principalId('https://a","', 'b'))
  })
})

/** Headers as no client library would send them. */
async function raw(url: string, headers: readonly string[]): Promise<string> {
  const { hostname, port, host } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  const body = initialize()
  const lines = [
    'POST /mcp HTTP/1.1',
    `Host: ${host}`,
    'Connection: close',
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers,
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`)
  let text = ''
  for await (const chunk of socket) text += String(chunk)
  return text
}
