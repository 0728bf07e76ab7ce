import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/protocol/index.js'
import { type Gateway, type Home, openGateway, openHome, TOKEN } from './gateway/harness.js'
import { RawSession, type RawStream } from './gateway/raw-http.js'
import { RawModern } from './gateway/raw-modern.js'

let home: Home
let gateway: Gateway
/** One that does not wait for anybody. */
let hasty: Gateway
beforeAll(async () => {
  home = await openHome((path) => ({
    asking: { args: ['--record', `${path}/asking.record`], toml: 'default_tools_approval_mode = "prompt"' },
  }))
  gateway = await openGateway(home.reeve)
  hasty = await openGateway(home.reeve, {
    startThread: (thread) => home.reeve.startThread({ ...thread, approvalTimeoutMs: 50 }),
  })
})
afterAll(async () => {
  await hasty[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

const FORMS = { elicitation: {} }
const call = (message: string) => ({ name: 'asking__echo', arguments: { message } })
const legacy = (at = gateway) => RawSession.open(at.url, { token: TOKEN, capabilities: FORMS })
const modern = (at = gateway) => new RawModern(at.url, { token: TOKEN, capabilities: FORMS })

/** Whether the server got a call with this text. */
async function isCarriedOut(message: string): Promise<boolean> {
  const calls = (await home.recorded('asking')).filter(({ method }) => method === 'tools/call')
  return calls.some(({ params }) => JSON.stringify(params).includes(`"${message}"`))
}

/** The question on the stream of a call, and how to answer it. */
async function questionOn(stream: RawStream, session: RawSession) {
  const question = await stream.message()
  expect(question).toMatchObject({ method: 'elicitation/create', params: { _meta: { tool_name: 'echo' } } })
  return {
    params: question.params,
    answer: (body: JsonObject) => session.post({ jsonrpc: '2.0', id: question.id, ...body }),
  }
}

const REFUSED = {
  message: expect.stringContaining('`reeve approvals allow asking echo`'),
  data: { code: 'approval_required' },
}

describe('a legacy client that is asked', () => {
  it.each<[string, JsonObject]>([
    ['nothing', {}],
    ['another action', { action: 'ACCEPT', content: {} }],
    ['an action that is no text', { action: ['accept'] }],
    ['yes in a form of its own', { approved: true, content: { action: 'accept' } }],
  ])('and says %s has its call cancelled, and nothing is sent', async (text, result) => {
    const session = await legacy()
    const stream = await session.stream('tools/call', call(`legacy ${text}`))
    await (await questionOn(stream, session)).answer({ result })
    expect(await stream.message()).toMatchObject({
      error: { message: expect.stringContaining('user cancelled MCP tool call') },
    })
    expect(await isCarriedOut(`legacy ${text}`)).toBe(false)
  })

  it('and answers with an error is told how the call can be allowed', async () => {
    const session = await legacy()
    const stream = await session.stream('tools/call', call('legacy error'))
    await (await questionOn(stream, session)).answer({ error: { code: -32601, message: 'no forms after all' } })
    expect(await stream.message()).toMatchObject({ error: REFUSED })
    expect(await isCarriedOut('legacy error')).toBe(false)
  })

  it('and never answers is told so, within the bound', async () => {
    const session = await legacy(hasty)
    const stream = await session.stream('tools/call', call('legacy silence'))
    await questionOn(stream, session)
    const next = await stream.message()
    // The question is taken back first.
    const last = next.method === 'notifications/cancelled' ? await stream.message() : next
    expect(last).toMatchObject({ error: { ...REFUSED, message: expect.stringContaining('nobody answered in time') } })
    expect(await isCarriedOut('legacy silence')).toBe(false)
  })

  it('and ends its session meanwhile has made no call', async () => {
    const session = await legacy()
    const stream = await session.stream('tools/call', call('legacy end'))
    await questionOn(stream, session)
    expect((await session.end()).status).toBeLessThan(300)
    while ((await stream.next()) !== undefined);
    // Another one is served, and the server has got nothing of the first.
    const other = await legacy()
    const after = await other.stream('tools/call', call('after the end'))
    await (await questionOn(after, other)).answer({ result: { action: 'accept', content: {} } })
    expect(await after.message()).toMatchObject({ result: { content: [{ text: 'after the end' }] } })
    expect(await isCarriedOut('legacy end')).toBe(false)
  })

  it('and cancels its call meanwhile has made none', async () => {
    const session = await legacy()
    const stream = await session.stream('tools/call', call('legacy cancel'), 'mine')
    const question = await questionOn(stream, session)
    await session.notify('notifications/cancelled', { requestId: 'mine' })
    await question.answer({ result: { action: 'accept', content: {} } })
    expect((await session.request('ping')).json()).toMatchObject({ result: {} })
    expect(await isCarriedOut('legacy cancel')).toBe(false)
  })
})

describe('a modern client that is asked', () => {
  async function asked(message: string, at = gateway) {
    const client = modern(at)
    const { name, arguments: args } = call(message)
    const result = await client.call(name, args)
    const requests = result.inputRequests as Record<string, JsonObject>
    expect(Object.values(requests)).toMatchObject([{ method: 'elicitation/create' }])
    const answer = (said: JsonObject) =>
      client.call(name, args, {
        inputResponses: Object.fromEntries(Object.keys(requests).map((key) => [key, said])),
        ...(result.requestState !== undefined && { requestState: result.requestState }),
      })
    return { result, answer }
  }

  it('in a result says yes in its next request, and the call is made once', async () => {
    const { answer } = await asked('modern yes')
    expect(await answer({ action: 'accept', content: {} })).toMatchObject({ content: [{ text: 'modern yes' }] })
    expect(await isCarriedOut('modern yes')).toBe(true)
  })

  it.each<[string, JsonObject, string]>([
    ['no', { action: 'decline' }, 'user rejected MCP tool call'],
    ['nothing', {}, 'user cancelled MCP tool call'],
    ['garbage', { action: 7, yes: true }, 'user cancelled MCP tool call'],
  ])('and says %s has its call refused', async (text, said, message) => {
    const { answer } = await asked(`modern ${text}`)
    await expect(answer(said)).rejects.toThrow(message)
    expect(await isCarriedOut(`modern ${text}`)).toBe(false)
  })

  it('and never comes back has made no call; one that comes too late is told how to allow it', async () => {
    const client = modern(hasty)
    const { name, arguments: args } = call('modern late')
    let open = (await asked('modern late', hasty)).result
    const error = await (async () => {
      // It comes back, and has found no answer yet.
      for (;;) open = await client.call(name, args, { requestState: open.requestState ?? '' })
    })().catch((reason: unknown) => reason)
    expect(error).toMatchObject({ ...REFUSED, message: expect.stringContaining('nobody answered in time') })
    expect(await isCarriedOut('modern late')).toBe(false)
  })
})

describe('two clients at once', () => {
  it('are each asked about their own call, and one’s yes is no yes for the other', async () => {
    const [one, two] = await Promise.all([legacy(), legacy()])
    const [first, second] = await Promise.all([
      one.stream('tools/call', call('of one'), 1),
      two.stream('tools/call', call('of two'), 1),
    ])
    const [ofOne, ofTwo] = await Promise.all([questionOn(first, one), questionOn(second, two)])
    expect(ofOne.params).toMatchObject({ _meta: { tool_params: { message: 'of one' } } })
    expect(ofTwo.params).toMatchObject({ _meta: { tool_params: { message: 'of two' } } })
    // With the other's session, an answer is nobody's.
    await two.post({ jsonrpc: '2.0', id: 'no such question', result: { action: 'accept', content: {} } })
    await ofOne.answer({ result: { action: 'accept', content: {} } })
    await ofTwo.answer({ result: { action: 'decline' } })
    expect(await first.message()).toMatchObject({ result: { content: [{ text: 'of one' }] } })
    expect(await second.message()).toMatchObject({
      error: { message: expect.stringContaining('user rejected MCP tool call') },
    })
    expect(await isCarriedOut('of two')).toBe(false)
  })
})
