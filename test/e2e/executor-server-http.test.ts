import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { serveExecutorWebSocket, type WebSocketExecutor } from '../../src/executor/index.js'
import { listen } from '../fixtures/http/listen.js'
import { connectExecutor, type ExecutorClient } from './executor-client.js'

let executor: WebSocketExecutor
let client: ExecutorClient

beforeEach(async () => {
  executor = await serveExecutorWebSocket({
    host: '127.0.0.1',
    port: 0,
    authentication: { kind: 'none' },
    env: { SECRET: 'of-the-executor' },
  })
  client = await connectExecutor(executor.url)
  await client.greet()
})
afterEach(async () => {
  await client.drop()
  await executor[Symbol.asyncDispose]()
})

const ask = (url: string, changes: object = {}) =>
  client.ask('http/request', { method: 'GET', url, requestId: 'r', headers: [], ...changes })
const bodyOf = (requestId: string) =>
  client.received
    .filter(({ method, params }) => method === 'http/request/bodyDelta' && params?.requestId === requestId)
    .map(({ params }) => Buffer.from(String(params?.deltaBase64), 'base64').toString())
    .join('')
const done = (requestId: string) =>
  client.until(({ params }) => params?.requestId === requestId && params?.done === true)

describe('an HTTP request of an executor', () => {
  it('keeps the order and repeats of its headers, and takes secrets from the executor', async () => {
    let raw: readonly string[] = []
    await using server = await listen((request, response) => {
      raw = request.rawHeaders
      response.end('ok')
    })
    const headers = [
      { name: 'X-B', value: '1' },
      { name: 'X-A', value: '2' },
      { name: 'X-B', value: '3' },
      { name: 'Authorization', value: 'Bearer ', valueEnvVar: 'SECRET' },
    ]
    const { result } = await ask(server.origin, {
      method: 'POST',
      headers,
      bodyBase64: Buffer.from('hi').toString('base64'),
    })
    expect(result).toMatchObject({ status: 200, bodyBase64: Buffer.from('ok').toString('base64') })
    const sent = raw.join('|')
    expect(sent).toContain('x-b|1|x-a|2|x-b|3|authorization|Bearer of-the-executor|accept|*/*|accept-encoding|gzip')
  })

  it('streams its body as it comes, without holding up others', async () => {
    let answer: ServerResponse | undefined
    await using server = await listen((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
      answer = response
    })
    expect((await ask(server.origin, { streamResponse: true })).result).toMatchObject({ status: 200, bodyBase64: '' })
    await client.when(() => bodyOf('r') === 'data: 1\n\n')
    expect((await client.ask('environment/status')).result).toEqual({ status: 'ready' })
    answer?.end('data: 2\n\n')
    expect((await done('r')).params).toMatchObject({ deltaBase64: '', error: null })
    expect(bodyOf('r')).toBe('data: 1\n\ndata: 2\n\n')
  })

  it('carries a large body whole to a client that reads late', async () => {
    const size = 12 * 1024 * 1024
    await using server = await listen((_, response) => void response.end('x'.repeat(size)))
    client.socket.pause()
    client.send({
      id: 1,
      method: 'http/request',
      params: { method: 'GET', url: server.origin, requestId: 'big', streamResponse: true },
    })
    client.socket.resume()
    await done('big')
    expect(bodyOf('big').length).toBe(size)
  })

  it('ends upstream with its connection', async () => {
    let end = () => {}
    const closed = new Promise<void>((resolve) => {
      end = resolve
    })
    await using server = await listen((_, response) => {
      response.on('close', () => end())
      response.writeHead(200).write('part')
    })
    await ask(server.origin, { streamResponse: true })
    await client.drop()
    await closed
  })

  it('keeps credentials from another origin when it is redirected', async () => {
    const seen: (string | undefined)[] = []
    await using other = await listen((request, response) => {
      seen.push(request.headers.authorization, request.method)
      response.end('there')
    })
    await using server = await listen((_, response) => void response.writeHead(302, { location: other.origin }).end())
    const headers = [{ name: 'Authorization', value: 'Bearer x' }]
    const { result } = await ask(server.origin, { method: 'POST', headers, bodyBase64: '' })
    expect(result).toMatchObject({ status: 200 })
    expect(seen).toEqual([undefined, 'GET'])
  })

  it('says what failed without the query of the URL', async () => {
    await using server = await listen((request) => void request.socket.destroy())
    for (const url of [`${server.origin}/x?secret=1`, 'http://127.0.0.1:1/x?secret=1']) {
      const { error } = await ask(url)
      expect(error?.code).toBe(-32603)
      expect(error?.message).not.toContain('secret')
    }
  })

  it.each([
    ['a variable that is not there', { headers: [{ name: 'a', value: '', valueEnvVar: '__proto__' }] }],
    ['a header of another type', { headers: [7] }],
    ['headers of another type', { headers: {} }],
    ['a broken body', { bodyBase64: '!' }],
    ['a negative time', { timeoutMs: -1 }],
    ['an unknown redirect policy', { redirectPolicy: 'maybe' }],
    ['no id', { requestId: null }],
  ])('is refused with %s', async (_, changes) => {
    expect((await ask('http://127.0.0.1:1/', changes)).error?.code).toBe(-32602)
  })
})
