import { createHash, createPublicKey, verify } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { HeaderField } from '../header-field.js'
import { FileCredentialStore } from '../store/file-store.js'
import { dpopSigner, newDpopKey } from './dpop.js'
import { CredentialKeeper } from './keeper.js'
import { OAuthServerAuth } from './server-auth.js'

const URL_OF_SERVER = 'https://notes.example/mcp'
const OWNER = { server: 'notes', environment: 'local', url: URL_OF_SERVER, principal: 'user' }

function read(proof: string) {
  const [head = '', claims = ''] = proof.split('.')
  const [header, payload] = [head, claims].map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()))
  return { header, payload }
}

describe('a proof of a key', () => {
  it('is signed for one method and URL, without its query, and for one token', () => {
    const proof = dpopSigner(newDpopKey())({
      method: 'POST',
      url: `${URL_OF_SERVER}?secret=1`,
      token: 't',
      nonce: 'n',
    })
    const { header, payload } = read(proof)
    const [head, claims, signature = ''] = proof.split('.')
    const key = { key: createPublicKey({ key: header.jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' as const }
    expect(verify('sha256', Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url'))).toBe(true)
    const ath = createHash('sha256').update('t').digest('base64url')
    expect(payload).toMatchObject({ htm: 'POST', htu: URL_OF_SERVER, ath, nonce: 'n' })
    expect(header.jwk).not.toHaveProperty('d')
  })

  it('is never the same twice', () => {
    const about = { method: 'GET', url: URL_OF_SERVER }
    const sign = dpopSigner(newDpopKey())
    expect(sign(about)).not.toBe(sign(about))
  })
})

describe('a connection with a bound token', () => {
  let home: string
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'reeve-dpop-'))
  })
  afterEach(() => rm(home, { recursive: true, force: true }))

  const operation = { method: 'POST', url: URL_OF_SERVER, origin: new URL(URL_OF_SERVER).origin }
  const proofOf = (headers: readonly HeaderField[]) => read(headers.find(([name]) => name === 'DPoP')?.[1] ?? '')

  it('repeats with what the server wants in the proof, for all that were under way, and refreshes nothing', async () => {
    const store = new FileCredentialStore(home)
    await store.save({
      ...OWNER,
      issuer: 'https://as.example',
      loginId: 'login',
      loggedInAt: 1,
      client: { id: 'client', method: 'none', kind: 'configured' },
      tokenEndpoint: 'https://as.example/token',
      grant: 'authorization_code',
      accessToken: 'bound',
      refreshToken: 'refresh',
      dpopKey: newDpopKey(),
      scopes: [],
    })
    const http = { request: () => Promise.reject(new Error('nothing is refreshed')) }
    const auth = new OAuthServerAuth(new CredentialKeeper({ store, home }), OWNER, http)
    const [first, second] = [await auth.headers(operation), await auth.headers(operation)]
    expect(first[0]).toEqual(['Authorization', 'DPoP bound'])
    expect(await auth.onUnauthorized(operation, { headers: first, dpopNonce: 'n' })).toBe(true)
    expect(await auth.onUnauthorized(operation, { headers: second, dpopNonce: 'n' })).toBe(true)
    const again = await auth.headers(operation)
    expect(proofOf(again).payload.nonce).toBe('n')
    // With the nonce it wanted, it is the token that it refuses.
    await expect(auth.onUnauthorized(operation, { headers: again, dpopNonce: 'n' })).rejects.toMatchObject({
      code: 'oauth_unreachable',
    })
  })
})
