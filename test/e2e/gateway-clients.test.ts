import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Gateway, type Home, openGateway, openHome, TOKEN } from './gateway/harness.js'
import { type BuiltProgram, buildProgram } from './gateway/program.js'
import {
  connectV1,
  connectV2,
  type Ears,
  type Heard,
  MODERN,
  type SdkClient,
  type Target,
} from './gateway/sdk-clients.js'

let home: Home
let gateway: Gateway
let program: BuiltProgram
beforeAll(async () => {
  home = await openHome((path) => ({
    notes: { args: ['--instructions', 'Write short notes.', '--list-changed', '--record', `${path}/notes.record`] },
    files: { args: ['--no-prompts'] },
  }))
  gateway = await openGateway(home.reeve)
  program = await buildProgram('stdio-host')
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await program[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

const http = (): Target => ({ kind: 'http', url: gateway.url, token: TOKEN })
const stdio = (): Target => ({
  kind: 'stdio',
  command: program.command,
  args: program.args,
  env: { PATH: process.env.PATH ?? '', REEVE_HOME: home.path, HOME: home.path },
})

const clients: [string, (ears: Ears) => Promise<SdkClient>][] = [
  ['SDK v2 over HTTP', (ears) => connectV2(http(), ears)],
  ['SDK v2 over HTTP, modern', (ears) => connectV2(http(), ears, { pin: MODERN })],
  ['SDK v2 over HTTP, probing', (ears) => connectV2(http(), ears, 'auto')],
  ['SDK v1 over HTTP', (ears) => connectV1(http(), ears)],
  ['SDK v2 over stdio', (ears) => connectV2(stdio(), ears)],
  ['SDK v2 over stdio, modern', (ears) => connectV2(stdio(), ears, { pin: MODERN })],
  ['SDK v2 over stdio, probing', (ears) => connectV2(stdio(), ears, 'auto')],
  ['SDK v1 over stdio', (ears) => connectV1(stdio(), ears)],
]

describe.each(clients)('%s', (_name, connect) => {
  const heard: Heard[] = []
  const elicited: unknown[] = []
  let client: SdkClient
  beforeAll(async () => {
    client = await connect({
      heard,
      onElicit: (params) => {
        elicited.push(params)
        return { action: 'accept', content: { name: 'Ada' } }
      },
    })
  })
  afterAll(() => client[Symbol.asyncDispose]())

  const text = async (name: string, args?: Record<string, unknown>) => {
    const { content } = await client.callTool(name, args)
    return (content as { text: string }[])[0]?.text ?? ''
  }

  it('is introduced', async () => {
    expect(client.server).toMatchObject({ name: 'reeve', title: 'Reeve', version: '9.9.9' })
    expect(client.instructions).toContain('# MCP server: notes\n\nWrite short notes.')
    expect(client.capabilities).toMatchObject({ tools: { listChanged: true }, resources: { subscribe: true } })
    await client.ping()
  })

  it('lists tools of all servers under readable names, in one order', async () => {
    const names = (await client.listTools()).map(({ name }) => name)
    expect(names).toContain('notes__echo')
    expect(names).toContain('files__echo')
    expect(new Set(names).size).toBe(names.length)
    expect((await client.listTools()).map(({ name }) => name)).toEqual(names)
  })

  it('calls the tool of the server that it names', async () => {
    expect(await text('notes__echo', { message: 'hi' })).toBe('hi')
    expect(JSON.parse(await text('notes__process')).pid).not.toBe(JSON.parse(await text('files__process')).pid)
    expect(await client.callTool('files__add', { a: 2, b: 3 })).toMatchObject({ structuredContent: { sum: 5 } })
    expect(await client.callTool('files__fails', { message: 'no' })).toMatchObject({ isError: true })
  })

  it("gets a server's own error with its code and data", async () => {
    await expect(client.callTool('notes__rpc_error', { code: -32050, message: 'mine' })).rejects.toMatchObject({
      code: -32050,
      message: expect.stringContaining('mine'),
      data: { reason: 'asked for' },
    })
    await expect(client.callTool('notes__nothing')).rejects.toMatchObject({ code: -32602 })
  })

  it('sees progress before the answer', async () => {
    const seen: unknown[] = []
    await client.callTool('notes__progress', { steps: 3, ms: 10 }, { onProgress: (progress) => seen.push(progress) })
    // The SDKs drop what reaches them in one piece with the answer.
    expect(seen.length).toBeGreaterThan(0)
    const whole = [1, 2, 3].map((progress) => ({ progress, total: 3, message: `step ${progress}` }))
    expect(seen).toMatchObject(whole.slice(0, seen.length))
  })

  it('cancels as far as the server', async () => {
    const controller = new AbortController()
    const call = client.callTool('notes__hang', {}, { signal: controller.signal })
    const ofCall = async () => (await home.recorded('notes')).filter(({ method }) => method === 'tools/call').at(-1)
    await expect.poll(ofCall).toMatchObject({ params: { name: 'hang' } })
    const { id } = (await ofCall()) ?? {}
    controller.abort()
    await expect(call).rejects.toThrow()
    await expect
      .poll(async () =>
        (await home.recorded('notes')).filter(({ method }) => method === 'notifications/cancelled').at(-1),
      )
      .toMatchObject({ params: { requestId: id } })
  })

  it('answers what servers ask: elicitation, sampling, roots', async () => {
    expect(JSON.parse(await text('notes__ask'))).toEqual({ action: 'accept', content: { name: 'Ada' } })
    expect(elicited.at(-1)).toMatchObject({ message: 'Your name?', requestedSchema: { required: ['name'] } })
    const sampling = { messages: [{ role: 'user', content: { type: 'text', text: 'q' } }], maxTokens: 5 }
    expect(JSON.parse(await text('files__ask', { method: 'sampling/createMessage', params: sampling }))).toMatchObject({
      content: { text: 'sampled' },
    })
    expect(JSON.parse(await text('files__ask', { method: 'roots/list', params: {} }))).toMatchObject({
      roots: [{ uri: 'file:///work', name: 'work' }],
    })
    expect(JSON.parse(await text('files__ask', { method: 'x/unknown', params: {} }))).toMatchObject({
      error: { code: -32601 },
    })
  })

  it('tells servers that its roots changed', async ({ skip }) => {
    if (client.era === 'modern') return skip('a modern client is asked whenever the roots matter')
    await client.rootsChanged()
    await expect
      .poll(async () => (await home.recorded('notes')).map(({ method }) => method))
      .toContain('notifications/roots/list_changed')
  })

  it('tells servers what it can do, and who asks for all that can do the same', async () => {
    const initialize = (await home.recorded('notes')).findLast(({ method }) => method === 'initialize')
    expect(initialize).toMatchObject({
      params: {
        clientInfo: { name: 'reeve' },
        capabilities: { roots: { listChanged: true }, sampling: {}, elicitation: { form: {} } },
      },
    })
  })

  it('reads resources by their qualified names, and expands templates', async () => {
    const uris = (await client.listResources()).map(({ uri }) => uri)
    expect(uris).toContain('reeve://notes/echo://greeting')
    expect(uris).toContain('reeve://files/echo://greeting')
    for (const uri of uris) expect(await client.read(uri)).toMatchObject([{ uri }])
    const [template] = (await client.listTemplates()).map(({ uriTemplate }) => uriTemplate)
    expect(template).toBe('reeve://files/echo://say/{text}')
    for (const value of ['a%2Fb', '%C3%A9', 'x%20y']) {
      const uri = template?.replace('{text}', value) ?? ''
      expect(await client.read(uri)).toMatchObject([{ uri, text: decodeURIComponent(value) }])
    }
  })

  it('reads what a result links to', async () => {
    const { content } = await client.callTool('notes__media')
    const links = (content as { type: string; uri?: string; resource?: { uri: string } }[]).flatMap((block) =>
      block.type === 'resource_link' ? [block.uri] : block.type === 'resource' ? [block.resource?.uri] : [],
    )
    expect(links).toEqual(['reeve://notes/echo://greeting', 'reeve://notes/echo://greeting'])
    expect(await client.read(links[0] ?? '')).toMatchObject([{ text: 'hello' }])
  })

  it('refuses a raw URI that several servers have, with the choices', async () => {
    await expect(client.read('echo://greeting')).rejects.toMatchObject({
      data: { choices: ['reeve://files/echo://greeting', 'reeve://notes/echo://greeting'] },
    })
  })

  it('hears of updates under the name that it subscribed to', async () => {
    await client.subscribe('reeve://notes/echo://counter')
    expect(await text('notes__touch', { uri: 'echo://counter' })).toBe('sent')
    expect(await text('files__touch', { uri: 'echo://counter' })).toBe('nobody subscribed')
    await expect
      .poll(() => heard)
      .toContainEqual(
        expect.objectContaining({
          method: 'notifications/resources/updated',
          params: expect.objectContaining({ uri: 'reeve://notes/echo://counter' }),
        }),
      )
    await client.unsubscribe('reeve://notes/echo://counter')
    expect(await text('notes__touch', { uri: 'echo://counter' })).toBe('nobody subscribed')
  })

  it('gets prompts and completions by readable names', async () => {
    expect((await client.listPrompts()).map(({ name }) => name)).toEqual(['notes__hello', 'notes__review'])
    expect(await client.getPrompt('notes__review', { file: 'a.ts' })).toHaveProperty('messages')
    await expect(client.getPrompt('files__hello')).rejects.toMatchObject({ code: -32602 })
    const argument = { name: 'tone', value: '' }
    const prompt = await client.complete({ ref: { type: 'ref/prompt', name: 'notes__review' }, argument })
    expect(prompt).toHaveProperty('values')
    const uri = 'reeve://files/echo://say/{text}'
    const resource = await client.complete({
      ref: { type: 'ref/resource', uri },
      argument: { name: 'text', value: '' },
    })
    expect(resource).toHaveProperty('values')
  })

  it('hears log messages with the server named, down to its level', async () => {
    await client.callTool('notes__log', { level: 'info', data: { whole: [1] } })
    await expect
      .poll(() => heard)
      .toContainEqual(
        expect.objectContaining({
          method: 'notifications/message',
          params: { level: 'info', logger: 'notes/echo', data: { whole: [1] } },
        }),
      )
    await client.setLevel('warning')
    await client.callTool('notes__log', { level: 'info', data: 'too quiet' })
    await client.callTool('notes__log', { level: 'error', data: 'loud enough' })
    await expect.poll(() => JSON.stringify(heard)).toContain('loud enough')
    expect(JSON.stringify(heard)).not.toContain('too quiet')
    await client.setLevel('debug')
  })

  it('hears notifications that nobody here knows', async () => {
    await client.callTool('files__notify', { method: 'notifications/x/custom', params: { kept: [null, 0] } })
    await expect
      .poll(() => heard)
      .toContainEqual(expect.objectContaining({ method: 'notifications/x/custom', params: { kept: [null, 0] } }))
  })

  it('hears that tools changed, and finds and loses them', async () => {
    const changes = () => heard.filter(({ method }) => method === 'notifications/tools/list_changed').length
    const before = changes()
    await client.callTool('notes__add_tool', { name: 'fresh' })
    await expect.poll(changes).toBeGreaterThan(before)
    const names = async () => (await client.listTools()).map(({ name }) => name)
    await expect.poll(names).toContain('notes__fresh')
    expect(await text('notes__fresh')).toBe('fresh')
    await client.callTool('notes__remove_tool', { name: 'fresh' })
    await expect.poll(changes).toBeGreaterThan(before + 1)
    await expect
      .poll(() => client.callTool('notes__fresh').catch((error: unknown) => error))
      .toMatchObject({
        code: -32602,
        message: expect.stringContaining('no longer offered'),
      })
  })

  it('makes 64 calls at once, each with its own answer', async () => {
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, index) =>
        text(index % 2 === 0 ? 'notes__echo' : 'files__echo', { message: `m${index}` }),
      ),
    )
    expect(answers).toEqual(Array.from({ length: 64 }, (_, index) => `m${index}`))
  })
})
