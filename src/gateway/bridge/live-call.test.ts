import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { serverKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import { LiveCall } from './live-call.js'
import type { WaitingClient } from './waiting-client.js'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const ASKABLE = { elicitation: {}, sampling: {}, roots: {} }

function waiting(over: Partial<WaitingClient> = {}): WaitingClient & { told: [string, JsonObject][] } {
  const told: [string, JsonObject][] = []
  return {
    signal: new AbortController().signal,
    capabilities: ASKABLE,
    progressToken: 'p',
    logLevel: undefined,
    notify: (method, params) => told.push([method, params]),
    told,
    ...over,
  }
}

const question = (message = '?', method = 'elicitation/create') => ({
  key: serverKey('s'),
  method,
  params: { message },
  origin: undefined,
})
const never = new AbortController().signal

describe('a call that outlives the requests of its client', () => {
  it('tells the questions that come together in one turn, and goes on with the answers', async () => {
    const call = new LiveCall(waiting(), true)
    const answers = [call.ask(question('one'), never), call.ask(question('two'), never)]
    const turn = call.next()
    await vi.advanceTimersByTimeAsync(25)
    expect(await turn).toMatchObject({ kind: 'asked' })
    const asked = await call.next()
    expect(asked.kind === 'asked' && [...asked.questions.keys()]).toEqual(['q1', 'q2'])
    call.leave()
    expect(call.isStuck).toBe(true)
    call.comeBack(waiting(), { q1: { action: 'accept' }, q2: { action: 'decline' }, other: {} })
    expect(await Promise.all(answers)).toEqual([{ action: 'accept' }, { action: 'decline' }])
    call.follow(Promise.resolve({ done: true }))
    expect(await call.next()).toEqual({ kind: 'result', result: { done: true } })
  })

  it('ends while nobody waits, and tells it when the client is back', async () => {
    const call = new LiveCall(waiting(), true)
    const asked = call.ask(question(), never)
    call.leave()
    call.follow(Promise.reject(new Error('gave up')))
    await expect(asked).rejects.toThrow('the call has ended')
    call.comeBack(waiting(), {})
    expect(await call.next()).toMatchObject({ kind: 'error', error: { message: 'gave up' } })
    expect(() => call.ask(question(), never)).toThrow('the client has left')
  })

  it('is cancelled when the client leaves that waits for it, and refuses what is asked then', async () => {
    const left = new AbortController()
    const call = new LiveCall(waiting({ signal: left.signal }), true)
    const asked = call.ask(question(), never)
    const turn = call.next()
    left.abort()
    expect(await turn).toMatchObject({ kind: 'error', error: { code: 'cancelled' } })
    await expect(asked).rejects.toMatchObject({ code: 'cancelled' })
    expect(call.signal.aborted).toBe(true)
    expect(() => call.ask(question(), never)).toThrow('the client has left')
    call.comeBack(waiting(), {})
    expect(call.waiting).toBeUndefined()
  })

  it('forgets a question that the server takes back', async () => {
    const back = new AbortController()
    const call = new LiveCall(waiting(), true)
    const asked = call.ask(question(), back.signal)
    const turn = call.next()
    back.abort()
    await expect(asked).rejects.toMatchObject({ code: 'cancelled' })
    await vi.advanceTimersByTimeAsync(25)
    await expect(call.ask(question(), back.signal)).rejects.toMatchObject({ code: 'cancelled' })
    call.follow(Promise.resolve({}))
    expect(await turn).toMatchObject({ kind: 'result' })
  })

  it('asks nothing that the client did not declare last, and nothing in answer to other methods', () => {
    const call = new LiveCall(waiting({ capabilities: { elicitation: { url: {} } } }), true)
    expect(() => call.ask(question('?', 'sampling/createMessage'), never)).toThrow('does not support')
    expect(() => call.ask(question(), never)).toThrow('does not support')
    call.leave()
    call.comeBack(waiting(), {})
    void call.ask(question(), never)
    expect(() => call.ask(question('?', 'x/unknown'), never)).toThrow("can't be asked")
    expect(() => new LiveCall(waiting(), false).ask(question(), never)).toThrow("can't be asked")
  })

  it('tells its progress to whoever waits, and to nobody else', () => {
    const first = waiting()
    const call = new LiveCall(first, true)
    call.progress({ progress: 1, progressToken: 7 })
    call.leave()
    call.progress({ progress: 2 })
    const second = waiting({ progressToken: undefined })
    call.comeBack(second, {})
    call.progress({ progress: 3 })
    expect(first.told).toEqual([['notifications/progress', { progress: 1, progressToken: 'p' }]])
    expect(second.told).toEqual([])
  })

  it('can be looked at without anybody waiting, under names of its own', async () => {
    const call = LiveCall.unattended(ASKABLE, 't1-')
    const look = call.look(1000)
    await vi.advanceTimersByTimeAsync(1000)
    expect(await look).toBeUndefined()
    const asked = call.ask(question(), never)
    await vi.advanceTimersByTimeAsync(25)
    const turn = await call.look(1000)
    expect(turn?.kind === 'asked' && [...turn.questions.keys()]).toEqual(['t1-1'])
    call.answer({ 't1-1': { action: 'accept' } })
    expect(await asked).toEqual({ action: 'accept' })
  })
})
