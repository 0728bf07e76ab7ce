import { describe, expect, it } from 'vitest'
import { ownersAuth } from '../../src/gateway/index.js'
import { type BackendRuntime, HUB_PATH, schemes, startBackendRuntime } from '../standins/backend-runtime.js'
import { openGateway } from './gateway/harness.js'
import { RawSession } from './gateway/raw-http.js'
import { RawModern } from './gateway/raw-modern.js'

const MODES = ['off', 'dual_header', 'assertion_only'] as const
/** Tokens of the gateway, and whose they are. */
const TOKENS: ReadonlyMap<string, string> = new Map([
  ['Bearer token-of-owner', 'owner'],
  ['Bearer token-of-ann', 'oauth-ann'],
])

function gatewayOf({ reeve }: BackendRuntime) {
  return openGateway(reeve, {
    startThread: (given) => reeve.startThread({ ...given, ...ownersAuth(reeve.auth, given.principal) }),
    authentication: {
      kind: 'custom',
      authenticate: (authorization) => {
        const id = TOKENS.get(authorization ?? '')
        return id === undefined ? undefined : { id }
      },
    },
  })
}

/** Everything secret that ever went to the backend. */
function secretsOf({ backend }: BackendRuntime): readonly string[] {
  const sent = backend.model.requests.flatMap(({ headers }) => headers)
  const values = sent.filter(([name]) => ['authorization', 'x-openai-agent-assertion'].includes(name))
  return [...new Set(values.map(([, value]) => value.split(' ').at(-1) ?? ''))]
}

const call = { name: 'hub__t', arguments: {} }

describe('a first-party server behind the gateway over HTTP', () => {
  it.each(MODES)('works with the account for the owner alone, in both eras: %s', async (mode) => {
    await using world = await startBackendRuntime({ mode })
    await using gateway = await gatewayOf(world)
    const owner = await RawSession.open(gateway.url, { token: 'token-of-owner' })
    expect((await owner.request('tools/call', call)).json()).toMatchObject({ result: {} })
    await new RawModern(gateway.url, { token: 'token-of-owner' }).result('tools/call', call)
    const scheme = mode === 'assertion_only' ? 'AgentAssertion' : 'Bearer'
    expect(schemes(world.sent('tools/call'))).toEqual([scheme, scheme])
    const before = world.sent().length
    const ann = await RawSession.open(gateway.url, { token: 'token-of-ann' })
    await ann.request('tools/call', call)
    await new RawModern(gateway.url, { token: 'token-of-ann' }).request('tools/call', call)
    const hers = world.sent().slice(before)
    expect(hers.length).toBeGreaterThan(0)
    expect(new Set(schemes(hers))).toEqual(new Set([null]))
    expect(new Set(hers.map(({ account, assertion }) => account ?? assertion))).toEqual(new Set([null]))
    expect(world.backend.model.violations).toEqual([])
  })

  it.each(MODES)('tells clients of refusals and redirects without any secret: %s', async (mode) => {
    await using world = await startBackendRuntime({ mode })
    await using gateway = await gatewayOf(world)
    const { model } = world.backend
    const owner = await RawSession.open(gateway.url, { token: 'token-of-owner' })
    const modern = new RawModern(gateway.url, { token: 'token-of-owner' })
    const texts: string[] = []
    const told = async (reply: { status: number; headers?: Record<string, string> }) => {
      const echo = { 'content-type': 'text/plain' }
      for (const request of [
        () => owner.request('tools/call', call),
        () => modern.request('tools/call', call),
        () => owner.request('tools/list'),
      ]) {
        model.rpcReplies.set('tools/call', [{ ...reply, headers: { ...echo, ...reply.headers }, body: 'hidden-body' }])
        const answer = await request()
        texts.push(answer.text + JSON.stringify(answer.headers))
      }
      model.rpcReplies.clear()
    }
    await told({ status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } })
    await told({ status: 403 })
    await told({ status: 500 })
    await told({ status: 307, headers: { location: `https://elsewhere.test${HUB_PATH}?code=hidden-code` } })
    await told({ status: 302, headers: { location: `https://user:hidden-password@elsewhere.test/` } })
    const seen = [...texts, ...gateway.warnings.map((warning) => `${warning.stack}`)].join('\n')
    const secrets = secretsOf(world)
    expect(secrets.length).toBeGreaterThan(0)
    for (const secret of [...secrets, 'hidden-code', 'hidden-password', 'token-of-owner']) {
      expect(secret.length).toBeGreaterThan(8)
      expect(seen).not.toContain(secret)
    }
    expect(seen).toMatch(/elsewhere\.test/)
    expect(model.violations).toEqual([])
  })
})
