import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/protocol/index.js'
import { callTool, textOf } from './cell.js'
import type { Era, EraClient } from './clients/client.js'
import { COMBINATIONS, type Combination, titleOf } from './combinations.js'
import { CLIENT_CAPABILITIES } from './features/unknown.js'
import { Gateways } from './gateways.js'
import { Names } from './names.js'
import { untilListed } from './until-listed.js'
import { startUpstream, type TransportKind } from './upstream.js'

/** They come before the answer, or soon after. */
const HEARD_MS = 3000
const WATCHED = 'test://watched-resource'

describe.each<[Era, TransportKind]>([
  ['old', 'stdio'],
  ['old', 'http'],
  ['new', 'stdio'],
  ['new', 'http'],
])('two servers with the same URIs, before a client of the %s era over %s', (era, transport) => {
  const first = new Names('first')
  const second = new Names('second')
  let gateways: Gateways
  let client: EraClient
  beforeAll(async () => {
    gateways = await Gateways.open({
      first: await startUpstream('old', 'stdio'),
      second: await startUpstream('new', 'http'),
    })
    client = await gateways.connect({ era, transport, front: 'merged', capabilities: CLIENT_CAPABILITIES })
    await untilListed(
      client,
      [first, second].map((names) => names.of('test_simple_text')),
    )
  })
  afterAll(async () => {
    await client?.[Symbol.asyncDispose]()
    await gateways?.[Symbol.asyncDispose]()
  })

  const read = async (uri: string) => {
    const { contents } = await client.request('resources/read', { uri })
    return (contents as JsonObject[])[0] ?? {}
  }
  const update = (names: Names, uri = WATCHED) => callTool({ client, names }, 'test_trigger_resource_update', { uri })

  it('reads from each what is its own', async () => {
    const before = [await read(first.uri(WATCHED)), await read(second.uri(WATCHED))].map(({ text }) => text)
    expect(before).toEqual(['Version 1', 'Version 1'])
    await update(first)
    await update(first)
    await update(second)
    expect(await read(first.uri(WATCHED))).toEqual({
      uri: first.uri(WATCHED),
      mimeType: 'text/plain',
      text: 'Version 3',
    })
    expect(await read(second.uri(WATCHED))).toMatchObject({ uri: second.uri(WATCHED), text: 'Version 2' })
  })

  it('follows the links of each to itself', async () => {
    for (const names of [first, second]) {
      const { content } = await callTool({ client, names }, 'test_resource_links')
      expect(content).toMatchObject([
        { type: 'resource_link', uri: names.uri('test://static-text') },
        { type: 'resource_link', uri: names.uri('ui://full/dashboard.html') },
        { type: 'resource', resource: { uri: names.uri('test://static-text') } },
      ])
      const args = { resourceUri: 'test://example-resource' }
      const prompt = { name: names.of('test_prompt_with_embedded_resource'), arguments: args }
      expect(await client.request('prompts/get', prompt)).toMatchObject({
        messages: [{ content: { resource: { uri: names.uri('test://example-resource') } } }, {}],
      })
      expect(await read(names.uri('test://template/7/data'))).toMatchObject({
        uri: names.uri('test://template/7/data'),
      })
    }
  })

  it('tells of the updates of each under its own name', async () => {
    await using _ = await client.watch({ uris: [first.uri(WATCHED), second.uri(WATCHED)] })
    for (const [changed, other] of [
      [first, second],
      [second, first],
    ] as const) {
      const before = client.heard.count
      await update(changed)
      const told = await client.heard.next('notifications/resources/updated', before)
      expect(told.uri).toBe(changed.uri(WATCHED))
      const ofOther = client.heard.since(before).filter(({ params }) => params.uri === other.uri(WATCHED))
      expect(ofOther).toEqual([])
    }
  })

  it('refuses the bare URI, with both as the choices', async () => {
    await expect(read(WATCHED)).rejects.toMatchObject({
      code: -32602,
      data: { choices: [first.uri(WATCHED), second.uri(WATCHED)] },
    })
  })
})

describe.each(COMBINATIONS.map((combination) => [titleOf(combination), combination] as const))(
  'two clients with the same request ids: %s',
  (_title, combination) => {
    const names = new Names('full')
    let pair: Pair
    let clients: readonly EraClient[]
    beforeAll(async () => {
      pair = await openPair(combination, names, CLIENT_CAPABILITIES)
      clients = pair.clients
    })
    afterAll(() => pair?.[Symbol.asyncDispose]())

    it('asks each its own question, while both are open, and gives each its own answer', async () => {
      for (const round of [1, 2, 3, 4]) {
        const open = new Gathering(clients.length)
        const results = await Promise.all(
          clients.map(async (client, index) => {
            const asked = client.asked.length
            client.answer = async () => {
              await open.arrive()
              return { action: 'accept', content: { username: `user ${index}`, email: `${round}@example.com` } }
            }
            const text = textOf(await callTool({ client, names }, 'test_elicitation', { message: `For ${index}` }))
            expect(client.asked.slice(asked)).toMatchObject([{ params: { message: `For ${index}` } }])
            return text
          }),
        )
        expect(results).toEqual(
          clients.map(
            (_client, index) =>
              `User response: action=accept, content={"username":"user ${index}","email":"${round}@example.com"}`,
          ),
        )
      }
    })

    /** Both clients call this at the same time, under the same token; each must hear three times. */
    const eachHearsThree = async (tool: string, method: string) => {
      const before = clients.map(({ heard }) => heard.count)
      const call = { name: names.of(tool) }
      await Promise.all(clients.map((client) => client.request('tools/call', call, { progressToken: 'same' })))
      for (const [index, { heard }] of clients.entries()) {
        await heard.several(3, method, before[index] ?? 0, undefined, HEARD_MS)
        expect(heard.since(before[index] ?? 0, method)).toHaveLength(3)
      }
    }

    it('tells each of its own progress, under the same token', () =>
      eachHearsThree('test_tool_with_progress', 'notifications/progress'))

    it('tells each of its own log messages', async () => {
      for (const client of clients) await client.setLogLevel('info')
      await eachHearsThree('test_tool_with_logging', 'notifications/message')
    })

    it.each([
      ['of a log while another call is out', 3, 'test_tool_with_progress'],
      ['of the logs of two calls at once', 6, 'test_tool_with_logging'],
    ])('tells one client %s', async (_what, lines, beside) => {
      const client = clients[0] ?? expect.fail('no client')
      await client.setLogLevel('info')
      const before = clients.map(({ heard }) => heard.count)
      await Promise.all(['test_tool_with_logging', beside].map((tool) => callTool({ client, names }, tool)))
      await client.heard.several(lines, 'notifications/message', before[0] ?? 0, undefined, HEARD_MS)
      const heard = clients.map((each, index) => each.heard.since(before[index] ?? 0, 'notifications/message').length)
      expect(heard).toEqual([lines, 0])
    })

    it('asks two clients that hear a log at the same time', async () => {
      for (const client of clients) await client.setLogLevel('info')
      const open = new Gathering(clients.length)
      const texts = clients.map(async (client, index) => {
        client.answer = async () => {
          await open.arrive()
          return { action: 'accept', content: { username: `user ${index}`, email: 'a@example.com' } }
        }
        return textOf(await callTool({ client, names }, 'test_elicitation', { message: 'Who?' }))
      })
      expect(await Promise.all(texts)).toMatchObject(
        clients.map((_client, index) => expect.stringContaining(`user ${index}`)),
      )
    })
  },
)

/** Where all of a server's messages come on one pipe, and its clients can be asked nothing. */
const ON_ONE_PIPE = COMBINATIONS.filter(({ upstream }) => upstream === 'stdio')

describe.each(ON_ONE_PIPE.map((combination) => [titleOf(combination), combination] as const))(
  'two clients without capabilities: %s',
  (_title, combination) => {
    const names = new Names('full')
    let pair: Pair
    let clients: readonly EraClient[]
    beforeAll(async () => {
      pair = await openPair(combination, names, {})
      clients = pair.clients
      for (const client of clients) {
        await callTool({ client, names }, 'test_simple_text')
        await client.setLogLevel('info')
      }
    })
    afterAll(() => pair?.[Symbol.asyncDispose]())

    it('hear each its own log, of calls that are made together', async () => {
      const before = clients.map(({ heard }) => heard.count)
      await Promise.all(clients.map((client) => callTool({ client, names }, 'test_tool_with_logging')))
      for (const [index, { heard }] of clients.entries()) {
        await heard.several(3, 'notifications/message', before[index] ?? 0, undefined, HEARD_MS)
        expect(heard.since(before[index] ?? 0, 'notifications/message')).toHaveLength(3)
      }
    })
  },
)

/** Two clients like each other before one gateway. */
interface Pair extends AsyncDisposable {
  readonly clients: readonly EraClient[]
}

async function openPair(
  { client: era, server, downstream, upstream }: Combination,
  names: Names,
  capabilities: JsonObject,
): Promise<Pair> {
  const gateways = await Gateways.open({ full: await startUpstream(server, upstream) })
  const clients: EraClient[] = []
  const close = async () => {
    for (const client of clients) await client[Symbol.asyncDispose]()
    await gateways[Symbol.asyncDispose]()
  }
  try {
    for (const _ of ['first', 'second'])
      clients.push(await gateways.connect({ era, transport: downstream, front: 'merged', capabilities }))
    for (const client of clients) await untilListed(client, [names.of('test_simple_text')])
    return { clients, [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Lets nobody go on before all have arrived. */
class Gathering {
  readonly #all: Promise<void>
  #missing: number
  #open: () => void = () => undefined

  constructor(expected: number) {
    this.#missing = expected
    this.#all = new Promise((resolve) => {
      this.#open = resolve
    })
  }

  arrive(): Promise<void> {
    this.#missing -= 1
    if (this.#missing === 0) this.#open()
    return this.#all
  }
}
