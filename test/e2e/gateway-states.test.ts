import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/protocol/index.js'
import { Reeve } from '../../src/reeve.js'
import { type Gateway, type Home, openGateway, openHome, TOKEN } from './gateway/harness.js'
import { RawModern } from './gateway/raw-modern.js'
import { startUpstream, type Upstream } from './matrix/upstream.js'

const OLD = fileURLToPath(new URL('../fixtures/full/server-2025.mjs', import.meta.url))
const CAPABILITIES = { elicitation: { form: {}, url: {} } }

let upstream: Upstream
let home: Home
beforeAll(async () => {
  upstream = await startUpstream('new', 'http')
  home = await openHome(() => ({ old: { script: OLD, args: ['--stdio'] } }), `[mcp_servers.new]\n${upstream.toml}\n`)
})
afterAll(async () => {
  await home?.[Symbol.asyncDispose]()
  await upstream?.[Symbol.asyncDispose]()
})

/** Runs with a gateway over a runtime of its own, as another process of this home would have. */
async function withGateway<T>(kept: boolean, use: (client: RawModern, gateway: Gateway) => Promise<T>): Promise<T> {
  await using reeve = await Reeve.open({ home: home.path, cwd: home.path, env: { PATH: process.env.PATH } })
  await using gateway = await openGateway(reeve, kept ? { stateFolder: join(home.path, 'run') } : {})
  return await use(new RawModern(gateway.url, { token: TOKEN, capabilities: CAPABILITIES }), gateway)
}

function answered({ inputRequests, requestState }: JsonObject, answer: JsonObject): JsonObject {
  const names = Object.keys(inputRequests as JsonObject)
  return { inputResponses: Object.fromEntries(names.map((name) => [name, answer])), requestState: requestState ?? null }
}

const codeOf = (attempt: Promise<unknown>) =>
  attempt.then(
    () => 'no error',
    (error: unknown) => (error as { data?: { code?: unknown } }).data?.code,
  )

describe('a request state and the gateway that gave it out', () => {
  it.each([
    ['a page to visit', 'old__test_url_elicitation_required', { action: 'accept' }, 'input_required'],
    [
      'the state of a server that lives on',
      'new__test_input_required_result_request_state',
      { action: 'accept', content: { confirm: true } },
      'complete',
    ],
  ])('goes on with %s in the next gateway of the home, once', async (_what, tool, answer, comesTo) => {
    const asked = await withGateway(true, (client) => client.call(tool))
    expect(asked).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) })
    const back = answered(asked, answer)
    expect(await withGateway(true, (client) => client.call(tool, {}, back))).toMatchObject({ resultType: comesTo })
    expect(await withGateway(true, (client) => codeOf(client.call(tool, {}, back)))).toBe('request_state_used')
  })

  it('ends with a call that the gateway held, and says so', async () => {
    const tool = 'old__test_elicitation'
    const back = await withGateway(true, async (client, { warnings }) => {
      const asked = answered(await client.call(tool, { message: '?' }), { action: 'decline' })
      expect(warnings).toEqual([])
      return asked
    })
    const again = withGateway(true, (client) => codeOf(client.call(tool, { message: '?' }, back)))
    expect(await again).toBe('request_state_expired')
  })

  it('is of no use to a gateway that keeps none', async () => {
    const tool = 'old__test_url_elicitation_required'
    const asked = await withGateway(true, (client) => client.call(tool))
    const back = answered(asked, { action: 'accept' })
    expect(await withGateway(false, (client) => codeOf(client.call(tool, {}, back)))).toBe('request_state_invalid')
  })
})
