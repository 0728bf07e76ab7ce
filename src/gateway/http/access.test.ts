import { describe, expect, it } from 'vitest'
import { RawSession, send } from '../../../test/e2e/gateway/raw-http.js'
import { gateway, initialize, noModern, TOKEN } from '../../../test/fixtures/gateway/http-sessions.js'
import { startHttpServer } from './server.js'

describe('who may talk to the gateway', () => {
  it('refuses to be open to others without a token', async () => {
    const options = { serve: () => undefined, answerModern: noModern, onWarning: () => undefined }
    await expect(
      startHttpServer({ ...options, host: '0.0.0.0', authentication: { kind: 'none' } }),
    ).rejects.toMatchObject({ code: 'open_gateway', place: 'address 0.0.0.0' })
    const server = await startHttpServer({
      ...options,
      host: '0.0.0.0',
      authentication: { kind: 'bearer', token: TOKEN },
    })
    await server.close()
  })

  it('names the address when the port is taken', async () => {
    const { url } = await gateway()
    const port = Number(new URL(url).port)
    await expect(
      startHttpServer({
        port,
        authentication: { kind: 'none' },
        serve: () => undefined,
        answerModern: noModern,
        onWarning: () => undefined,
      }),
    ).rejects.toMatchObject({ code: 'listen', place: `address 127.0.0.1:${port}` })
  })

  it.each([
    ['evil.example', 403],
    ['127.0.0.1.evil.example', 403],
    ['localhost@evil.example', 403],
    ['localhost', 400],
    ['localhost:1', 400],
    ['[::1]:9', 400],
    ['gateway.internal', 400],
    ['GATEWAY.internal:8080', 400],
  ])('checks Host %s', async (host, status) => {
    const { url } = await gateway({}, { allowedHosts: ['gateway.internal'] })
    expect((await send(url, { headers: { host }, body: '{' })).status).toBe(status)
  })

  it.each([
    ['https://evil.example', 403],
    ['null', 403],
    ['http://localhost.evil.example', 403],
    ['file://', 403],
    ['http://localhost:6274', 400],
    ['http://127.0.0.1', 400],
    ['https://inspector.example', 400],
  ])('checks Origin %s', async (origin, status) => {
    const { url } = await gateway({}, { allowedOrigins: ['https://inspector.example'] })
    const answer = await send(url, { headers: { origin }, body: '{' })
    expect(answer.status).toBe(status)
    expect(answer.headers['access-control-allow-origin']).toBe(status === 403 ? undefined : origin)
  })

  it('answers a preflight of an allowed origin without a token', async () => {
    const { url } = await gateway({}, { authentication: { kind: 'bearer', token: TOKEN } })
    const answer = await send(url, { method: 'OPTIONS', headers: { origin: 'http://localhost:6274' } })
    expect(answer.status).toBe(204)
    expect(answer.headers['access-control-allow-headers']).toContain('Mcp-Session-Id')
  })

  it('wants the bearer token and never repeats what was sent', async () => {
    const { url } = await gateway({}, { authentication: { kind: 'bearer', token: TOKEN } })
    const without = await send(url, { body: initialize() })
    expect(without.status).toBe(401)
    expect(without.headers['www-authenticate']).toBe('Bearer realm="reeve"')
    for (const authorization of [`Bearer ${TOKEN}x`, 'Bearer guess', `Basic ${TOKEN}`, 'Bearer']) {
      const wrong = await send(url, { headers: { authorization }, body: initialize() })
      expect(wrong.status).toBe(401)
      expect(wrong.headers['www-authenticate']).toContain('invalid_token')
      expect(wrong.text).not.toContain('guess')
      expect(wrong.text).not.toContain(TOKEN)
    }
    const right = await send(url, { headers: { authorization: `bearer ${TOKEN}` }, body: initialize() })
    expect(right.status).toBe(200)
  })

  it('binds a session to the principal that opened it', async () => {
    const authenticate = (authorization: string | undefined) =>
      authorization === undefined ? undefined : { id: authorization }
    const { url } = await gateway({}, { authentication: { kind: 'custom', authenticate } })
    const session = await RawSession.open(url, { token: 'ann' })
    expect((await session.request('echo', {})).status).toBe(200)
    const theft = new RawSession(url, { ...session.headers, authorization: 'Bearer bob' })
    expect((await theft.request('echo', {})).status).toBe(404)
    expect((await theft.end()).status).toBe(404)
    expect((await session.request('echo', {})).status).toBe(200)
  })

  it('answers /health without a token, and nothing else beside the endpoint', async () => {
    const { url } = await gateway({}, { authentication: { kind: 'bearer', token: TOKEN } })
    const health = await send(url, { method: 'GET', path: '/health' })
    expect([health.status, health.json()]).toEqual([200, { status: 'ok' }])
    for (const path of ['/', '/mcp/', '/.well-known/oauth-protected-resource', '/sse']) {
      expect((await send(url, { method: 'GET', path })).status).toBe(404)
    }
  })
})
