import { generateKeyPairSync, verify } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { MCP_URL, McpConnection } from '../../../test/standins/backend-mcp.js'
import { json } from '../../../test/standins/backend-model.js'
import { AuthWorld, inProcess } from '../../../test/standins/backend-world.js'
import type { HttpAuth } from '../../transports/index.js'
import { accessTokenSource } from '../sources/environment-source.js'
import { hostAssertionSource, hostHeadersSource } from '../sources/host-source.js'
import type { Authorization } from './connection-auth.js'
import { transportAuth } from './http-auth.js'
import { isReplaySafe } from './replay-safe.js'

const POST = { method: 'POST', url: MCP_URL, rpcMethod: 'tools/call' } as const

function sent(authorization: Authorization) {
  if (authorization.kind === 'refused') throw authorization.error
  return Object.fromEntries(authorization.headers)
}

describe('what a connection is given', () => {
  it('are headers of the host as they are, and nothing in a mode that needs an assertion', async () => {
    const headers = [['authorization', 'Custom x'] as const, ['bad', 'a\nb'] as const]
    const host = hostHeadersSource({ headers, userId: 'user-1', usesBackend: true })
    const world = await AuthWorld.open({ host })
    expect(sent(await world.context('off').connect('mcp').authorize(POST))).toEqual({ authorization: 'Custom x' })
    const asserted = await world.context('dual_header').connect('mcp').authorize(POST)
    expect(asserted).toMatchObject({ error: { message: 'this credential cannot register a runtime' } })
    const other = await AuthWorld.open({ host: hostHeadersSource({ headers, userId: 'user-1' }) })
    expect(sent(await other.context('off').connect('mcp').authorize(POST))).toEqual({})
  })

  it('is an assertion of the host, asked anew for each request', async () => {
    let made = 0
    const host = hostAssertionSource({ userId: 'user-1', accessToken: 'token', assert: async () => `host-${++made}` })
    const world = await AuthWorld.open({ host })
    const dual = world.context('dual_header').connect('mcp')
    expect(sent(await dual.authorize(POST))).toEqual({
      authorization: 'Bearer token',
      'x-openai-agent-assertion': 'host-1',
    })
    const only = world.context('assertion_only').connect('mcp')
    expect(await only.authorize(POST)).toMatchObject({
      headers: [['authorization', 'AgentAssertion host-2']],
      redirects: 'stop',
    })
    expect(world.model.registrations).toEqual([])
  })

  it('tells nothing of why a host could not assert', async () => {
    const assert = () => {
      throw new Error('sk-secret')
    }
    const world = await AuthWorld.open({ host: hostAssertionSource({ userId: 'u', assert }) })
    const outcome = await world.context('dual_header').connect('mcp').authorize(POST)
    expect(outcome).toMatchObject({ error: { code: 'assertion_failed' } })
    expect(JSON.stringify(outcome)).not.toContain('sk-secret')
  })

  it('is the older assertion of an agent identity, signed by its own key', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    const record = {
      agent_runtime_id: 'agent-1',
      agent_private_key: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
      account_id: 'acct-1',
      chatgpt_user_id: 'user-1',
    }
    const jwt = ['{}', JSON.stringify(record), ''].map((part) => Buffer.from(part).toString('base64url')).join('.')
    const world = await AuthWorld.open({ sources: [accessTokenSource({ CODEX_ACCESS_TOKEN: jwt })] })
    world.model.pathReplies.set('POST /api/accounts/v1/agent/agent-1/task/register', [json(200, { task_id: 'task-1' })])
    const auth = world.context('off').connect('mcp')
    const [first, second] = await Promise.all([auth.authorize(POST), auth.authorize(POST)])
    expect(world.model.requests).toHaveLength(1)
    for (const outcome of [first, second]) {
      const fields = sent(outcome)
      expect(fields['chatgpt-account-id']).toBe('acct-1')
      const blob = Buffer.from(fields.authorization?.slice('AgentAssertion '.length) ?? '', 'base64url').toString()
      const { agent_runtime_id: id, signature, task_id: task, timestamp } = JSON.parse(blob)
      expect(Object.keys(JSON.parse(blob))).toEqual(['agent_runtime_id', 'signature', 'task_id', 'timestamp'])
      expect(timestamp).toBe('2023-11-14T22:13:20Z')
      expect(verify(null, Buffer.from(`${id}:${task}:${timestamp}`), publicKey, Buffer.from(signature, 'base64'))).toBe(
        true,
      )
    }
  })

  it('fits what transports take', async () => {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    const auth: HttpAuth = transportAuth(world.context('off').connect('mcp'))
    const fields = await auth.headers({ method: 'GET', url: MCP_URL, origin: 'https://chatgpt.com' })
    expect(fields.map(([name]) => name)).toEqual(['authorization', 'chatgpt-account-id'])
    await world.manager.logout()
    await expect(auth.headers({ method: 'GET', url: MCP_URL, origin: 'https://chatgpt.com' })).rejects.toMatchObject({
      code: 'signed_out',
    })
  })
})

describe('the network policy of an account', () => {
  it('is asked before anything is read, and refuses unsent', async () => {
    const world = await AuthWorld.open({
      signedIn: { account: 'acct-1', exp: 1_700_000_000 },
      networks: () => ({ refusal: () => 'not from here', revoked: new AbortController().signal }),
    })
    const outcome = await world.context('dual_header').connect('mcp').authorize(POST)
    expect(outcome).toMatchObject({ error: { code: 'auth_revoked', place: 'https://chatgpt.com' } })
    expect(world.model.requests).toEqual([])
    const none = await AuthWorld.open({ signedIn: { account: 'acct-1' }, networks: () => undefined })
    expect(() => none.context('off').connect('mcp')).toThrow('network policy is unavailable')
  })

  it.each(['off', 'dual_header', 'assertion_only'] as const)(
    'stops what waits when it is revoked: %s',
    async (mode) => {
      const model = (await AuthWorld.open()).model
      const direct = inProcess(model)
      let arrived = () => {}
      let release = () => {}
      const waiting = new Promise<void>((resolve) => {
        arrived = resolve
      })
      const gate = new Promise<void>((resolve) => {
        release = resolve
      })
      const http: typeof direct = {
        send: async (request) => {
          arrived()
          await gate
          return direct.send(request)
        },
      }
      const policy = new AbortController()
      const networks = () => ({ refusal: () => undefined, revoked: policy.signal })
      const world = await AuthWorld.open({ model, http, networks, signedIn: { account: 'acct-1', exp: 1_700_000_000 } })
      const auth = world.context(mode).connect('mcp')
      const outcome = auth.authorize(POST)
      await waiting
      policy.abort()
      release()
      expect(await outcome).toMatchObject({ error: { message: 'application network permission was revoked' } })
      expect(auth.revoked.aborted).toBe(true)
    },
  )
})

describe('the end of a session', () => {
  it('is refused when the time for it is over, and once it was ended', async () => {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    const context = world.context('dual_header')
    const [late, other] = [McpConnection.to(context, world.http), McpConnection.to(context, world.http)]
    await late.operate('initialize')
    await other.operate('initialize')
    expect(await late.end(AbortSignal.abort())).toEqual({ server: 'test', reason: 'time limit' })
    await world.manager.logout()
    expect(await other.end()).toEqual({ server: 'test', reason: 'auth_revoked' })
    expect(world.model.requests.some(({ method }) => method === 'DELETE')).toBe(false)
  })
})

it('repeats handshakes, lists and reads, and no call that is not idempotent', () => {
  expect(isReplaySafe({ method: 'GET' })).toBe(true)
  expect(isReplaySafe({ method: 'POST', rpcMethod: 'resources/read' })).toBe(true)
  expect(isReplaySafe({ method: 'POST', rpcMethod: 'tools/call' })).toBe(false)
  expect(isReplaySafe({ method: 'POST', rpcMethod: 'tools/call', isIdempotent: true })).toBe(true)
  expect(isReplaySafe({ method: 'POST', rpcMethod: 'unheard/of', isIdempotent: true })).toBe(false)
  expect(isReplaySafe({ method: 'DELETE' })).toBe(false)
})
