import { readFile, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { AuthorizationServer } from '../../../test/standins/authorization-server.js'
import { eachLoginWorld, type LoginWorld } from '../../../test/standins/login-world.js'
import { CredentialKeeper } from './keeper.js'
import { beginLogin, type LoginOptions, type PendingLogin } from './login.js'
import { OAuthServerAuth } from './server-auth.js'

const REDIRECT = 'http://127.0.0.1:4999/callback'

let home: LoginWorld['home']
let http: LoginWorld['http']
let store: LoginWorld['store']
let server: LoginWorld['server']
let owner: LoginWorld['owner']
eachLoginWorld((world) => {
  ;({ home, http, store, server, owner } = world)
})

const begin = (over: Partial<LoginOptions> = {}) =>
  beginLogin({ owner: owner(), http, store, redirectUri: REDIRECT, ...over })

/** What the browser of a user who says yes is sent back to. */
async function approve({ authorizationUrl }: PendingLogin): Promise<string> {
  const response = await fetch(authorizationUrl, { redirect: 'manual' })
  return response.headers.get('location') ?? ''
}

const paramsOf = ({ authorizationUrl }: PendingLogin) => new URL(authorizationUrl).searchParams

describe('a login', () => {
  it('ends with a token that the server takes', async () => {
    const login = await begin()
    const { credential } = await login.complete(await approve(login))
    expect(server.takes(credential.accessToken)).toBe(true)
    expect(store.find(owner())).toEqual(credential)
    expect(credential).toMatchObject({ issuer: server.origin, resource: server.resourceUrl, scopes: [] })
  })

  it('asks for the resource exactly as it is published, at both endpoints', async () => {
    server.options = { resource: { resource: `${server.origin}/` } }
    const login = await begin()
    await login.complete(await approve(login))
    const token = server.requests.find(({ path }) => path === '/token')
    expect(paramsOf(login).get('resource')).toBe(`${server.origin}/`)
    expect(new URLSearchParams(token?.body).get('resource')).toBe(`${server.origin}/`)
  })

  it('proves itself by S256 and sends no secret through the browser', async () => {
    const login = await begin()
    expect(paramsOf(login).get('code_challenge_method')).toBe('S256')
    await login.complete(await approve(login))
    const verifier = new URLSearchParams(server.requests.at(-1)?.body).get('code_verifier') ?? ''
    expect(verifier).toHaveLength(43)
    expect(login.authorizationUrl).not.toContain(verifier)
  })

  it('refuses a callback with another state, and takes the right one afterwards, once', async () => {
    const login = await begin()
    const right = await approve(login)
    const wrong = new URL(right)
    wrong.searchParams.set('state', 'another')
    await expect(login.complete(wrong.href)).rejects.toMatchObject({ code: 'oauth_callback_refused' })
    await expect(login.complete('http://127.0.0.1/callback?code=x')).rejects.toMatchObject({
      code: 'oauth_callback_refused',
    })
    await login.complete(right)
    await expect(login.complete(right)).rejects.toMatchObject({ code: 'oauth_callback_refused' })
    expect(server.counts.codes).toBe(1)
  })

  it.each([
    ['of another issuer', (url: URL) => url.searchParams.set('iss', 'https://evil.example')],
    ['of nobody, where an issuer was promised', (url: URL) => url.searchParams.delete('iss')],
    ['with two codes', (url: URL) => url.searchParams.append('code', 'second')],
  ])('refuses a callback %s', async (_what, spoil) => {
    const login = await begin()
    const url = new URL(await approve(login))
    spoil(url)
    await expect(login.complete(url.href)).rejects.toMatchObject({ code: 'oauth_callback_refused' })
    expect(server.counts.codes).toBe(0)
  })

  it('tells why the authorization server said no', async () => {
    const login = await begin()
    const denied = `${REDIRECT}?error=access_denied&error_description=not%20today&state=${paramsOf(login).get('state')}&iss=${server.origin}`
    await expect(login.complete(denied)).rejects.toMatchObject({
      code: 'oauth_denied',
      data: { error: 'access_denied' },
      message: expect.stringContaining('not today'),
    })
  })

  it('keeps the credential before it until the new one works', async () => {
    const first = await begin()
    const { credential } = await first.complete(await approve(first))
    const second = await begin()
    server.options = { token: () => ({ status: 500, body: '<html>', headers: { 'content-type': 'text/html' } }) }
    await expect(second.complete(await approve(second))).rejects.toMatchObject({ code: 'oauth_token_refused' })
    expect(store.find(owner())).toEqual(credential)
  })

  it('uses a registration again with the same redirect URI, and never with another issuer', async () => {
    for (const redirectUri of [REDIRECT, REDIRECT, 'http://127.0.0.1:5000/callback']) {
      const login = await begin({ redirectUri })
      await login.complete(await approve(login))
    }
    expect(server.counts.registrations).toBe(2)
    await using moved = await AuthorizationServer.listen()
    server.options = { resource: { authorization_servers: [moved.origin] } }
    await begin()
    expect(moved.counts.registrations).toBe(1)
  })

  it('registers anew where a login has ended: the server may have forgotten the client', async () => {
    const first = await begin()
    const { credential } = await first.complete(await approve(first))
    await store.save({ ...credential, needsLogin: true })
    expect(paramsOf(await begin()).get('client_id')).not.toBe(credential.client.id)
  })

  it('names a metadata document where the server takes such, and what is configured before that', async () => {
    server.options = { metadata: { client_id_metadata_document_supported: true } }
    const documentUrl = 'https://reeve.example/client.json'
    expect(paramsOf(await begin({ client: { documentUrl } })).get('client_id')).toBe(documentUrl)
    expect(paramsOf(await begin({ client: { documentUrl, id: 'mine' } })).get('client_id')).toBe('mine')
    expect(server.counts.registrations).toBe(0)
  })
})

describe('a damaged file of logins', () => {
  it('does not stand in the way of a login, which sets it aside and names where', async () => {
    await writeFile(store.place, '{"version":1,"credentials":[{')
    const login = await begin()
    const { backup = '' } = await login.complete(await approve(login))
    expect(await readFile(backup, 'utf8')).toBe('{"version":1,"credentials":[{')
    expect(store.all()).toHaveLength(1)
  })
})

describe('the scopes of a login', () => {
  it('are those of the user, else of the challenge, else of the resource', async () => {
    server.options = { scopes: ['read', 'write'] }
    expect(paramsOf(await begin()).get('scope')).toBe('read write')
    expect(paramsOf(await begin({ challenge: 'Bearer scope="read"' })).get('scope')).toBe('read')
    expect(paramsOf(await begin({ scopes: ['mine'], challenge: 'Bearer scope="read"' })).get('scope')).toBe('mine')
    expect(paramsOf(await begin({ scopes: [] })).has('scope')).toBe(false)
  })

  it('include offline access where it is offered', async () => {
    server.options = { scopes: ['read'], metadata: { scopes_supported: ['read', 'offline_access'] } }
    expect(paramsOf(await begin()).get('scope')).toBe('read offline_access')
  })

  it('are the union of what was granted and what is asked for, until that was granted', async () => {
    const challenge = (scope: string) => `Bearer error="insufficient_scope", scope="${scope}"`
    const first = await begin({ scopes: ['read'] })
    await first.complete(await approve(first))
    const wider = await begin({ challenge: challenge('write') })
    expect(wider.scopes).toEqual(['read', 'write'])
    await wider.complete(await approve(wider))
    await expect(begin({ challenge: challenge('write read') })).rejects.toMatchObject({ code: 'oauth_scope_refused' })
  })
})

describe('a server that wants more than a token has', () => {
  it('is asked for it by the next login, whichever process found out', async () => {
    const first = await begin({ scopes: ['read'] })
    const { credential } = await first.complete(await approve(first))
    const auth = new OAuthServerAuth(new CredentialKeeper({ store, home }), owner(), http)
    const operation = { method: 'POST', url: server.resourceUrl, origin: server.origin }
    const headers = await auth.headers(operation)
    const challenge = 'Bearer error="insufficient_scope", scope="write"'
    await auth.onForbidden(operation, { headers, challenge })
    await auth.onForbidden(operation, { headers: [['Authorization', 'Bearer older']], challenge: `${challenge} more` })
    expect(store.find(owner())).toEqual({ ...credential, wantedScopes: ['write'] })
    expect((await begin()).scopes).toEqual(['read', 'write'])
    expect((await begin({ scopes: ['other'] })).scopes).toEqual(['other'])
  })
})

describe('a server that asks for ever more', () => {
  it('is refused beyond a bound, and little of it is kept', async () => {
    const first = await begin({ scopes: ['read'] })
    await first.complete(await approve(first))
    const auth = new OAuthServerAuth(new CredentialKeeper({ store, home }), owner(), http)
    const operation = { method: 'POST', url: server.resourceUrl, origin: server.origin }
    const scope = Array.from({ length: 10_000 }, (_, n) => `scope:${n}`).join(' ')
    const challenge = `Bearer error="insufficient_scope", scope="${scope}"`
    await auth.onForbidden(operation, { headers: await auth.headers(operation), challenge })
    expect(store.find(owner())?.wantedScopes?.length).toBeLessThan(300)
    await expect(begin()).rejects.toMatchObject({ code: 'oauth_scope_refused' })
    expect((await begin({ scopes: ['read'] })).scopes).toEqual(['read'])
  })

  it('is asked once for each step, which ends when nothing new is wanted', async () => {
    const granted: string[] = []
    for (const step of ['a', 'b', 'c']) {
      const login = await begin({ challenge: `Bearer error="insufficient_scope", scope="${step}"` })
      granted.push(step)
      expect(login.scopes).toEqual(granted)
      await login.complete(await approve(login))
    }
    await expect(begin({ challenge: 'Bearer error="insufficient_scope", scope="a c"' })).rejects.toMatchObject({
      code: 'oauth_scope_refused',
    })
  })
})

describe('metadata that is not what it should be', () => {
  it.each([
    ['names another resource', { resource: { resource: 'https://other.example/mcp' } }, 'oauth_resource_mismatch'],
    ['names a path beside the server', { resource: { resource: 'ORIGIN/mc' } }, 'oauth_resource_mismatch'],
    ['names another issuer', { metadata: { issuer: 'https://other.example' } }, 'oauth_issuer_mismatch'],
    ['has no S256', { metadata: { code_challenge_methods_supported: ['plain'] } }, 'oauth_invalid_metadata'],
    [
      'sends secrets in the clear',
      { metadata: { token_endpoint: 'http://as.example/token' } },
      'oauth_insecure_endpoint',
    ],
    [
      'has the browser run something',
      { metadata: { authorization_endpoint: 'javascript:alert(1)' } },
      'oauth_insecure_endpoint',
    ],
    [
      'has its issuer over plain http',
      { resource: { authorization_servers: ['http://as.example'] } },
      'oauth_insecure_endpoint',
    ],
    ['takes no client', { metadata: { registration_endpoint: undefined } }, 'oauth_client_unknown'],
  ])('is refused when it %s', async (_what, options, code) => {
    server.options = JSON.parse(
      JSON.stringify(options, (_, value) => value ?? null).replaceAll('ORIGIN', server.origin),
    )
    await expect(begin()).rejects.toMatchObject({ code })
  })

  it('is none where a server asks for no login, and nothing is tried there', async () => {
    const open = owner(`${server.origin}/.well-known/oauth-authorization-server`)
    server.options = { metadata: { issuer: undefined, authorization_endpoint: 1 } }
    await expect(begin({ owner: open })).rejects.toMatchObject({ code: 'oauth_unsupported' })
    expect(server.counts.registrations).toBe(0)
  })

  it.each([['/.well-known/oauth-authorization-server'], ['/register']])(
    'is a typed error where %s answers HTML, whatever its status',
    async (path) => {
      for (const status of [200, 403, 500]) {
        server.options = {
          answer: (asked) => (asked === path ? { status, body: '<!doctype html><title>Login</title>' } : undefined),
        }
        await expect(begin()).rejects.toMatchObject({ code: expect.stringMatching(/^oauth_/) })
      }
      expect(store.all()).toEqual([])
    },
  )

  it('is none of the resource where a page is there instead: the server is then asked for its own', async () => {
    server.options = {
      answer: (asked) => (asked.includes('protected-resource') ? { status: 200, body: '<html>' } : undefined),
    }
    const login = await begin()
    expect(login.issuer).toBe(server.origin)
    expect(paramsOf(login).has('resource')).toBe(false)
  })

  it('of an issuer that changed takes nothing of what was got at the other one', async () => {
    const first = await begin()
    const { credential } = await first.complete(await approve(first))
    await using moved = await AuthorizationServer.listen()
    server.options = { resource: { authorization_servers: [moved.origin] } }
    const second = await begin()
    expect(paramsOf(second).get('scope')).toBeNull()
    await second.complete(await approve(second))
    const sent = moved.requests.map(({ body, authorization, path }) => `${path} ${body} ${authorization}`).join('\n')
    for (const secret of [credential.accessToken, credential.refreshToken ?? 'none']) expect(sent).not.toContain(secret)
    expect(store.find(owner())?.issuer).toBe(moved.origin)
  })

  it('may list ten thousand scopes', async () => {
    const scopes = Array.from({ length: 10_000 }, (_, n) => `scope:${n}`)
    server.options = { scopes: ['read'], metadata: { scopes_supported: scopes } }
    expect((await begin()).scopes).toEqual(['read'])
  })

  it('is not read beyond a megabyte', async () => {
    server.options = { metadata: { padding: 'x'.repeat(2 * 1024 * 1024) } }
    await expect(begin()).rejects.toMatchObject({ code: 'oauth_invalid_metadata' })
  })
})

describe('a token endpoint that does not do as it should', () => {
  it.each([
    ['HTML', { status: 200, body: '<html>hello</html>' }, 'oauth_invalid_answer'],
    ['no token', { status: 200, body: '{"token_type":"Bearer"}' }, 'oauth_invalid_answer'],
    ['a token that is no header', { status: 200, body: '{"access_token":"a\\nb"}' }, 'oauth_invalid_answer'],
    [
      'a token of another type',
      { status: 200, body: '{"access_token":"a","token_type":"mac"}' },
      'oauth_invalid_answer',
    ],
    ['an error with status 200', { status: 200, body: '{"error":"bad_verification_code"}' }, 'oauth_token_refused'],
    ['an error that is no JSON', { status: 400, body: 'no' }, 'oauth_token_refused'],
    ['a redirect', { status: 307, body: '', headers: { location: 'https://evil.example/token' } }, 'redirect_refused'],
    ['too much', { status: 200, body: 'x'.repeat(2 * 1024 * 1024) }, 'oauth_invalid_answer'],
  ])('and answers %s is a typed error, and stores nothing', async (_what, answer, code) => {
    const login = await begin()
    server.options = { token: () => answer }
    await expect(login.complete(await approve(login))).rejects.toMatchObject({ code })
    expect(store.all()).toEqual([])
  })

  it('may leave out how long a token lasts, or write it as a text', async () => {
    server.options = { lifetime: null }
    const first = await begin()
    expect((await first.complete(await approve(first))).credential.expiresAt).toBeUndefined()
    server.options = { token: () => ({ status: 200, body: '{"access_token":"a","expires_in":"60"}' }) }
    const second = await begin()
    const { credential } = await second.complete(await approve(second))
    expect(credential.expiresAt).toBeGreaterThan(Date.now())
  })

  it('never has what was sent to it repeated in an error', async () => {
    const login = await begin()
    let code = ''
    server.options = {
      token: (form) => {
        code = form.get('code') ?? ''
        return { status: 400, body: JSON.stringify({ error: 'invalid_grant', error_description: `bad ${code}` }) }
      },
    }
    const error = await login.complete(await approve(login)).catch((fault: Error) => fault)
    expect(code).not.toBe('')
    expect(JSON.stringify(error)).not.toContain(code)
  })
})
