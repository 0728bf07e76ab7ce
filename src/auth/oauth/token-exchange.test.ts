import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { httpServer } from '../../../test/fixtures/connections/servers.js'
import { json, TokenIssuer } from '../../../test/standins/token-issuer.js'
import { createHttpClient, type HttpClient } from '../../environments/index.js'
import { exchangedAuth } from './exchanged-auth.js'
import { SubjectTokens } from './subject-tokens.js'
import { type ExchangeWish, TokenExchanges } from './token-exchange.js'

let issuer: TokenIssuer
let http: HttpClient
let now: number
let subjects: SubjectTokens
let exchanges: TokenExchanges
let asked: URLSearchParams[]
beforeEach(async () => {
  issuer = await TokenIssuer.listen()
  http = createHttpClient({ env: {} })
  now = Date.now()
  subjects = new SubjectTokens()
  exchanges = new TokenExchanges({ subjects, http, env: { SECRET: 's3cret' }, now: () => now })
  asked = []
  issuer.exchange = async (form) => {
    asked.push(form)
    await new Promise((resolve) => setImmediate(resolve))
    const token = `upstream-${form.get('subject_token')}-${asked.length}`
    return json(200, { access_token: token, token_type: 'Bearer', issued_token_type: 'x', expires_in: 300 })
  }
  put('ann')
})
afterEach(async () => {
  await http.close()
  await issuer[Symbol.asyncDispose]()
})

const put = (principal: string, token = `inbound-${principal}`, lifetime = 3_600_000) =>
  subjects.put(principal, { token, issuer: issuer.origin, expiresAt: now + lifetime })
const URL_OF_SERVER = 'https://x.example/mcp'
const wish = (parts: Partial<ExchangeWish> = {}): ExchangeWish => ({
  principal: 'ann',
  label: 'x',
  url: URL_OF_SERVER,
  settings: { clientId: 'reeve', scopes: ['read'] },
  ...parts,
})

describe('token exchange', () => {
  it('asks the issuer of the token for one of the server', async () => {
    expect(await exchanges.token(wish())).toBe('upstream-inbound-ann-1')
    expect(Object.fromEntries(asked[0] ?? [])).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: 'inbound-ann',
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      resource: URL_OF_SERVER,
      scope: 'read',
      client_id: 'reeve',
    })
    const settings = {
      clientId: 'reeve',
      audience: 'x',
      clientSecretEnv: 'SECRET',
      tokenEndpoint: `${issuer.origin}/token`,
    }
    await exchanges.token(wish({ settings }))
    expect([asked[1]?.get('audience'), asked[1]?.get('resource')]).toEqual(['x', null])
    await expect(exchanges.token(wish({ settings: { ...settings, clientSecretEnv: 'NONE' } }))).resolves.toBeDefined()
    put('bob')
    const other = wish({ principal: 'bob', settings: { ...settings, clientSecretEnv: 'NONE' } })
    await expect(exchanges.token(other)).rejects.toMatchObject({ code: 'client_secret' })
  })

  it('is done once for many, for each principal, until shortly before the end', async () => {
    put('bob')
    const tokens = await Promise.all(
      [...Array(10)].flatMap(() => [exchanges.token(wish()), exchanges.token(wish({ principal: 'bob' }))]),
    )
    expect(asked).toHaveLength(2)
    expect(new Set(tokens).size).toBe(2)
    now += 265_000
    await exchanges.token(wish())
    expect(asked).toHaveLength(2)
    now += 10_000
    await Promise.all([exchanges.token(wish()), exchanges.token(wish())])
    expect(asked).toHaveLength(3)
  })

  it('is done anew for a token that was refused, once for many', async () => {
    const rejected = await exchanges.token(wish())
    const again = await Promise.all([1, 2, 3].map(() => exchanges.token(wish({ rejected }))))
    expect(asked).toHaveLength(2)
    expect(new Set(again).size).toBe(1)
    expect(again[0]).not.toBe(rejected)
  })

  it('is not possible for who came without a token, or with one that has ended', async () => {
    await expect(exchanges.token(wish({ principal: 'bob' }))).rejects.toMatchObject({ code: 'auth_required' })
    put('bob', 'short', 1000)
    now += 1000
    await expect(exchanges.token(wish({ principal: 'bob' }))).rejects.toMatchObject({ code: 'auth_required' })
    expect(asked).toHaveLength(0)
  })

  it('is refused in words that hold no token, and not tried again at once', async () => {
    issuer.exchange = (form) => {
      asked.push(form)
      return json(400, { error: 'invalid_target', error_description: `not for ${form.get('subject_token')}` })
    }
    const failure = await exchanges.token(wish()).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'oauth_token_refused', data: { error: 'invalid_target' } })
    expect(String(failure)).not.toContain('inbound-ann')
    await expect(exchanges.token(wish())).rejects.toThrow('invalid_target')
    expect(asked).toHaveLength(1)
    put('ann', 'inbound-renewed', 7_200_000)
    await expect(exchanges.token(wish())).rejects.toThrow('invalid_target')
    expect(asked).toHaveLength(2)
  })

  it('goes on with another token when the one that lasts longest was revoked', async () => {
    const answer = issuer.exchange ?? (() => json(500, {}))
    put('ann', 'inbound-revoked', 7_200_000)
    issuer.exchange = (form) =>
      form.get('subject_token') === 'inbound-revoked' ? json(400, { error: 'invalid_grant' }) : answer(form)
    await expect(exchanges.token(wish())).rejects.toThrow('invalid_grant')
    put('ann', 'inbound-revoked', 7_200_000)
    await expect(exchanges.token(wish())).rejects.toThrow('invalid_grant')
    put('ann', 'inbound-ann', 1_800_000)
    expect(await exchanges.token(wish())).toContain('inbound-ann')
    expect(asked).toHaveLength(1)
  })

  it.each([
    ['the same token', json(200, { access_token: 'inbound-ann', token_type: 'Bearer' })],
    ['no bearer token', json(200, { access_token: 'a.b', token_type: 'N_A' })],
    ['HTML', { status: 200, body: '<html>' }],
    ['a redirect', { status: 307, body: '', headers: { location: 'https://evil.example/token' } }],
  ])('takes no answer that is %s', async (_, answer) => {
    issuer.exchange = () => answer
    const failure = await exchanges.token(wish()).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: expect.stringMatching(/oauth_invalid_answer|redirect_refused/) })
  })

  it('counts where the configuration says so, for principals with tokens', () => {
    const server = httpServer('x', {}, { oauth: { tokenExchange: { clientId: 'reeve' } } })
    expect(exchangedAuth(exchanges, server, 'ann')).toBeDefined()
    expect(exchangedAuth(exchanges, server, undefined)).toBeUndefined()
    expect(exchangedAuth(exchanges, { ...server, source: { kind: 'selected_plugin' } }, 'ann')).toBeUndefined()
    expect(exchangedAuth(exchanges, httpServer('x', {}, {}), 'ann')).toBeUndefined()
  })
})
