import { describe, expect, it } from 'vitest'
import { RecordingRoute } from '../../test/fixtures/connections/harness.js'
import { settle } from '../../test/fixtures/connections/manual-timers.js'
import { gate } from '../../test/fixtures/connections/scripted-server.js'
import type { ConnectionRoute } from './route.js'
import { type Sender, type Turn, Turns } from './turns.js'

const A = new RecordingRoute()
const B = new RecordingRoute()
const C = new RecordingRoute()

const plain = (route: ConnectionRoute): Sender => ({ route, origin: undefined })

class Line {
  exclusive = true
  now = 0
  quiet = gate()
  pings = 0
  readonly turns = new Turns(
    () => this.exclusive,
    () => {
      this.pings += 1
      return this.quiet.passed
    },
    () => this.now,
  )
  readonly went: string[] = []
  readonly #held = new Map<string, Turn>()

  take(name: string, route: ConnectionRoute): boolean {
    const turn = this.turns.take(plain(route))
    if (turn !== undefined) this.#go(name, turn)
    return turn !== undefined
  }

  queue(name: string, route: ConnectionRoute): () => void {
    const place = this.turns.queue(plain(route))
    void place.turn.then((turn) => this.#go(name, turn))
    return () => place.leave()
  }

  async done(name: string, unanswered = false): Promise<void> {
    this.#held.get(name)?.done(unanswered)
    await settle()
  }

  #go(name: string, turn: Turn): void {
    this.went.push(name)
    this.#held.set(name, turn)
  }
}

describe('turns', () => {
  it('let the requests of one holder run together and others wait until the last is over', async () => {
    const line = new Line()
    expect([line.take('a1', A), line.take('a2', A), line.take('b1', B)]).toEqual([true, true, false])
    line.queue('b1', B)
    await line.done('a1')
    expect(line.went).toEqual(['a1', 'a2'])
    await line.done('a2')
    expect(line.went).toEqual(['a1', 'a2', 'b1'])
    expect(line.turns.sole).toBe(B)
  })

  it('are given in line, newcomers of the holder whose turn it is included', async () => {
    const line = new Line()
    line.take('a1', A)
    line.queue('b1', B)
    expect(line.take('a2', A)).toBe(false)
    line.queue('a2', A)
    line.queue('c1', C)
    for (const [over, next] of [
      ['a1', 'b1'],
      ['b1', 'a2'],
      ['a2', 'c1'],
    ] as const) {
      await line.done(over)
      expect(line.went.at(-1)).toBe(next)
    }
  })

  it('let a holder that is being asked go ahead of the line, for the answer may depend on it', async () => {
    const line = new Line()
    line.take('a1', A)
    line.queue('b1', B)
    const asked = line.turns.asking(A)
    expect(line.take('a2', A)).toBe(true)
    asked()
    expect(line.take('a3', A)).toBe(false)
    await line.done('a1')
    expect(line.went).toEqual(['a1', 'a2'])
    await line.done('a2')
    expect(line.went).toEqual(['a1', 'a2', 'b1'])
  })

  it('are not needed where the wire tells requests apart, and begin to be when it turns out not to', async () => {
    const line = new Line()
    line.exclusive = false
    expect([line.take('a1', A), line.take('b1', B)]).toEqual([true, true])
    expect(line.turns.sole).toBeUndefined()
    line.exclusive = true
    expect([line.take('a2', A), line.take('b2', B)]).toEqual([false, false])
    line.queue('a2', A)
    await line.done('b1')
    expect(line.went).toEqual(['a1', 'b1', 'a2'])
  })

  it('pass over who left the line, and come back from who left when it had just come', async () => {
    const line = new Line()
    line.take('a1', A)
    const leave = line.queue('b1', B)
    line.queue('c1', C)
    leave()
    await line.done('a1')
    expect(line.went).toEqual(['a1', 'c1'])
    const late = line.turns.queue(plain(B))
    line.queue('a2', A)
    await line.done('c1')
    late.leave()
    await settle()
    expect(line.went).toEqual(['a1', 'c1', 'a2'])
  })

  it('wait for the server to have read that a request was given up, before it is heard as another holder', async () => {
    const line = new Line()
    line.take('a1', A)
    await line.done('a1', true)
    expect([line.turns.sole, line.pings]).toEqual([A, 0])
    expect(line.take('a2', A)).toBe(true)
    await line.done('a2')
    expect(line.take('b1', B)).toBe(false)
    line.queue('b1', B)
    expect([line.pings, line.went]).toEqual([1, ['a1', 'a2']])
    line.quiet.open()
    await settle()
    expect([line.turns.sole, line.went]).toEqual([B, ['a1', 'a2', 'b1']])
  })

  it('wait no longer than ten seconds for that when nobody asks the server', () => {
    const line = new Line()
    line.take('a1', A)
    void line.done('a1', true)
    line.now = 9_999
    expect(line.turns.sole).toBe(A)
    line.now = 10_000
    expect([line.turns.sole, line.take('b1', B)]).toEqual([undefined, true])
  })
})

describe('turns where only the log is not told apart', () => {
  const LOGGED = { origin: undefined, logLevel: 'info' }
  const quiet = gate()
  const turnsOf = () =>
    new Turns(
      () => false,
      () => quiet.passed,
      () => 0,
    )

  it('are not needed by requests that asked for no log, and by nobody while one that did is out', async () => {
    const turns = turnsOf()
    const plainOnes = [turns.take(plain(A)), turns.take(plain(B))]
    expect(turns.take({ ...LOGGED, route: A })).toBeUndefined()
    const place = turns.queue({ ...LOGGED, route: A })
    expect(turns.take(plain(B))).toBeUndefined()
    plainOnes[0]?.done()
    const beside = turns.queue(plain(B))
    plainOnes[1]?.done()
    const logged = await place.turn
    expect(turns.speaking.map(({ route }) => route)).toEqual([A])
    expect(turns.take(plain(A))).toBeUndefined()
    logged.done()
    await beside.turn
    expect([turns.take(plain(A)), turns.take(plain(C))].includes(undefined)).toBe(false)
  })

  it('are taken by each hearer behind one holder', () => {
    const turns = turnsOf()
    const [one, two] = [
      { ...LOGGED, route: A, hearer: 'one' },
      { ...LOGGED, route: A, hearer: 'two' },
    ]
    const turn = turns.take(one)
    expect([turns.take(one) === undefined, turns.take(two) === undefined]).toEqual([false, true])
    turn?.done()
  })

  it('are kept after a request was given up, until the server has read that', async () => {
    const turns = turnsOf()
    turns.take({ ...LOGGED, route: A })?.done(true)
    expect(turns.take(plain(B))).toBeUndefined()
    const place = turns.queue(plain(B))
    await settle()
    expect(turns.speaking.map(({ route }) => route)).toEqual([A])
    quiet.open()
    await place.turn
    expect(turns.speaking.map(({ route }) => route)).toEqual([B])
  })

  it('are given to others while a request rests, which then comes first', async () => {
    const turns = turnsOf()
    const resting = turns.take({ ...LOGGED, route: A })
    const answered = gate()
    const rested = resting?.rest(() => answered.passed)
    const other = turns.take({ ...LOGGED, route: B })
    const third = turns.queue({ ...LOGGED, route: C })
    answered.open()
    await settle()
    other?.done()
    await rested
    expect(turns.speaking.map(({ route }) => route)).toEqual([A])
    resting?.done()
    await third.turn
  })

  it('are not waited for by a request that is given up while it rests', async () => {
    const turns = turnsOf()
    const resting = turns.take({ ...LOGGED, route: A })
    const abort = new AbortController()
    const rested = resting?.rest(async () => {}, abort.signal)
    const other = turns.take({ ...LOGGED, route: B })
    await settle()
    abort.abort()
    await expect(rested).rejects.toMatchObject({ code: 'cancelled' })
    resting?.done(true)
    other?.done()
    expect(turns.take({ ...LOGGED, route: C })).toBeDefined()
  })
})
