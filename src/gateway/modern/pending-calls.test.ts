import { describe, expect, it } from 'vitest'
import { serverKey } from '../../identity/index.js'
import { LiveCall } from '../bridge/index.js'
import { Conducts } from './conduct.js'
import { PendingCalls } from './pending-calls.js'

const KEY = serverKey('s')
const OTHER = serverKey('t')
const never = new AbortController().signal
const told = () => true
const untold = () => false
const newCall = () =>
  new LiveCall(
    {
      signal: never,
      capabilities: { elicitation: {} },
      progressToken: undefined,
      logLevel: undefined,
      notify: () => undefined,
    },
    true,
  )
const settled = () => new Promise((resolve) => setImmediate(resolve))

/** Begins a call; `gone` tells whether it went to its server. */
function begin(calls: PendingCalls, key = KEY, byWire = untold, alone = false) {
  const call = newCall()
  const leave = calls.add(call)
  const state = { call, leave, gone: false }
  void calls.enter(call, key, { told: byWire, alone }).then(
    () => {
      state.gone = true
    },
    () => undefined,
  )
  return state
}

describe('calls to a server whose questions do not say whose they are', () => {
  it('take turns once it was seen to ask', async () => {
    const calls = new PendingCalls(new Conducts())
    calls.noteAsking(KEY, true)
    const [a, b, c, elsewhere] = [begin(calls), begin(calls), begin(calls), begin(calls, OTHER)]
    await settled()
    expect([a.gone, b.gone, c.gone, elsewhere.gone]).toEqual([true, false, false, true])
    a.leave()
    await settled()
    expect([b.gone, c.gone]).toEqual([true, false])
    b.leave()
    await settled()
    expect(c.gone).toBe(true)
  })

  it('take turns with one that hears a log which tells no call, however long that takes', async () => {
    const calls = new PendingCalls(new Conducts())
    const [a, loud, c] = [begin(calls, KEY, told), begin(calls, KEY, told, true), begin(calls, KEY, told)]
    const elsewhere = begin(calls, OTHER, told)
    await settled()
    expect([a.gone, loud.gone, c.gone, elsewhere.gone]).toEqual([true, false, false, true])
    a.leave()
    await settled()
    expect([loud.gone, c.gone]).toEqual([true, false])
    loud.leave()
    await settled()
    expect([c.gone, begin(calls, KEY, told).gone]).toEqual([true, false])
    await settled()
    expect(calls.to(KEY)).toHaveLength(2)
  })

  it('go on beside one that waits for an answer, and past one that was given up', async () => {
    const calls = new PendingCalls(new Conducts())
    calls.noteAsking(KEY, true)
    const [a, b, c] = [begin(calls), begin(calls), begin(calls)]
    await settled()
    void a.call
      .ask({ key: KEY, method: 'elicitation/create', params: {}, origin: undefined }, never)
      .catch(() => undefined)
    a.call.leave()
    await settled()
    expect([b.gone, c.gone, calls.to(KEY)]).toEqual([true, false, [b.call]])
    const d = begin(calls)
    c.call.cancel()
    c.leave()
    b.leave()
    await settled()
    expect(d.gone).toBe(true)
  })

  it('wait for a moment only, as long as it asked nothing, and not at all when it asks nothing for long', async () => {
    const calls = new PendingCalls(new Conducts())
    const a = begin(calls)
    const b = begin(calls)
    await settled()
    expect([a.gone, b.gone]).toEqual([true, false])
    await expect.poll(() => b.gone).toBe(true)
    a.leave()
    for (let index = 0; index < 8; index += 1) begin(calls, KEY, told).leave()
    const many = Array.from({ length: 8 }, () => begin(calls, KEY, told))
    await settled()
    for (const { leave } of many) leave()
    const [c, d] = [begin(calls), begin(calls)]
    await settled()
    expect([c.gone, d.gone]).toEqual([true, true])
  })

  it('take turns in one thread when it asked in another one', async () => {
    const conducts = new Conducts()
    const calls = new PendingCalls(conducts)
    const [a, b] = [begin(calls), begin(calls)]
    new PendingCalls(conducts).noteAsking(KEY, false)
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect([a.gone, b.gone]).toEqual([true, false])
    a.leave()
    await expect.poll(() => b.gone).toBe(true)
  })

  it('are not held up where the wire tells, until a question comes that it does not', async () => {
    const calls = new PendingCalls(new Conducts())
    calls.noteAsking(KEY, true)
    const [a, b] = [begin(calls, KEY, told), begin(calls, KEY, told)]
    await settled()
    expect([a.gone, b.gone]).toEqual([true, true])
    calls.noteAsking(KEY, false)
    const c = begin(calls, KEY, told)
    await settled()
    expect(c.gone).toBe(false)
    a.leave()
    b.leave()
    await settled()
    expect(c.gone).toBe(true)
  })
})

describe('a question that could be of several calls', () => {
  it('is of the last one that is left', async () => {
    const calls = new PendingCalls(new Conducts())
    const [a, b] = [begin(calls, KEY, told), begin(calls, KEY, told)]
    await settled()
    const owner = calls.lastOf(calls.to(KEY), never, 10_000)
    a.leave()
    expect(await owner).toBe(b.call)
  })

  it('is of nobody when that stays unclear, or all are over', async () => {
    const calls = new PendingCalls(new Conducts())
    const [a, b] = [begin(calls, KEY, told), begin(calls, KEY, told)]
    await settled()
    const both = calls.to(KEY)
    expect(await calls.lastOf(both, never, 0)).toBeUndefined()
    a.leave()
    b.leave()
    expect(await calls.lastOf(both, never, 10_000)).toBeUndefined()
  })

  it('says itself which task it is for', async () => {
    const calls = new PendingCalls(new Conducts())
    const waiting = LiveCall.unattended({}, 'q')
    calls.add(waiting)
    calls.follow(waiting, KEY, 'task')
    const beside = begin(calls)
    await settled()
    expect([beside.gone, calls.ofTask(KEY, 'task'), calls.ofTask(OTHER, 'task')]).toEqual([true, waiting, undefined])
    expect(calls.to(KEY)).toEqual([beside.call])
  })
})
