import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/protocol/index.js'
import { type Gateway, type Home, openGateway, openHome } from './gateway/harness.js'
import { RawSession } from './gateway/raw-http.js'
import { RawModern, textOf } from './gateway/raw-modern.js'

const FULL = (era: string) => fileURLToPath(new URL(`../fixtures/full/server-${era}.mjs`, import.meta.url))
const ASKABLE = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }
const SAMPLED = { role: 'assistant', model: 'none', content: { type: 'text', text: 'sampled' } }

let home: Home
let gateway: Gateway
beforeAll(async () => {
  home = await openHome((path) => ({
    old: { script: FULL('2025'), args: ['--stdio'] },
    new: { script: FULL('2026'), args: ['--stdio'] },
    notes: { args: ['--record', `${path}/notes.record`] },
  }))
  gateway = await openGateway(home.reeve, {
    authentication: {
      kind: 'custom',
      authenticate: (header) => (header === undefined ? undefined : { id: header.replace('Bearer ', '') }),
    },
    modernLimits: { heldCallsPerPrincipal: 3 },
  })
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

const client = (capabilities: JsonObject = ASKABLE, token = 'ada') =>
  new RawModern(gateway.url, { token, capabilities })
const questionsOf = (result: JsonObject) =>
  result.inputRequests as Record<string, { method: string; params: JsonObject }>
/** The same answer to every question. */
const answersTo = (result: JsonObject, answer: JsonObject): JsonObject => ({
  inputResponses: Object.fromEntries(Object.keys(questionsOf(result)).map((name) => [name, answer])),
  ...(result.requestState !== undefined && { requestState: result.requestState }),
})
const accept = (content: JsonObject) => ({ action: 'accept', content })
const errorOf = (attempt: Promise<unknown>) => attempt.then(() => undefined).catch((error: unknown) => error)

describe('a legacy server that asks a modern client', () => {
  it('holds its call until the client is back with the answer, over another connection', async () => {
    const args = { message: 'Who are you?' }
    const asked = await client().call('old__test_elicitation', args)
    expect(asked).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) })
    expect(Object.values(questionsOf(asked))).toMatchObject([
      { method: 'elicitation/create', params: { message: 'Who are you?', requestedSchema: { type: 'object' } } },
    ])
    // Every request of this client has a connection of its own.
    const answered = await client().call('old__test_elicitation', args, answersTo(asked, accept({ username: 'ada' })))
    expect(answered).toMatchObject({ resultType: 'complete' })
    expect(textOf(answered)).toContain('"username":"ada"')
  })

  it('is asked back for everything that is open at once, and again for what was not answered', async () => {
    const asked = await client().call('old__test_input_required_result_multiple_inputs')
    const questions = questionsOf(asked)
    expect(Object.values(questions).map(({ method }) => method)).toEqual([
      'elicitation/create',
      'sampling/createMessage',
      'roots/list',
    ])
    const [name, model, roots] = Object.keys(questions) as [string, string, string]
    const some = { [name]: accept({ name: 'Ada' }), [roots]: 'no answer', unasked: { action: 'accept' } }
    const again = await client().call(
      'old__test_input_required_result_multiple_inputs',
      {},
      {
        inputResponses: some,
        requestState: asked.requestState ?? '',
      },
    )
    expect(Object.keys(questionsOf(again))).toEqual([model, roots])
    expect(again.requestState).not.toBe(asked.requestState)
    const rest = { [model]: SAMPLED, [roots]: { roots: [{ uri: 'file:///a' }, { uri: 'file:///b' }] } }
    const answered = await client().call(
      'old__test_input_required_result_multiple_inputs',
      {},
      {
        inputResponses: rest,
        requestState: again.requestState ?? '',
      },
    )
    expect(textOf(answered)).toBe('sampled Ada, 2 roots')
  })

  it('asks in as many rounds as it needs', async () => {
    const tool = 'old__test_input_required_result_multi_round'
    const first = await client().call(tool)
    const second = await client().call(tool, {}, answersTo(first, accept({ name: 'Ada' })))
    expect(Object.values(questionsOf(second))[0]?.params.message).toContain('Step 2')
    expect(textOf(await client().call(tool, {}, answersTo(second, accept({ color: 'red' }))))).toBe('Ada likes red')
  })

  it('asks during a read too', async () => {
    const uri = 'reeve://old/test://needs-input'
    const asked = await client().result('resources/read', { uri })
    expect(asked.resultType).toBe('input_required')
    const read = await client().result('resources/read', { uri, ...answersTo(asked, accept({ name: 'Ada' })) })
    expect(read).toMatchObject({ contents: [{ uri, text: 'Read by Ada' }], ttlMs: 0 })
  })

  it('is told what the client does not do, and nothing is sent', async () => {
    for (const [tool, args] of [
      ['old__test_elicitation', { message: '?' }],
      ['old__test_sampling', { prompt: '?' }],
      ['old__test_roots', {}],
      ['old__test_elicitation_url', {}],
    ] as const) {
      const result = await client({}).call(tool, args)
      expect(result).toMatchObject({ resultType: 'complete', isError: true })
    }
    // Forms, but no pages.
    expect(await client({ elicitation: {} }).call('old__test_elicitation_url')).toMatchObject({ isError: true })
  })

  it('may want a page visited first: then the call is made again after the visit', async () => {
    const tool = 'old__test_url_elicitation_required'
    const asked = await client().call(tool)
    expect(Object.values(questionsOf(asked))).toMatchObject([
      { method: 'elicitation/create', params: { mode: 'url', url: 'https://example.com/consent' } },
    ])
    // The server never finds the visit good enough.
    const again = await client().call(tool, {}, answersTo(asked, { action: 'accept' }))
    expect(again.resultType).toBe('input_required')
    expect(await errorOf(client().call(tool, {}, answersTo(again, { action: 'decline' })))).toMatchObject({
      code: -32602,
      data: { code: 'url_elicitation_declined' },
    })
    const answer = await client({}).request('tools/call', { name: tool, arguments: {} })
    expect([answer.status, answer.json().error]).toMatchObject([
      400,
      { code: -32021, data: { requiredCapabilities: { elicitation: { url: {} } } } },
    ])
  })

  it('has each of several calls at once answered with its own', async () => {
    const one = client()
    const calls = [1, 2, 3, 4].map(async (number) => {
      const args = { message: `m${number}` }
      const asked = await one.call('old__test_elicitation', args)
      expect(Object.values(questionsOf(asked))[0]?.params.message).toBe(`m${number}`)
      return textOf(await one.call('old__test_elicitation', args, answersTo(asked, accept({ username: `u${number}` }))))
    })
    const texts = await Promise.all(calls)
    expect(texts.map((text) => /u\d/.exec(text)?.[0])).toEqual(['u1', 'u2', 'u3', 'u4'])
  })

  it('serves others of its calls while one waits for an answer that may never come', async () => {
    const one = client({ ...ASKABLE, 'com.example/absent': {} })
    await one.call('old__test_elicitation', { message: 'nobody answers' })
    expect(textOf(await one.call('old__test_simple_text'))).toContain('simple text')
    const asked = await one.call('old__test_elicitation', { message: 'another' })
    expect(Object.values(questionsOf(asked))[0]?.params.message).toBe('another')
  })

  it('tells its progress under the token of the request that waits now', async () => {
    const params = { name: 'old__test_streaming_elicitation', arguments: {} }
    const first = await client().request('tools/call', params, { meta: { progressToken: 'one' } })
    const messages = first.messages()
    expect(messages[0]).toMatchObject({ method: 'notifications/progress', params: { progressToken: 'one' } })
    const asked = messages.at(-1)?.result as JsonObject
    const answered = await client().call(params.name, {}, answersTo(asked, accept({ username: 'a' })))
    expect(answered.resultType).toBe('complete')
  })
})

describe('the state of a request', () => {
  const tool = 'old__test_elicitation'
  const args = { message: '?' }
  const answer = accept({ username: 'ada' })
  const refused = (code: string) => ({ code: -32602, data: { code } })

  it('is of no use when it was changed, anywhere', async () => {
    const asked = await client().call(tool, args)
    const state = String(asked.requestState)
    for (const at of [0, 8, 30, Math.floor(state.length / 2), state.length - 1]) {
      const changed = state.slice(0, at) + (state[at] === 'A' ? 'B' : 'A') + state.slice(at + 1)
      const attempt = client().call(tool, args, { ...answersTo(asked, answer), requestState: changed })
      expect(await errorOf(attempt)).toMatchObject(refused('request_state_invalid'))
    }
    for (const requestState of ['', 'reeve1.', `${state}A`, `${state}=`, 'x'.repeat(100_000)]) {
      const attempt = client().call(tool, args, { ...answersTo(asked, answer), requestState })
      expect(await errorOf(attempt)).toMatchObject(refused('request_state_invalid'))
    }
    expect(await errorOf(client().call(tool, args, { requestState: 7 }))).toMatchObject({ code: -32602 })
    expect(await client().call(tool, args, answersTo(asked, answer))).toMatchObject({ resultType: 'complete' })
  })

  it('is used once', async () => {
    const asked = await client().call(tool, args)
    const attempts = [1, 2].map(() =>
      client().request('tools/call', { name: tool, arguments: args, ...answersTo(asked, answer) }),
    )
    const outcomes = (await Promise.all(attempts)).map((outcome) => outcome.json())
    expect(outcomes.filter(({ result }) => result !== undefined)).toHaveLength(1)
    expect(outcomes.find(({ error }) => error !== undefined)?.error).toMatchObject(refused('request_state_used'))
    expect(await errorOf(client().call(tool, args, answersTo(asked, answer)))).toMatchObject(
      refused('request_state_used'),
    )
  })

  it('is for the one who got it', async () => {
    const asked = await client().call(tool, args)
    const attempt = client(ASKABLE, 'eve').call(tool, args, answersTo(asked, answer))
    expect(await errorOf(attempt)).toMatchObject(refused('request_state_foreign'))
    expect(await client().call(tool, args, answersTo(asked, answer))).toMatchObject({ resultType: 'complete' })
  })

  it('is for the request that it was given to', async () => {
    const asked = await client().call(tool, args)
    const others = [
      client().call(tool, { message: '!' }, answersTo(asked, answer)),
      client().call('old__test_sampling', args, answersTo(asked, answer)),
      client().call(tool, args, { ...answersTo(asked, answer), more: 1 }),
      client().result('prompts/get', { name: tool, arguments: args, ...answersTo(asked, answer) }),
    ]
    for (const other of others) expect(await errorOf(other)).toMatchObject(refused('request_state_mismatched'))
    // The order of members makes no other request.
    const more = { a: 1, b: { c: [1], d: 2 } }
    const turned = { b: { d: 2, c: [1] }, a: 1 }
    const again = await client().call(tool, { ...args, ...more })
    expect(await client().call(tool, { ...turned, ...args }, answersTo(again, answer))).toMatchObject({
      resultType: 'complete',
    })
    await client().call(tool, args, answersTo(asked, answer))
  })

  it('that a modern server gave is wrapped, and handed back as it was', async () => {
    const sealed = 'new__test_input_required_result_request_state'
    const asked = await client().call(sealed)
    expect(Object.keys(questionsOf(asked))).toEqual(['confirm'])
    expect(textOf(await client().call(sealed, {}, answersTo(asked, accept({ ok: true }))))).toBe('state-ok')
    expect(await errorOf(client().call(sealed, {}, answersTo(asked, accept({ ok: true }))))).toMatchObject(
      refused('request_state_used'),
    )
    // One that asks without a state is asked without one.
    const plain = 'new__test_input_required_result_elicitation'
    const open = await client().call(plain)
    expect(open).not.toHaveProperty('requestState')
    expect(textOf(await client().call(plain, {}, answersTo(open, accept({ name: 'Ada' }))))).toBe('Hello, Ada!')
  })
})

describe('calls that wait for their client', () => {
  it('are cancelled when their time is over, and say so', async () => {
    await using short = await openGateway(home.reeve, { modernLimits: { requestStateMs: 50 } })
    const one = new RawModern(short.url, { token: 'e2e-token-'.padEnd(43, 'x'), capabilities: ASKABLE })
    const asked = await one.call('notes__ask')
    const cancelled = async () =>
      (await home.recorded('notes')).filter(({ method }) => method === 'notifications/cancelled').length
    await expect.poll(cancelled).toBeGreaterThan(0)
    const answer = answersTo(asked, accept({ name: 'late' }))
    expect(await errorOf(one.call('notes__ask', {}, answer))).toMatchObject({
      code: -32602,
      data: { code: 'request_state_expired' },
    })
  })

  it('are bounded: the oldest of a principal gives way, and nobody else', async () => {
    const other = await client(ASKABLE, 'eve').call('old__test_elicitation', { message: 'eve' })
    const asked: JsonObject[] = []
    for (let index = 0; index < 4; index += 1) {
      asked.push(await client({ ...ASKABLE, 'com.example/n': index }).call('old__test_elicitation', { message: 'm' }))
    }
    const back = (index: number) =>
      client({ ...ASKABLE, 'com.example/n': index }).call(
        'old__test_elicitation',
        { message: 'm' },
        answersTo(asked[index] ?? {}, accept({ username: `n${index}` })),
      )
    expect(await errorOf(back(0))).toMatchObject({ code: -32602, data: { code: 'request_state_expired' } })
    for (const index of [1, 2, 3]) expect(textOf(await back(index))).toContain(`n${index}`)
    const eve = await client(ASKABLE, 'eve').call(
      'old__test_elicitation',
      { message: 'eve' },
      answersTo(other, accept({ username: 'eve' })),
    )
    expect(textOf(eve)).toContain('eve')
  })

  it('are cancelled with the gateway', async () => {
    const gone = await openGateway(home.reeve)
    const one = new RawModern(gone.url, { token: 'e2e-token-'.padEnd(43, 'x'), capabilities: ASKABLE })
    await one.call('old__test_elicitation', { message: '?' })
    await gone[Symbol.asyncDispose]()
    await gone.serving.closed
  })
})

describe('a modern server that asks a legacy client', () => {
  it('has the client asked, with what this client needs to answer', async () => {
    const session = await RawSession.open(gateway.url, { token: 'ada', capabilities: ASKABLE })
    const ask = async (name: string, answer: JsonObject) => {
      const stream = await session.stream('tools/call', { name, arguments: {} })
      const asked = await stream.message()
      await session.post({ jsonrpc: '2.0', id: asked.id, result: answer })
      return { asked, result: (await stream.message()).result as JsonObject }
    }
    const form = await ask('new__test_input_required_result_elicitation', accept({ name: 'Ada' }))
    expect(form.asked).toMatchObject({ method: 'elicitation/create', params: { message: 'What is your name?' } })
    expect(textOf(form.result)).toBe('Hello, Ada!')
    expect(form.result).not.toHaveProperty('resultType')
    const page = await ask('new__test_elicitation_url', { action: 'accept' })
    expect(page.asked).toMatchObject({ params: { mode: 'url', elicitationId: expect.any(String) } })
    expect(textOf(page.result)).toBe('Visit: action=accept')
    await session.end()
  })
})
