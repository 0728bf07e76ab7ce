import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/protocol/index.js'
import { interleave, unmixed, verdict } from '../fixtures/sharing/asking.js'
import { GatewayClient } from '../fixtures/sharing/gateway-client.js'
import { startHttpEcho } from '../fixtures/sharing/http-echo.js'
import { type Gateway, openGateway, openHome, TOKEN } from './gateway/harness.js'
import { connectV2, MODERN, type SdkClient, type Target } from './gateway/sdk-clients.js'

const NAMES = Array.from({ length: 10 }, (_, number) => `client${number}`)

const text = (result: JsonObject) => String((result.content as { text: string }[])[0]?.text)

async function connect(gateway: Gateway, names = NAMES, token = TOKEN): Promise<GatewayClient[]> {
  return Promise.all(names.map((name) => GatewayClient.connect(gateway.url, token, 'notes__ask', name)))
}

async function end(clients: readonly AsyncDisposable[]): Promise<void> {
  await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()))
}

/** One call after the other, so that nobody would have to wait. */
async function pidsOf(clients: readonly GatewayClient[], tool = 'notes__process'): Promise<number[]> {
  const pids: number[] = []
  for (const client of clients) pids.push(JSON.parse(text(await client.callTool(tool, {}))).pid)
  return pids
}

interface AskedClient {
  readonly client: SdkClient
  /** What it was asked, in order. */
  readonly asked: string[]
}

/** A client of the modern era that answers every question with its own message. */
async function askedClient(target: Target): Promise<AskedClient> {
  const asked: string[] = []
  const onElicit = (params: unknown) => {
    const { message } = params as { message: string }
    asked.push(message)
    return { action: 'accept' as const, content: { name: message } }
  }
  return { client: await connectV2(target, { heard: [], onElicit }, { pin: MODERN }), asked }
}

describe('clients of the gateway', () => {
  it('run as many processes as there are servers, and are told apart on them', async () => {
    await using home = await openHome(() => ({ notes: {}, files: {} }))
    await using gateway = await openGateway(home.reeve)
    const clients = await connect(gateway)
    expect(new Set([...(await pidsOf(clients)), ...(await pidsOf(clients, 'files__process'))]).size).toBe(2)
    const made = await interleave(clients, 20)
    expect(verdict(clients.map(({ witness }) => witness))).toEqual(unmixed(made))
    expect(new Set(await pidsOf(clients)).size).toBe(1)
    await end(clients)
  })

  it('use one session of a server behind a URL, and are told apart on it', async () => {
    await using echo = await startHttpEcho()
    await using home = await openHome(() => ({}), `[mcp_servers.notes]\nurl = ${JSON.stringify(echo.url)}\n`)
    await using gateway = await openGateway(home.reeve)
    const clients = await connect(gateway)
    const made = await interleave(clients, 20)
    expect(verdict(clients.map(({ witness }) => witness))).toEqual(unmixed(made))
    expect(await echo.sessions()).toEqual({ opened: 1, open: 1 })
    await end(clients)
  })

  it('share nothing when the gateway isolates them, or with the clients of another principal', async () => {
    await using home = await openHome((path) => ({ notes: { args: ['--record', `${path}/notes.record`] } }))
    await using isolating = await openGateway(home.reeve, { isolate: true })
    const alone = await connect(isolating, ['one', 'two'])
    expect(new Set(await pidsOf(alone)).size).toBe(2)
    const initialized = (await home.recorded('notes')).filter(({ method }) => method === 'initialize')
    expect(initialized.map(({ params }) => ((params as JsonObject).clientInfo as JsonObject).name).sort()).toEqual([
      'one',
      'two',
    ])
    await end(alone)

    await using several = await openGateway(home.reeve, {
      authentication: { kind: 'custom', authenticate: (header) => ({ id: header ?? 'nobody' }) },
    })
    const [ann, bob] = [await connect(several, ['a1', 'a2'], 'ann'), await connect(several, ['b1', 'b2'], 'bob')]
    const pids = await pidsOf([...ann, ...bob])
    expect([pids[0] === pids[1], pids[2] === pids[3], new Set(pids).size]).toEqual([true, true, 2])
    await end([...ann, ...bob])
  })

  it('lose a server together, each with an error of its own calls, and have it again with the next one', async () => {
    await using home = await openHome((path) => ({ notes: { args: ['--record', `${path}/notes.record`] } }))
    await using gateway = await openGateway(home.reeve)
    const clients = await connect(gateway, ['one', 'two'])
    const [pid] = await pidsOf(clients)
    const hanging = expect(clients[0]?.callTool('notes__hang', {})).rejects.toThrow('transport_closed')
    await expect
      .poll(async () => (await home.recorded('notes')).at(-1))
      .toMatchObject({ method: 'tools/call', params: { name: 'hang' } })
    process.kill(pid ?? 0, 'SIGKILL')
    await hanging
    const after = await pidsOf(clients)
    expect([new Set(after).size, after[0] === pid]).toEqual([1, false])
    await end(clients)
  })

  it('that only come with single requests are told apart, too', async () => {
    await using home = await openHome(() => ({ notes: {} }))
    await using gateway = await openGateway(home.reeve)
    const target = { kind: 'http', url: gateway.url, token: TOKEN } as const
    const clients = await Promise.all(Array.from({ length: 4 }, () => askedClient(target)))
    const ask = async ({ client }: AskedClient, said: string) => {
      const params = { message: said, requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } }
      return text((await client.callTool('notes__ask', { params })) as JsonObject)
    }
    await Promise.all(
      clients.map(async (one, number) => {
        for (let call = 0; call < 5; call += 1) {
          const said = `client${number} ${call}`
          expect(JSON.parse(await ask(one, said))).toEqual({ action: 'accept', content: { name: said } })
        }
      }),
    )
    expect(clients.map(({ asked }) => asked)).toEqual(
      clients.map((_, number) => [0, 1, 2, 3, 4].map((call) => `client${number} ${call}`)),
    )
    await end(clients.map(({ client }) => client))
  })
})
