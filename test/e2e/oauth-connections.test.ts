import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FileCredentialStore } from '../../src/auth/index.js'
import { Reeve, type Thread } from '../../src/reeve.js'
import { AuthorizationServer } from '../standins/authorization-server.js'

let home: string
let server: AuthorizationServer
let reeve: Reeve
let thread: Thread

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'reeve-oauth-'))
  server = await AuthorizationServer.listen()
  const config = join(home, 'config.toml')
  await writeFile(config, `[mcp_servers.guarded]\nurl = "${server.resourceUrl}"\nprotocol = "legacy"\n`)
  reeve = await Reeve.open({ home, cwd: home, env: {}, configFiles: [config] })
  thread = await reeve.startThread({})
})
afterEach(async () => {
  await reeve.close()
  await server[Symbol.asyncDispose]()
  await rm(home, { recursive: true, force: true })
})

/** As another process does it: nothing of the runtime is told. */
async function logIn(): Promise<void> {
  const [guarded] = reeve.servers
  if (guarded === undefined) throw new Error('no server')
  const login = await reeve.login(guarded, { redirectUri: 'http://127.0.0.1:4999/callback' })
  const response = await fetch(login.authorizationUrl, { redirect: 'manual' })
  await login.complete(response.headers.get('location') ?? '')
}

const call = () => thread.callTool({ server: 'guarded', tool: 'whoami' })
const status = () => thread.servers()[0]?.status
const token = () => new FileCredentialStore(home).all()[0]?.accessToken ?? ''

describe('a server that wants a login', () => {
  it('says how to log in, and works at the next call after that', async () => {
    await expect(call()).rejects.toMatchObject({ message: expect.stringContaining('Run `reeve login guarded`') })
    expect(status()).toBe('authentication_required')
    await logIn()
    expect(await call()).toMatchObject({ content: [{ text: 'you' }] })
    expect(status()).toBe('connected')
  })

  it('comes up by itself soon after a login, for those who only look', async () => {
    await thread.step({ wait: 'all' })
    expect(status()).toBe('authentication_required')
    await logIn()
    await vi.waitFor(() => expect(status()).toBe('connected'), 10_000)
  })

  it('is sent a valid token at every operation, whatever happens to the one before', async () => {
    await logIn()
    for (let round = 0; round < 3; round += 1) {
      await call()
      server.expire(token())
    }
    expect(await call()).toMatchObject({ content: [{ text: 'you' }] })
    expect(server.counts).toMatchObject({ refreshes: 3, reuses: 0, refused: 0 })
    expect(server.requests.filter(({ body }) => body.includes('"initialize"') && body.includes('reeve'))).not.toEqual(
      [],
    )
  })

  it('is left after a logout of another process', async () => {
    await logIn()
    await call()
    await new FileCredentialStore(home).remove(() => true)
    await expect(call()).rejects.toMatchObject({ message: expect.stringContaining('is not logged in') })
    expect(status()).toBe('authentication_required')
  })

  it('keeps its connection over a refresh', async () => {
    await logIn()
    await call()
    const starts = () =>
      server.requests.filter(({ body, authorization }) => body.includes('"initialize"') && authorization)
    const before = starts().length
    server.expire(token())
    await call()
    expect(starts()).toHaveLength(before)
  })
})
