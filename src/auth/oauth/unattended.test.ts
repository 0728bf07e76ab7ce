import { createPublicKey, generateKeyPairSync, type KeyObject, verify } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { eachLoginWorld, type LoginWorld } from '../../../test/standins/login-world.js'
import { CredentialKeeper } from './keeper.js'
import { clientAssertion } from './signed-assertion.js'
import { loginUnattended, type UnattendedOptions } from './unattended.js'

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString()

let home: LoginWorld['home']
let http: LoginWorld['http']
let store: LoginWorld['store']
let server: LoginWorld['server']
let owner: LoginWorld['owner']
eachLoginWorld((world) => {
  ;({ home, http, store, server, owner } = world)
})

const logIn = (over: Pick<UnattendedOptions, 'client' | 'grant'> & Partial<UnattendedOptions>) =>
  loginUnattended({ owner: owner(), http, store, ...over })

/** What came to the token endpoint; it answers with tokens that end at once. */
function tokenRequests(): URLSearchParams[] {
  const forms: URLSearchParams[] = []
  server.options = {
    token: (form) => {
      forms.push(form)
      return { status: 200, body: JSON.stringify({ access_token: `token-${forms.length}`, expires_in: 1 }) }
    },
  }
  return forms
}

describe('a program that logs in as itself', () => {
  it('signs an assertion for the issuer, a new one for each request, and renews itself', async () => {
    const forms = tokenRequests()
    await logIn({ client: { id: 'program', privateKey: pem(ec.privateKey) }, grant: { type: 'client_credentials' } })
    const renewed = await new CredentialKeeper({ store, home }).current({ owner: owner(), http })
    expect(renewed?.accessToken).toBe('token-2')
    const assertions = forms.map((form) => form.get('client_assertion') ?? '')
    expect(new Set(assertions).size).toBe(2)
    for (const assertion of assertions) {
      const [head = '', claims = '', signature = ''] = assertion.split('.')
      const key = { key: ec.publicKey, dsaEncoding: 'ieee-p1363' as const }
      expect(verify('sha256', Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url'))).toBe(true)
      expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
        iss: 'program',
        sub: 'program',
        aud: server.origin,
      })
    }
    expect(forms.map((form) => form.get('grant_type'))).toEqual(['client_credentials', 'client_credentials'])
    expect(forms[0]?.get('resource')).toBe(server.resourceUrl)
  })

  it.each([
    ['RSA', generateKeyPairSync('rsa', { modulusLength: 2048 }), 'RS256'],
    ['Ed25519', generateKeyPairSync('ed25519'), 'EdDSA'],
  ])('may have a key of %s', (_kind, { privateKey }, alg) => {
    const [head = '', claims = '', signature = ''] = clientAssertion(pem(privateKey), 'a', 'https://as').split('.')
    expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toEqual({ alg, typ: 'JWT' })
    const digest = alg === 'EdDSA' ? null : 'sha256'
    const signed = Buffer.from(`${head}.${claims}`)
    expect(verify(digest, signed, createPublicKey(privateKey), Buffer.from(signature, 'base64url'))).toBe(true)
  })

  it('is told when its key is none, and the key is in no error', () => {
    expect(() => clientAssertion('-----BEGIN SECRET-----', 'a', 'b')).toThrow(
      expect.objectContaining({ code: 'invalid_private_key', message: expect.not.stringContaining('SECRET') }),
    )
  })
})

describe('a program that logs in by the word of another', () => {
  it('asks its platform for an assertion that is for the issuer', async () => {
    const forms = tokenRequests()
    const grant = { type: 'workload_identity' as const, assertion: (issuer: string) => `for ${issuer}` }
    const { credential } = await logIn({ client: { id: 'workload' }, grant })
    expect(forms[0]?.get('assertion')).toBe(`for ${server.origin}`)
    expect(credential.grant).toBe('jwt_bearer')
  })

  it('says so when it is refused, tries nothing else, and keeps what was there', async () => {
    const grant = { type: 'workload_identity' as const, assertion: () => 'expired' }
    await expect(logIn({ client: { id: 'workload' }, grant })).rejects.toMatchObject({
      code: 'oauth_token_refused',
      data: { error: 'invalid_grant' },
    })
    expect(server.requests.filter(({ path }) => path === '/token')).toHaveLength(1)
    expect(store.all()).toEqual([])
  })

  it('wants another word once its token has ended', async () => {
    tokenRequests()
    const grant = { type: 'workload_identity' as const, assertion: () => 'word' }
    await logIn({ client: { id: 'workload' }, grant })
    const later = new CredentialKeeper({ store, home, now: () => Date.now() + 60_000 })
    await expect(later.current({ owner: owner(), http })).rejects.toMatchObject({ code: 'auth_required' })
  })

  it('exchanges the ID token of a user for one that is for this server alone', async () => {
    const forms = tokenRequests()
    const provider = { tokenEndpoint: `${server.origin}/token`, clientId: 'at-provider' }
    await logIn({
      client: { id: 'enterprise', secret: 's' },
      grant: { type: 'enterprise', idToken: 'id-token', provider },
    })
    expect(Object.fromEntries(forms[0] ?? [])).toMatchObject({
      subject_token: 'id-token',
      audience: server.origin,
      resource: server.resourceUrl,
      client_id: 'at-provider',
    })
    expect(forms[1]?.get('assertion')).toBe('token-1')
  })
})
