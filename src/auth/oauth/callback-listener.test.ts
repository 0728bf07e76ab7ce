import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { HttpServer } from '../../config/index.js'
import { CallbackListener, callbackPlace } from './callback-listener.js'

const PATH = '/callback/abc'
let listener: CallbackListener
beforeEach(async () => {
  listener = await CallbackListener.listen({ host: '127.0.0.1', port: 0 })
})
afterEach(() => listener[Symbol.asyncDispose]())

const get = (target: string) => fetch(`http://127.0.0.1:${listener.port}${target}`)

describe('the listener for callbacks', () => {
  it('hands over what comes to its path, whole, and shows what became of it', async () => {
    const taken: string[] = []
    const take = async (url: string) => taken.push(url) === 1
    listener.ontake = { path: PATH, take }
    const first = await get(`${PATH}?code=c%20d&state=s`)
    expect(first.status).toBe(200)
    expect(await first.text()).toContain('You are logged in')
    expect(first.headers.get('referrer-policy')).toBe('no-referrer')
    expect((await get(`${PATH}?error=access_denied`)).status).toBe(400)
    expect(taken).toEqual([
      `http://127.0.0.1:${listener.port}${PATH}?code=c%20d&state=s`,
      `http://127.0.0.1:${listener.port}${PATH}?error=access_denied`,
    ])
  })

  it('answers nothing else, and says nothing of what was asked', async () => {
    listener.ontake = { path: PATH, take: () => Promise.reject(new Error('never asked')) }
    for (const target of ['/', '/callback', `${PATH}/more?code=x`, '/favicon.ico']) {
      const answer = await get(target)
      expect([target, answer.status]).toEqual([target, 404])
      expect(await answer.text()).not.toContain(target.slice(1) || 'x')
    }
    expect((await get(PATH)).status).toBe(400)
  })

  it('outlives requests that are none', async () => {
    for (const request of [
      'GET // HTTP/1.1\r\nHost: x\r\n\r\n',
      'GET http://[ HTTP/1.1\r\nHost: x\r\n\r\n',
      '\0\r\n\r\n',
    ]) {
      const socket = connect(listener.port, '127.0.0.1')
      socket.end(request)
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 4/)
    }
    expect((await get('/')).status).toBe(404)
  })

  it('says where it cannot listen', async () => {
    await expect(CallbackListener.listen({ host: '127.0.0.1', port: listener.port })).rejects.toMatchObject({
      code: 'oauth_callback_unavailable',
      place: `127.0.0.1:${listener.port}`,
    })
  })
})

describe('the place of a callback', () => {
  const server = (oauth: NonNullable<HttpServer['oauth']> = {}, url = 'https://a.example/mcp') => ({
    transport: {
      type: 'streamable_http' as const,
      url,
      httpHeaders: {},
      envHttpHeaders: {},
      auth: 'oauth' as const,
      oauth,
    },
  })

  it('ends with a text of twelve characters that belongs to the URL of the server', () => {
    const uri = callbackPlace(server(), {}).uri(4000)
    expect(uri).toMatch(/^http:\/\/127\.0\.0\.1:4000\/callback\/[A-Za-z0-9_-]{12}$/)
    expect(callbackPlace(server({}, 'https://a.example/mcp#part'), {}).uri(4000)).toBe(uri)
    expect(callbackPlace(server({}, 'https://b.example/mcp'), {}).uri(4000)).not.toBe(uri)
  })

  it('is what the server says, else what all say, else any free port of this machine', () => {
    expect(callbackPlace(server(), {})).toMatchObject({ host: '127.0.0.1', port: 0 })
    expect(callbackPlace(server(), { callbackPort: 5000 })).toMatchObject({ port: 5000 })
    expect(callbackPlace(server({ callbackPort: 6000 }), { callbackPort: 5000 })).toMatchObject({ port: 6000 })
    const loopback = callbackPlace(server({ callbackUrl: 'http://localhost:7000/back/' }), {})
    expect(loopback).toMatchObject({ host: '127.0.0.1', port: 7000 })
    expect(loopback.uri(7000)).toMatch(/^http:\/\/localhost:7000\/back\/[\w-]{12}$/)
    expect(callbackPlace(server(), { callbackUrl: 'https://box.example/back' })).toMatchObject({ host: '0.0.0.0' })
  })
})
