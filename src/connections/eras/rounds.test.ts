import { describe, expect, it } from 'vitest'
import { ConnectionHarness, type HarnessOptions, PROFILE, tool } from '../../../test/fixtures/connections/harness.js'
import { settle } from '../../../test/fixtures/connections/manual-timers.js'
import { modern } from '../../../test/fixtures/connections/modern-script.js'
import { gate, type Script } from '../../../test/fixtures/connections/scripted-server.js'
import { RpcError } from '../../errors.js'
import type { JsonObject } from '../../protocol/index.js'
import type { FromServer } from '../types.js'

const ALL = { roots: {}, sampling: {}, elicitation: {} }
const ELICIT = { method: 'elicitation/create', params: { mode: 'form', message: 'Who?', requestedSchema: {} } }
const DONE = { resultType: 'complete', content: [{ type: 'text', text: 'done' }] }

function asks(inputRequests: JsonObject | undefined, requestState?: string): JsonObject {
  return {
    resultType: 'input_required',
    ...(inputRequests && { inputRequests }),
    ...(requestState !== undefined && { requestState }),
  }
}

interface Setup {
  readonly capabilities?: JsonObject
  readonly answer?: (question: FromServer, signal: AbortSignal) => Promise<JsonObject>
}

/** A modern server whose answers to `tools/call` come from the list, one a round; the last one repeats. */
async function asking(rounds: (JsonObject | Script)[], { capabilities = ALL, answer }: Setup = {}) {
  const seen: { readonly id: unknown; readonly params: JsonObject }[] = []
  const questions: FromServer[] = []
  const script: Script = (params, request) => {
    const round = rounds[Math.min(seen.length, rounds.length - 1)]
    seen.push({ id: request.id, params })
    return typeof round === 'function' ? round(params, request) : (round ?? DONE)
  }
  const options: HarnessOptions = {
    profile: { ...PROFILE, capabilities },
    scripts: [modern({ 'tools/call': script, 'resources/read': script, 'tools/list': () => ({ tools: [tool('a')] }) })],
    onRequest: async (question, signal) => {
      questions.push(question)
      return answer?.(question, signal) ?? { action: 'accept', content: { name: 'Ada' } }
    },
  }
  const harness = await new ConnectionHarness(options).up()
  const call = (more = {}, how = {}) => harness.request('tools/call', { name: 'a', arguments: { n: 1 }, ...more }, how)
  return { harness, seen, questions, call }
}

/** The params of a round, without what every modern request says. */
function said({ params }: { readonly params: JsonObject } = { params: {} }): JsonObject {
  const { _meta, ...rest } = params
  return rest
}

describe('a request for input', () => {
  it('is answered by whoever caused it, and the request repeated under a new id', async () => {
    const { seen, questions, call } = await asking([asks({ who: ELICIT }, 'sealed'), DONE])
    expect(await call({}, { origin: 'mine' })).toEqual(DONE)
    expect(questions).toMatchObject([{ method: 'elicitation/create', params: ELICIT.params, origin: 'mine' }])
    expect(seen.map(said)).toEqual([
      { name: 'a', arguments: { n: 1 } },
      {
        name: 'a',
        arguments: { n: 1 },
        inputResponses: { who: { action: 'accept', content: { name: 'Ada' } } },
        requestState: 'sealed',
      },
    ])
    expect(new Set(seen.map(({ id }) => id)).size).toBe(2)
  })

  it('asks all of one round at once, under the identifiers of the server', async () => {
    const answered = gate()
    const { questions, seen, call } = await asking(
      [
        asks({
          a: ELICIT,
          ['__proto__']: ELICIT,
          c: { method: 'roots/list' },
          d: { method: 'sampling/createMessage' },
        }),
        DONE,
      ],
      { answer: (question) => answered.passed.then(() => ({ of: question.method })) },
    )
    const outcome = call()
    await settle()
    expect(questions).toHaveLength(4)
    answered.open()
    await outcome
    expect(Object.entries(said(seen[1]).inputResponses as JsonObject)).toEqual([
      ['a', { of: 'elicitation/create' }],
      ['__proto__', { of: 'elicitation/create' }],
      ['c', { of: 'roots/list' }],
      ['d', { of: 'sampling/createMessage' }],
    ])
  })

  it('carries the state of its own round only', async () => {
    const { seen, call } = await asking([
      asks({ a: ELICIT }, 'first'),
      asks({ b: ELICIT }),
      asks({ c: ELICIT }, 'x'),
      DONE,
    ])
    await call()
    expect(seen.map((round) => said(round).requestState)).toEqual([undefined, 'first', undefined, 'x'])
    expect(seen.map((round) => Object.keys((said(round).inputResponses as JsonObject) ?? {}))).toEqual([
      [],
      ['a'],
      ['b'],
      ['c'],
    ])
  })

  it('keeps states of calls under way apart, whatever the order of their answers', async () => {
    const gates = [gate<JsonObject>(), gate<JsonObject>()]
    const byTool: Script = ({ name, requestState, inputResponses }) =>
      requestState === undefined
        ? asks({ q: ELICIT }, `state of ${String(name)}`)
        : { ...DONE, got: { name: name ?? null, requestState, inputResponses: inputResponses ?? null } }
    const { call } = await asking([byTool], {
      answer: ({ origin }) => gates[Number(origin)]?.passed ?? Promise.reject(new Error('not asked')),
    })
    const first = call({ name: 'one' }, { origin: 0 })
    const second = call({ name: 'two' }, { origin: 1 })
    await settle()
    gates[1]?.open({ from: 1 })
    expect(await second).toMatchObject({
      got: { name: 'two', requestState: 'state of two', inputResponses: { q: { from: 1 } } },
    })
    gates[0]?.open({ from: 0 })
    expect(await first).toMatchObject({
      got: { name: 'one', requestState: 'state of one', inputResponses: { q: { from: 0 } } },
    })
  })

  it('costs its call no time', async () => {
    const answered = gate<JsonObject>()
    const { harness, call } = await asking([asks({ a: ELICIT }), DONE], { answer: () => answered.passed })
    const outcome = call({}, { timeoutMs: 50 })
    outcome.catch(() => {})
    await new Promise((resolve) => setTimeout(resolve, 150))
    await harness.timers.advance(60_000)
    answered.open({ action: 'decline' })
    expect(await outcome).toEqual(DONE)
  })

  it('that asks for nothing is repeated after a pause, with the state alone', async () => {
    const { harness, seen, call } = await asking([asks(undefined, 'later'), asks(undefined, 'still later'), DONE])
    const outcome = call()
    await settle()
    expect(seen).toHaveLength(1)
    await harness.timers.advance(100)
    expect(seen).toHaveLength(2)
    await harness.timers.advance(200)
    expect(await outcome).toEqual(DONE)
    expect(seen.map(said).slice(1)).toEqual([
      { name: 'a', arguments: { n: 1 }, requestState: 'later' },
      { name: 'a', arguments: { n: 1 }, requestState: 'still later' },
    ])
  })

  it('goes to the caller as it is who wants that', async () => {
    const question = { ...asks({ a: ELICIT }, 's'), vendor: [1] }
    const { seen, questions, call } = await asking([question, DONE])
    expect(await call({}, { inputRequired: 'return' })).toEqual(question)
    expect(questions).toEqual([])
    const own = { inputResponses: { a: { action: 'cancel' } }, requestState: 's' }
    expect(await call(own, { inputRequired: 'return' })).toEqual(DONE)
    expect(said(seen[1])).toMatchObject(own)
  })

  it('is asked of a reading too', async () => {
    const { harness, seen } = await asking([asks({ a: ELICIT }), { resultType: 'complete', contents: [] }])
    await harness.request('resources/read', { uri: 'file:///a' })
    expect(said(seen[1])).toMatchObject({ uri: 'file:///a', inputResponses: {} })
  })
})

describe('a request for input that can not be met', () => {
  it.each([
    ['elicitation', { sampling: {} }, ELICIT, { elicitation: { form: {} } }],
    [
      'a URL',
      { elicitation: {} },
      { method: 'elicitation/create', params: { mode: 'url' } },
      { elicitation: { url: {} } },
    ],
    ['a form', { elicitation: { url: {} } }, ELICIT, { elicitation: { form: {} } }],
    ['roots', { elicitation: {} }, { method: 'roots/list' }, { roots: {} }],
    ['sampling', { elicitation: {} }, { method: 'sampling/createMessage', params: {} }, { sampling: {} }],
    [
      'sampling with tools',
      { elicitation: {}, sampling: {} },
      { method: 'sampling/createMessage', params: { tools: [] } },
      { sampling: { tools: {} } },
    ],
  ])('for want of %s is refused, and nobody asked', async (_what, capabilities, question, requiredCapabilities) => {
    const { seen, questions, call } = await asking([asks({ ok: ELICIT, missing: question })], { capabilities })
    await expect(call()).rejects.toMatchObject({ rpcCode: -32021, rpcData: { requiredCapabilities } })
    expect(questions).toEqual([])
    expect(seen).toHaveLength(1)
  })

  it('because the client refuses fails with its error, and the other questions end', async () => {
    const ended = gate()
    const { seen, call } = await asking([asks({ a: ELICIT, b: { method: 'roots/list' } })], {
      answer: ({ method }, signal) =>
        method === 'roots/list'
          ? Promise.reject(new RpcError(-32000, 'not today', { why: 'busy' }))
          : new Promise((_, reject) =>
              signal.addEventListener('abort', () => {
                ended.open()
                reject(signal.reason)
              }),
            ),
    })
    await expect(call()).rejects.toMatchObject({ rpcCode: -32000, message: 'not today', rpcData: { why: 'busy' } })
    await ended.passed
    expect(seen).toHaveLength(1)
  })

  it('because the caller leaves ends the question', async () => {
    const ended = gate()
    const { seen, call } = await asking([asks({ a: ELICIT })], {
      answer: (_question, signal) =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => {
            ended.open()
            reject(signal.reason)
          }),
        ),
    })
    const abort = new AbortController()
    const outcome = call({}, { signal: abort.signal })
    outcome.catch(() => {})
    await settle()
    abort.abort()
    await expect(outcome).rejects.toMatchObject({ code: 'cancelled' })
    await ended.passed
    expect(seen).toHaveLength(1)
  })

  it('because it never ends is given up after 16 rounds', async () => {
    const { seen, questions, call } = await asking([asks({ a: ELICIT }, 'again')])
    await expect(call()).rejects.toMatchObject({ code: 'limit_exceeded', message: expect.stringContaining('16') })
    expect([seen.length, questions.length]).toEqual([17, 16])
  })

  it.each<[string, JsonObject]>([
    ['asks for nothing', asks(undefined)],
    ['asks for nothing, in so many words', asks({})],
    ['has a question that is no request', asks({ a: ELICIT, b: 'what?' })],
    ['has a question without a method', asks({ b: { params: {} } })],
  ])('because it %s breaks the protocol', async (_what, round) => {
    const { questions, call } = await asking([round])
    await expect(call()).rejects.toMatchObject({ code: 'protocol_violation' })
    expect(questions).toEqual([])
  })

  it('because its method may not ask breaks the protocol', async () => {
    const harness = await new ConnectionHarness({
      profile: { ...PROFILE, capabilities: ALL },
      scripts: [modern({ 'completion/complete': () => asks({ a: ELICIT }) })],
    }).up()
    await expect(harness.request('completion/complete', {})).rejects.toMatchObject({
      code: 'protocol_violation',
      message: expect.stringContaining('may not ask for'),
    })
  })
})

describe('the type of a result', () => {
  const typed = async (result: JsonObject, capabilities: JsonObject = {}) =>
    (await asking([result], { capabilities })).call()

  it('is complete when there is none', async () => {
    expect(await typed({ content: [] })).toEqual({ content: [] })
  })

  it('of an extension that the client declared passes whole', async () => {
    const task = { resultType: 'task', taskId: 't1', vendor: { x: [null] } }
    expect(await typed(task, { extensions: { 'io.modelcontextprotocol/tasks': {} } })).toEqual(task)
    const unheard = { resultType: 'hologram', beam: 3 }
    expect(await typed(unheard, { extensions: { 'com.example/holograms': {} } })).toEqual(unheard)
  })

  it.each<[string, JsonObject, JsonObject]>([
    ['a task that nobody declared', { resultType: 'task' }, {}],
    ['a task beside another extension', { resultType: 'task' }, { extensions: { 'com.example/x': {} } }],
    ['an unknown type without extensions', { resultType: 'hologram' }, { extensions: {} }],
    ['a type that is no text', { resultType: 7 }, { extensions: { 'com.example/x': {} } }],
  ])('refuses %s', async (_what, result, capabilities) => {
    await expect(typed(result, capabilities)).rejects.toMatchObject({ code: 'protocol_violation' })
  })

  it('means nothing in a legacy answer', async () => {
    const odd = { ...asks({ a: ELICIT }), content: [] }
    const harness = await new ConnectionHarness({ scripts: [{ 'tools/call': () => odd }] }).up()
    expect(await harness.request('tools/call', { name: 'a' })).toEqual(odd)
  })
})
