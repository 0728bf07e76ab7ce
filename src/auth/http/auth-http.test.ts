import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listen } from '../../../test/fixtures/http/listen.js'
import { startProxy } from '../../../test/fixtures/http/proxy.js'
import { startBackend } from '../../../test/standins/backend.js'
import { AuthWorld } from '../../../test/standins/backend-world.js'
import { createHttpClient, type HttpClientOptions } from '../../environments/index.js'
import { createAuthHttp } from './client-http.js'
import { trustedCertificates } from './trust.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-ca-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

function openHttp(options: Partial<HttpClientOptions> = {}) {
  const client = createHttpClient({ env: {}, ...options })
  return { ...createAuthHttp(client), [Symbol.asyncDispose]: () => client.close() }
}

const { signal } = new AbortController()

describe('REEVE_CA_CERTIFICATE', () => {
  it('lets a backend be reached that only its CA vouches for', async () => {
    await using backend = await startBackend()
    const file = join(folder, 'ca.pem')
    await writeFile(file, `a remark\n${backend.ca}`)
    const request = { method: 'GET', url: `${backend.origin}/x`, headers: [], signal } as const
    await using trusting = openHttp({ ca: trustedCertificates({ REEVE_CA_CERTIFICATE: file }) })
    expect((await trusting.send(request)).status).toBe(200)
    await using other = openHttp()
    await expect(other.send(request)).rejects.toThrow(/certificate/)
  })

  it('names a file that is of no use', async () => {
    const file = join(folder, 'broken.pem')
    await writeFile(file, 'nothing')
    expect(() => trustedCertificates({ REEVE_CA_CERTIFICATE: file })).toThrow('holds no PEM certificate')
    await writeFile(file, '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----')
    expect(() => trustedCertificates({ REEVE_CA_CERTIFICATE: file })).toThrow('cannot be parsed')
    expect(() => trustedCertificates({ REEVE_CA_CERTIFICATE: join(folder, 'absent') })).toThrow('cannot be read')
    expect(trustedCertificates({})).toEqual([])
  })
})

describe('requests of the auth room', () => {
  it('go through the proxy of the environment, and around it where it says so', async () => {
    await using backend = await startBackend()
    await using proxy = await startProxy()
    const get = { method: 'GET', url: `https://backend.test:${backend.port}/x`, headers: [], signal } as const
    await using through = openHttp({ env: { HTTPS_PROXY: proxy.origin }, ca: [backend.ca] })
    // Nobody vouches for that name: the tunnel was asked for all the same.
    await expect(through.send(get)).rejects.toThrow()
    expect(proxy.asked).toEqual([`CONNECT backend.test:${backend.port}`])
    const env = { HTTPS_PROXY: proxy.origin, NO_PROXY: 'chatgpt.com' }
    await using around = openHttp({ env, ca: [backend.ca], route: backend.route })
    expect((await around.send({ ...get, url: 'https://chatgpt.com/x' })).status).toBe(200)
    expect(proxy.asked).toHaveLength(1)
  })
})

describe('answers of the authority', () => {
  it('may be compressed, but not endless', async () => {
    const bomb = gzipSync(Buffer.alloc(2 ** 21))
    await using server = await listen((request, response) => {
      const body = request.url === '/bomb' ? bomb : gzipSync('{"a":1}')
      response
        .writeHead(200, { 'content-encoding': 'gzip' })
        .end(request.url === '/plain' ? Buffer.alloc(2 ** 21) : body)
    })
    await using http = openHttp()
    const get = (path: string) => http.send({ method: 'GET', url: `${server.origin}${path}`, headers: [], signal })
    expect((await get('/')).body).toBe('{"a":1}')
    await expect(get('/bomb')).rejects.toThrow()
    await expect(get('/plain')).rejects.toMatchObject({ code: 'limit_exceeded' })
  })

  it('are asked for again, with the same keys, when this Node cannot read them', async () => {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    world.model.registrationReplies = [{ status: 200, headers: { 'content-encoding': 'br' }, body: 'x' }]
    await using backend = await startBackend(world.model)
    await using http = openHttp({ ca: [backend.ca], route: backend.route })
    const real = await AuthWorld.open({ model: world.model, http, signedIn: { account: 'acct-1' } })
    const outcome = await real
      .context('dual_header')
      .connect('model')
      .authorize({ method: 'POST', url: 'https://api.openai.com/v1' })
    expect(outcome.kind).toBe('authorized')
    const [one, two] = world.model.registrations
    expect([two?.key, two?.idempotencyKey]).toEqual([one?.key, one?.idempotencyKey])
    const encodings = world.model.requests.map(({ headers }) => new Map(headers).get('accept-encoding'))
    expect(encodings).toEqual(['zstd,gzip', 'gzip'])
  })
})
