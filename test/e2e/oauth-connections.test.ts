import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FileCredentialStore } from '../../src/auth/index.js'
import { Reeve, type Step, type Thread } from '../../src/reeve.js'
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

describe('a step that was taken as one account', () => {
  const whoami = (step: Step) => step.call({ ...toolOf(step), arguments: {} })
  const toolOf = ({ tools }: Step) => {
    const [tool] = tools
    if (tool === undefined) throw new Error('no tool')
    return tool
  }
  const authorizations = () =>
    server.requests.filter(({ path, authorization }) => path === '/mcp' && authorization).map((r) => r.authorization)

  it('goes on over refreshes and another login of the same account', async () => {
    server.options = { subject: 'alice' }
    await logIn()
    const step = await thread.step({ wait: 'all' })
    expect(await whoami(step)).toMatchObject({ content: [{ text: 'alice' }] })
    server.expire(token())
    expect(await whoami(step)).toMatchObject({ content: [{ text: 'alice' }] })
    await logIn()
    expect(await whoami(step)).toMatchObject({ content: [{ text: 'alice' }] })
    expect(authorizations().at(-1)).toBe(`Bearer ${token()}`)
  })

  it.each([
    ['that the server names', { subject: 'alice' }, { subject: 'bob' }, 'bob'],
    ['that nobody knows', {}, {}, 'you'],
  ])(
    'sends nothing after a login to another account %s, and a new step speaks for that one',
    async (_what, one, other, name) => {
      server.options = one
      await logIn()
      const step = await thread.step({ wait: 'all' })
      await whoami(step)
      server.options = other
      await logIn()
      const sent = server.requests.length
      await expect(whoami(step)).rejects.toMatchObject({ code: 'account_changed' })
      expect(server.requests.slice(sent).filter(({ body }) => body.includes('tools/call'))).toEqual([])
      const before = authorizations()
      expect(await whoami(await thread.step({ wait: 'all' }))).toMatchObject({ content: [{ text: name }] })
      expect(before).not.toContain(`Bearer ${token()}`)
      // The connection of the other account is there by now, and that of the first one was ended.
      await expect(whoami(step)).rejects.toMatchObject({ code: expect.stringMatching(/^(account_changed|closed)$/) })
    },
  )
})
