import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ExecutorEnvironment, webSocketConnector } from '../../src/environments/index.js'
import { environmentId } from '../../src/identity/index.js'
import { listen } from '../fixtures/http/listen.js'
import { failure, get, text } from '../fixtures/http/plain.js'
import { closedPort } from '../fixtures/http/raw-server.js'
import { type ExecServer, execServer } from './exec-server.js'

let server: ExecServer
let environment: ExecutorEnvironment
beforeAll(async () => {
  server = await execServer({ env: { FAR_TOKEN: 'stays-there' } })
  environment = new ExecutorEnvironment({
    id: environmentId('far'),
    connector: webSocketConnector({ environment: 'far', url: server.url }),
  })
})
afterAll(async () => {
  await environment.close()
  await server[Symbol.asyncDispose]()
})

describe('an HTTP exchange through the real executor', () => {
  it('carries method, headers and body, and gives repeated headers back apart', async () => {
    await using web = await listen((request, response, body) => {
      response.writeHead(201, { 'Set-Cookie': ['a=1', 'b=2'] })
      response.end(JSON.stringify({ url: request.url, custom: request.headers['x-custom'], body }))
    })
    const response = await environment.http.request({
      method: 'POST',
      url: `${web.origin}/mcp?a=1`,
      headers: [['X-Custom', 'v']],
      body: '{"ä":1}',
    })
    expect([response.status, response.headerAll('set-cookie')]).toEqual([201, ['a=1', 'b=2']])
    expect(JSON.parse(await text(response))).toEqual({ url: '/mcp?a=1', custom: 'v', body: '{"ä":1}' })
  })

  it('follows no redirect', async () => {
    await using web = await listen((_request, response) => void response.writeHead(307, { location: '/b' }).end())
    const response = await environment.http.request(get(web.origin))
    expect([response.status, await text(response), web.seen.length]).toEqual([307, '', 1])
  })

  it('lets a secret of the executor into a header without seeing it', async () => {
    await using web = await listen((request, response) => void response.end(request.headers.authorization))
    const executorHeaders = [{ name: 'Authorization', prefix: 'Bearer ', variable: 'FAR_TOKEN' }]
    expect(await text(await environment.http.request({ ...get(web.origin), executorHeaders }))).toBe(
      'Bearer stays-there',
    )
    const unset = [{ name: 'Authorization', prefix: 'Bearer ', variable: 'FAR_UNSET' }]
    expect(await failure(environment.http.request({ ...get(web.origin), executorHeaders: unset }))).toMatchObject({
      code: 'invalid_arguments',
    })
  })

  it('stops upstream when the caller stops, and blocks nobody meanwhile', async () => {
    let upstream: Promise<void> | undefined
    await using web = await listen((request, response) => {
      if (request.url === '/other') return void response.end('ok')
      upstream = new Promise((resolve) => response.on('close', resolve))
      response.write('data: 1\n\n')
    })
    const abort = new AbortController()
    const response = await environment.http.request({ ...get(web.origin), signal: abort.signal })
    expect(await text(await environment.http.request(get(`${web.origin}/other`)))).toBe('ok')
    const read: string[] = []
    const error = await failure(
      (async () => {
        for await (const piece of response.body) {
          read.push(piece.toString())
          abort.abort()
        }
      })(),
    )
    expect([read, error]).toMatchObject([['data: 1\n\n'], { code: 'cancelled' }])
    await upstream
  })

  it('gives up an answer that does not begin', async () => {
    const abort = new AbortController()
    let upstream: Promise<void> | undefined
    await using web = await listen((_request, response) => {
      upstream = new Promise((resolve) => response.on('close', resolve))
      abort.abort()
    })
    const error = await failure(environment.http.request({ ...get(web.origin), signal: abort.signal }))
    expect(error).toMatchObject({ code: 'cancelled', data: { sent: true } })
    await upstream
  })

  it('holds a fast server back when the reader is slow, and loses nothing', async () => {
    const size = 64 * 1024 * 1024
    let written = 0
    await using web = await listen((_request, response) => {
      const more = () => {
        while (!response.destroyed && written < size) {
          written += 65_536
          if (!response.write(Buffer.alloc(65_536))) return
        }
        response.end()
      }
      response.on('drain', more)
      more()
    })
    const response = await environment.http.request(get(web.origin))
    let last = -1
    const still = () => {
      const same = written === last
      last = written
      return same
    }
    // It stands still once every buffer on the way is full.
    await expect.poll(still, { interval: 300, timeout: 20_000 }).toBe(true)
    expect(written).toBeLessThan(size)
    let read = 0
    for await (const piece of response.body) read += piece.length
    expect(read).toBe(size)
  })

  it('fails without the query when nobody listens, or the server breaks off', async () => {
    const port = await closedPort()
    const refused = await failure(environment.http.request(get(`http://127.0.0.1:${port}/mcp?key=secret`)))
    expect(refused).toMatchObject({ code: 'transport_closed', place: `http://127.0.0.1:${port}/mcp` })
    expect(JSON.stringify(refused)).not.toContain('secret')
    await using web = await listen((_request, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('half', () => response.destroy())
    })
    const broken = await failure(environment.http.request(get(`${web.origin}/?key=secret`)).then(text))
    expect(broken).toMatchObject({ code: 'transport_closed', data: { reason: 'reset' } })
    expect(JSON.stringify(broken)).not.toContain('secret')
  })
})

describe('files of the real executor', () => {
  it('are written, described, listed, read and removed', async () => {
    const { files } = environment
    const folder = join(server.home.folder, 'files ü')
    await files.createDirectory(folder)
    await files.writeFile(join(folder, 'a.txt'), 'ä')
    expect((await files.readFile(join(folder, 'a.txt'))).toString()).toBe('ä')
    expect(await files.metadata(join(folder, 'a.txt'))).toMatchObject({ isFile: true, size: 2 })
    expect(await files.readDirectory(folder)).toEqual([{ fileName: 'a.txt', isDirectory: false, isFile: true }])
    expect(await failure(files.remove(folder))).toMatchObject({ code: 'rpc_error' })
    await files.remove(join(folder, 'a.txt'))
    expect(await failure(files.readFile(join(folder, 'a.txt')))).toMatchObject({ code: 'rpc_error', rpcCode: -32004 })
    await files.remove(folder, { recursive: true })
    expect(await failure(files.metadata(folder))).toMatchObject({ rpcCode: -32004 })
  })

  it('of several blocks are whole, and too large ones are refused', async () => {
    const path = join(server.home.folder, 'large')
    const bytes = Buffer.alloc(3 * 1024 * 1024, 'abc')
    await writeFile(path, bytes)
    expect((await environment.files.readFile(path)).equals(bytes)).toBe(true)
    expect(await failure(environment.files.readFile(path, { limit: 2 * 1024 * 1024 }))).toMatchObject({
      code: 'limit_exceeded',
    })
  })

  it('are found behind links, and only by absolute paths', async () => {
    await mkdir(join(server.home.folder, 'real'))
    await symlink(join(server.home.folder, 'real'), join(server.home.folder, 'link'))
    expect(await environment.files.canonicalize(join(server.home.folder, 'link'))).toBe(
      join(server.home.folder, 'real'),
    )
    expect(await failure(environment.files.readFile('relative'))).toMatchObject({ code: 'invalid_arguments' })
  })
})

describe('the real executor', () => {
  it('says what it is and how it is', async () => {
    const info = await environment.info()
    expect(info).toMatchObject({ executorVersion: '0.171.0', platformOs: 'linux' })
    expect(info.capabilities?.httpHeaderEnvVars).toBe(true)
    expect(await environment.status()).toBe('ready')
    expect(environment.state.is).toBe('ready')
    expect(await environment.call('capabilityRoots/discoverV1', { roots: [] })).toBeDefined()
  })
})

describe('the real executor behind a token', () => {
  it('lets us in with it, and nobody without', async () => {
    await using guarded = await execServer({
      more: (home) => ['--ws-auth', 'capability-token', '--ws-token-file', join(home, 'token')],
      prepare: (home) => writeFile(join(home, 'token'), 'open-sesame\n'),
    })
    const over = (token?: string) =>
      new ExecutorEnvironment({
        id: environmentId('guarded'),
        connector: webSocketConnector({ environment: 'guarded', url: guarded.url, ...(token && { token }) }),
      })
    const friend = over('open-sesame')
    expect(await friend.status()).toBe('ready')
    await friend.close()
    for (const token of [undefined, 'wrong']) {
      const stranger = over(token)
      expect(await failure(stranger.info())).toMatchObject({ code: 'environment_unauthorized', data: { status: 401 } })
      await stranger.close()
    }
  })
})
