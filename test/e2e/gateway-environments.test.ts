import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { JsonObject } from '../../src/protocol/index.js'
import type { ThreadEvent } from '../../src/threads/index.js'
import { buildCli } from './built-cli.js'
import { openWorld, type World } from './gateway/environments.js'
import { openGateway, openHome, TOKEN } from './gateway/harness.js'
import { RawSession } from './gateway/raw-http.js'
import { connectV1, connectV2, type Ears, MODERN, type SdkClient, type Target } from './gateway/sdk-clients.js'

const PLACES = ['local', 'enva', 'envb'] as const
type Place = (typeof PLACES)[number]

/** What clients call the things of the three servers. */
const toolOf = (place: Place, tool: string) => (place === 'local' ? `notes__${tool}` : `${place}__notes__${tool}`)
const uriOf = (place: Place, uri = 'note://shared') =>
  place === 'local' ? `reeve://notes/${uri}` : `reeve://notes@${place}/${uri}`

let world: World
let http: Extract<Target, { kind: 'http' }>
beforeAll(async () => {
  await buildCli()
  world = await openWorld()
  http = await world.http()
}, 300_000)
afterAll(() => world[Symbol.asyncDispose]())

const CLIENTS: [string, (ears: Ears) => Promise<SdkClient>][] = [
  ['an old client over HTTP', (ears) => connectV1(http, ears)],
  ['a new client in the old era over HTTP', (ears) => connectV2(http, ears)],
  ['a new client over HTTP', (ears) => connectV2(http, ears, { pin: MODERN })],
  ['an old client over stdio', (ears) => connectV1(world.stdio(), ears)],
  ['a new client over stdio', (ears) => connectV2(world.stdio(), ears, { pin: MODERN })],
]

const textOf = (result: Record<string, unknown>) => String((result.content as { text?: unknown }[])[0]?.text)

function newEars(): Ears {
  return {
    heard: [],
    // Answers with the question itself, so that an answer that crossed would show.
    onElicit: (params) => ({ action: 'accept', content: { answer: String((params as { message: string }).message) } }),
  }
}

/** What takes longer than the first list waits for comes with a later one. */
function untilListed(client: SdkClient, ...tools: string[]): Promise<string[]> {
  const look = async () => {
    const names = (await client.listTools()).map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(tools))
    return names
  }
  return vi.waitFor(look, { timeout: 20_000, interval: 50 })
}

describe.each(CLIENTS)('%s of three servers of one name', (_name, connect) => {
  let client: SdkClient
  const ears = newEars()
  beforeAll(async () => {
    client = await connect(ears)
    await untilListed(client, ...PLACES.map((place) => toolOf(place, 'where')), 'envb__modern__test_roots')
  }, 60_000)
  afterAll(() => client[Symbol.asyncDispose]())

  it('sees each with its environment in name, titles, description and _meta', async () => {
    const tools = await client.listTools()
    for (const place of PLACES) {
      const tool = tools.find(({ name }) => name === toolOf(place, 'where'))
      const named = place === 'local' ? '' : ` (${place})`
      expect(tool).toMatchObject({
        title: `Where am I${named}`,
        annotations: { title: `Where${named}` },
        description: place === 'local' ? 'Says where it runs.' : `Environment: ${place}\nSays where it runs.`,
      })
      const meta = (tool as { _meta?: unknown } | undefined)?._meta
      expect(meta).toEqual(place === 'local' ? undefined : { 'reeve/environment_id': place })
    }
  })

  it('calls each', async () => {
    const answers = await Promise.all(PLACES.map((place) => client.callTool(toolOf(place, 'where'))))
    const folders = answers.map(textOf)
    expect(folders.map((answer) => answer.split(' ')[0])).toEqual([...PLACES])
    expect(folders[1]).toContain('enva/plugin')
    expect(folders[2]).toContain('envb/plugin')
  })

  it('reads the resource that all have, from each', async () => {
    const resources = await client.listResources()
    for (const place of PLACES) {
      const uri = uriOf(place)
      const named = place === 'local' ? '' : ` (${place})`
      expect(resources.find((resource) => resource.uri === uri)).toMatchObject({
        name: `shared${named}`,
        title: `Shared note${named}`,
      })
      expect(await client.read(uri)).toMatchObject([{ uri, text: place }])
      // One that only the template tells of.
      expect(await client.read(uriOf(place, 'note://7'))).toMatchObject([{ text: place }])
    }
    const templates = await client.listTemplates()
    expect(templates.map(({ uriTemplate }) => uriTemplate)).toEqual(
      expect.arrayContaining(PLACES.map((place) => uriOf(place, 'note://{id}'))),
    )
  })

  it('is told the choices where a URI could be anybody’s', async () => {
    await expect(client.read('note://shared')).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('reeve://notes@enva/note://shared'),
    })
  })

  it('gets prompts and completions of each', async () => {
    const prompts = await client.listPrompts()
    for (const place of PLACES) {
      const name = toolOf(place, 'summary')
      expect(prompts.find((prompt) => prompt.name === name)).toMatchObject({
        title: place === 'local' ? 'Summary' : `Summary (${place})`,
      })
      expect(await client.getPrompt(name)).toMatchObject({ messages: [{ content: { text: place } }] })
      const argument = { name: 'id', value: '' }
      expect(await client.complete({ ref: { type: 'ref/prompt', name }, argument })).toMatchObject({ values: [place] })
      const ref = { type: 'ref/resource' as const, uri: uriOf(place, 'note://{id}') }
      expect(await client.complete({ ref, argument })).toMatchObject({ values: [place] })
    }
  })

  it('answers the questions of each, which never cross', async () => {
    const rounds = [...PLACES, ...PLACES].map(async (place) => [
      place,
      textOf(await client.callTool(toolOf(place, 'ask'))),
    ])
    for (const [place, answer] of await Promise.all(rounds)) {
      const asks = place === 'local' ? '' : `notes (environment ${place}): `
      expect(answer).toBe(`${place} accept ${asks}Which note of ${place}?`)
    }
  }, 30_000)

  it('tells the folders of its machine to the server of its machine only', async () => {
    expect(textOf(await client.callTool(toolOf('local', 'roots')))).toContain('file:///work')
    for (const place of ['enva', 'envb'] as const) {
      const answer = textOf(await client.callTool(toolOf(place, 'roots')))
      const roots = JSON.parse(answer.slice(place.length + 1))
      expect(roots).toEqual([
        { uri: `file://${world.workspace(place).replace(' ', '%20')}`, name: `work space (${place})` },
      ])
    }
  })

  it('hears of the resource that it subscribed to, and of no namesake', async () => {
    await client.subscribe(uriOf('enva'))
    ears.heard.length = 0
    for (const place of ['envb', 'local', 'enva'] as const) await client.callTool(toolOf(place, 'touch'))
    await expect
      .poll(() => ears.heard.filter(({ method }) => method === 'notifications/resources/updated'))
      .toMatchObject([{ params: { uri: uriOf('enva') } }])
    await client.unsubscribe(uriOf('enva'))
  })
})

describe('a server of the new era in an environment', () => {
  it.each(CLIENTS.slice(0, 3))(
    'asks %s in its own name, and is told no folder of another machine',
    async (_n, connect) => {
      await using client = await connect(newEars())
      await untilListed(client, 'envb__modern__test_elicitation')
      const asked = await client.callTool('envb__modern__test_elicitation', { message: 'Who?' })
      expect(textOf(asked)).toContain('action=accept')
      const roots = textOf(await client.callTool('envb__modern__test_roots'))
      expect(roots).toContain('work%20space')
      expect(roots).not.toContain('file:///work"')
    },
  )
})

describe('the environment in a request about a resource', () => {
  it('is told with updates, which come under the URI that the client used', async () => {
    const session = await RawSession.open(http.url, { token: http.token })
    for (const place of ['enva', 'envb']) {
      const params = { uri: 'note://shared', _meta: { 'reeve/environment_id': place } }
      expect((await session.request('resources/subscribe', params)).json()).toMatchObject({ result: {} })
      const [told] = (await session.request('tools/call', { name: `${place}__notes__touch`, arguments: {} })).messages()
      expect(told).toMatchObject({ method: 'notifications/resources/updated', params })
    }
    await session.end()
  })

  it('chooses who completes, and may not contradict the name of a prompt', async () => {
    const session = await RawSession.open(http.url, { token: http.token })
    const complete = async (ref: JsonObject, environment: string) => {
      const _meta = { 'reeve/environment_id': environment }
      const params = { ref, argument: { name: 'id', value: '' }, _meta }
      return (await session.request('completion/complete', params)).messages().at(-1)
    }
    const template = { type: 'ref/resource', uri: 'note://{id}' }
    expect(await complete(template, 'envb')).toMatchObject({ result: { completion: { values: ['envb'] } } })
    expect(await complete(template, 'enva')).toMatchObject({ result: { completion: { values: ['enva'] } } })
    await session.request('prompts/list')
    const prompt = { type: 'ref/prompt', name: 'enva__notes__summary' }
    expect(await complete(prompt, 'enva')).toMatchObject({ result: { completion: { values: ['enva'] } } })
    expect(await complete(prompt, 'envb')).toMatchObject({
      error: { code: -32602, data: { code: 'unknown_server', server: 'notes', environment_id: 'enva' } },
    })
    await session.end()
  })

  it('chooses the server where all have the URI', async () => {
    const session = await RawSession.open(http.url, { token: http.token })
    const read = async (environment: string | null) => {
      const params = { uri: 'note://shared', _meta: { 'reeve/environment_id': environment } }
      return (await session.request('resources/read', params)).messages().at(-1)
    }
    expect(await read('enva')).toMatchObject({ result: { contents: [{ text: 'enva' }] } })
    expect(await read('envb')).toMatchObject({ result: { contents: [{ text: 'envb' }] } })
    expect(await read('local')).toMatchObject({ result: { contents: [{ text: 'local' }] } })
    expect(await read(null)).toMatchObject({ result: { contents: [{ text: 'local' }] } })
    expect(await read('nope')).toMatchObject({ error: { code: -32602 } })
    await session.end()
  })
})

describe('an executor that is killed and comes back', () => {
  it('takes its servers along, hides no other, and brings them back; clients are told to list again', async () => {
    const ears = newEars()
    await using client = await connectV2(http, ears)
    const changes = () => ears.heard.filter(({ method }) => method === 'notifications/tools/list_changed').length
    await untilListed(client, ...PLACES.map((place) => toolOf(place, 'where')))

    const up = changes()
    await world.executors.enva.kill()
    await expect(client.callTool('enva__notes__where')).rejects.toThrow()
    for (const place of ['local', 'envb'] as const)
      expect(textOf(await client.callTool(toolOf(place, 'where')))).toContain(place)
    await expect.poll(changes, { timeout: 20_000 }).toBeGreaterThan(up)
    const left = (await client.listTools()).map(({ name }) => name)
    expect(left).toEqual(expect.arrayContaining(['notes__where', 'envb__notes__where']))
    expect(left.some((name) => name.startsWith('enva__'))).toBe(false)

    const before = changes()
    await world.executors.enva.restart()
    await expect.poll(() => changes(), { timeout: 30_000 }).toBeGreaterThan(before)
    await expect
      .poll(async () => (await client.callTool(toolOf('enva', 'where')).then(textOf, String)).split(' ')[0], {
        timeout: 30_000,
      })
      .toBe('enva')
    await untilListed(client, 'enva__notes__where')
  }, 90_000)
})

describe('an environment that never answers', () => {
  it('keeps the tools of no other server from a client', async () => {
    const sockets: Socket[] = []
    const mute = createServer((socket) => sockets.push(socket.on('error', () => {})))
    await once(mute.listen(0, '127.0.0.1'), 'listening')
    const { port } = mute.address() as AddressInfo
    const environment = `[[environments]]\nid = "mute"\nurl = "ws://127.0.0.1:${port}"\nconnect_timeout_sec = 60`
    const root = '[[capability_roots]]\nid = "mute"\nenvironment = "mute"\npath = "/nowhere"'
    await using home = await openHome(() => ({ notes: {} }), `${environment}\n${root}\n`)
    const problems: unknown[] = []
    const onEvent = (event: ThreadEvent) => event.type === 'problem' && problems.push(event.problem)
    await using gateway = await openGateway(home.reeve, {
      startThread: (thread) => home.reeve.startThread({ ...thread, onEvent }),
    })
    await using client = await connectV2({ kind: 'http', url: gateway.url, token: TOKEN }, newEars())
    expect((await client.listTools()).map(({ name }) => name)).toContain('notes__echo')
    // It is still being waited for: what becomes of it is told as a problem.
    expect(sockets.length).toBeGreaterThan(0)
    expect(problems).toEqual([])
    expect(textOf(await client.callTool('notes__echo', { message: 'hi' }))).toBe('hi')
    await expect.poll(() => problems, { timeout: 30_000 }).toMatchObject([{ environment: 'mute' }])
    for (const socket of sockets) socket.destroy()
    mute.close()
  })
})

describe('the selection of a gateway', () => {
  it('shows the servers of what is selected, in any case those of the configuration', async () => {
    const target = await world.http('--env', 'envb')
    await using client = await connectV2(target, newEars())
    const names = await untilListed(client, 'notes__where', 'envb__notes__where')
    expect(names.some((name) => name.startsWith('enva__'))).toBe(false)
    // Its introduction waits for servers for a moment only, and these are up now.
    await using next = await connectV2(target, newEars())
    expect(next.instructions).toContain('notes (environment envb)\n\nNotes at envb.')
    expect(next.instructions).toContain('notes\n\nNotes at local.')
  })

  it('is each client’s own where several share a broker', async () => {
    const places = ['enva', 'envb'] as const
    const clients = await Promise.all(places.map((place) => connectV2(world.brokered('--env', place), newEars())))
    for (const [index, client] of clients.entries()) {
      const [mine, other] = index === 0 ? (['enva', 'envb'] as const) : (['envb', 'enva'] as const)
      const names = await untilListed(client, 'notes__where', `${mine}__notes__where`)
      expect(names.some((name) => name.startsWith(other))).toBe(false)
      expect(textOf(await client.callTool(`${mine}__notes__where`))).toContain(`${mine} `)
    }
    await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()))
  })

  it('is refused with the choices where it can’t be', async () => {
    const refused = await world.home.reeve(['serve', '--http', '127.0.0.1:0', '--env', 'local', '--env', 'envc'])
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain("no environment 'envc': there are local, enva, envb")
  })

  it.each([
    ['over HTTP', (args: string[]) => world.http(...args)],
    ['from a broker', async (args: string[]) => world.brokered(...args)],
  ])('may be one server, shown as itself %s', async (_name, open) => {
    const target = await open(['--transparent', '--only', 'notes', '--env', 'enva'])
    await using client = await connectV2(target, newEars())
    expect(client.server).toMatchObject({ name: 'placed-notes' })
    await untilListed(client, 'where')
    const tools = await client.listTools()
    expect(tools.find(({ name }) => name === 'where')).toMatchObject({ title: 'Where am I' })
    expect(textOf(await client.callTool('where'))).toContain('enva')
    expect(textOf(await client.callTool('roots'))).toContain('work%20space')
    expect(await client.read('note://shared')).toMatchObject([{ uri: 'note://shared', text: 'enva' }])
  })
})
