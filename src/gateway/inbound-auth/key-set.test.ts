import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TokenIssuer } from '../../../test/standins/token-issuer.js'
import { createHttpClient, type HttpClient } from '../../environments/index.js'
import { KeySet, type KeySetOptions, UnknownKeyError } from './key-set.js'

let issuer: TokenIssuer
let http: HttpClient
let now: number
let warnings: Error[]
beforeEach(async () => {
  issuer = await TokenIssuer.listen()
  http = createHttpClient({ env: {} })
  now = 0
  warnings = []
})
afterEach(async () => {
  await http.close()
  await issuer[Symbol.asyncDispose]()
})

function keySet(options: Partial<KeySetOptions> = {}): KeySet {
  const onWarning = (warning: Error) => warnings.push(warning)
  return new KeySet({ issuer: issuer.origin, http, now: () => now, onWarning, ...options })
}

const find = (keys: KeySet, kid: string) => keys.find({ alg: 'ES256', kid })
const MINUTE = 60_000

describe('the keys of an issuer', () => {
  it('are had once for many', async () => {
    const keys = keySet()
    await Promise.all(Array.from({ length: 20 }, () => find(keys, 'key-1')))
    expect(issuer.asked('/jwks')).toBe(1)
    expect(issuer.asked('/.well-known/oauth-authorization-server')).toBe(1)
  })

  it('are looked at again for a new one, no more often than once in a while', async () => {
    const keys = keySet()
    await find(keys, 'key-1')
    await issuer.rotate('key-2')
    for (let tries = 0; tries < 10; tries += 1) await expect(find(keys, 'key-2')).rejects.toThrow(UnknownKeyError)
    expect(issuer.asked('/jwks')).toBe(1)
    now += MINUTE
    await Promise.all([find(keys, 'key-2'), find(keys, 'key-2')])
    expect(issuer.asked('/jwks')).toBe(2)
    await expect(find(keys, 'key-1')).rejects.toThrow(UnknownKeyError)
    await expect(find(keys, 'key-3')).rejects.toThrow(UnknownKeyError)
    expect(issuer.asked('/jwks')).toBe(2)
  })

  it('count through an outage for a while, and then no longer', async () => {
    const keys = keySet()
    await find(keys, 'key-1')
    issuer.answers.set('/jwks', (response) => void response.writeHead(500).end('down'))
    now += 11 * MINUTE
    await find(keys, 'key-1')
    await expect.poll(() => warnings.length).toBe(1)
    now += 48 * MINUTE
    await find(keys, 'key-1')
    now += 2 * MINUTE
    await expect(find(keys, 'key-1')).rejects.toMatchObject({ code: 'oauth_invalid_answer' })
    issuer.answers.clear()
    now += MINUTE
    await find(keys, 'key-1')
  })

  it('may be named by the configuration', async () => {
    await find(keySet({ url: `${issuer.origin}/jwks` }), 'key-1')
    expect(issuer.asked('/.well-known/oauth-authorization-server')).toBe(0)
    await expect(find(keySet({ url: 'http://keys.example/jwks' }), 'key-1')).rejects.toMatchObject({
      code: 'oauth_insecure_endpoint',
    })
  })

  const answers: readonly [string, (response: ServerResponse) => void, string][] = [
    [
      'HTML',
      (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
      'oauth_invalid_answer',
    ],
    ['nothing', (response) => void response.writeHead(200).end(), 'oauth_invalid_answer'],
    ['a list', (response) => void response.writeHead(200).end('[]'), 'oauth_invalid_answer'],
    ['no keys', (response) => void response.writeHead(200).end('{"keys":[]}'), 'oauth_invalid_metadata'],
    [
      'strange keys',
      (response) => void response.writeHead(200).end('{"keys":[null,5,{"kty":"oct","k":"AA"}]}'),
      'oauth_invalid_metadata',
    ],
    [
      'a redirect elsewhere',
      (response) => void response.writeHead(302, { location: 'https://evil.example/jwks' }).end(),
      'redirect_refused',
    ],
    [
      'a redirect to itself',
      (response) => void response.writeHead(302, { location: '/jwks' }).end(),
      'redirect_refused',
    ],
    [
      '10 MB',
      (response) => void response.writeHead(200).end(Buffer.alloc(10 * 1024 * 1024, 32)),
      'oauth_invalid_answer',
    ],
    ['a hang', () => undefined, 'oauth_unreachable'],
    ['a body that never ends', (response) => void response.writeHead(200).write('{'), 'oauth_unreachable'],
    ['a cut', (response) => void response.destroy(), 'oauth_unreachable'],
  ]
  it.concurrent.each(answers)('are none where the issuer answers with %s', async (_, answer, code) => {
    await using other = await TokenIssuer.listen()
    other.answers.set('/jwks', answer)
    const client = createHttpClient({ env: {} })
    const keys = new KeySet({ issuer: other.origin, http: client })
    try {
      await expect(find(keys, 'key-1')).rejects.toMatchObject({ code })
      // It is not asked again at once.
      await expect(find(keys, 'key-1')).rejects.toMatchObject({ code })
      expect(other.asked('/jwks')).toBeLessThanOrEqual(4)
    } finally {
      await client.close()
    }
  })

  it('are none of an issuer that says it is another one', async () => {
    const document = { issuer: 'https://evil.example', jwks_uri: `${issuer.origin}/jwks` }
    const place = '/.well-known/oauth-authorization-server'
    issuer.answers.set(place, (response) => void response.end(JSON.stringify(document)))
    await expect(find(keySet(), 'key-1')).rejects.toMatchObject({ code: 'oauth_issuer_mismatch' })
    expect(issuer.asked('/jwks')).toBe(0)
  })

  it('leave out one that can not be used', async () => {
    const { exportJWK } = await import('jose')
    const good = { ...(await exportJWK(issuer.key.publicKey)), kid: 'key-1' }
    const keys = { keys: [{ kty: 'oct', kid: 'key-1', k: 'c2VjcmV0' }, { kty: 'XX' }, good] }
    issuer.answers.set('/jwks', (response) => void response.end(JSON.stringify(keys)))
    await find(keySet(), 'key-1')
  })
})
