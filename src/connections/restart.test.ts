import { describe, expect, it } from 'vitest'
import { ManualTimers, settle } from '../../test/fixtures/connections/manual-timers.js'
import type { EnvironmentState } from '../environments/index.js'
import { EnvironmentError } from '../errors.js'
import { Restart, type RestartPlace } from './restart.js'

const INFO = { shell: { name: 'sh', path: '/bin/sh' } }
const READY: EnvironmentState = { is: 'ready', since: 0, info: INFO }
const UNREACHABLE = new EnvironmentError('environment_unreachable', 'far', 'nobody there')
const FAILED: EnvironmentState = { is: 'failed', since: 0, error: UNREACHABLE }

/** An executor whose state a test decides. */
class FarAway implements RestartPlace {
  readonly kind = 'executor'
  state: EnvironmentState = READY
  asked = 0
  answer: () => Promise<typeof INFO> = async () => INFO
  readonly listeners = new Set<(state: EnvironmentState) => void>()

  onstate(listener: (state: EnvironmentState) => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }
  become(state: EnvironmentState): void {
    this.state = state
    for (const listener of [...this.listeners]) listener(state)
  }
  info(): Promise<typeof INFO> {
    this.asked += 1
    return this.answer()
  }
}

function restarting(environment: RestartPlace | undefined) {
  const timers = new ManualTimers()
  const told: string[] = []
  const restart = new Restart(timers, environment, {
    start: () => told.push('start'),
    later: () => told.push('later'),
  })
  return { timers, told, restart }
}

describe('a restart', () => {
  it('comes after its delay where no executor is involved', async () => {
    const { timers, told, restart } = restarting(undefined)
    restart.arm(1000, true)
    await timers.advance(999)
    expect(told).toEqual([])
    await timers.advance(1)
    expect(told).toEqual(['start'])
  })

  it('asks an executor that is away first, and says when it is to be tried later', async () => {
    const far = new FarAway()
    far.state = FAILED
    far.answer = () => Promise.reject(UNREACHABLE)
    const { timers, told, restart } = restarting(far)
    restart.arm(1000, true)
    await timers.advance(1000)
    expect([far.asked, told]).toEqual([1, ['later']])
  })

  it('comes once the executor answers that question', async () => {
    const far = new FarAway()
    far.state = FAILED
    const { timers, told, restart } = restarting(far)
    restart.arm(1000, true)
    far.answer = async () => {
      far.become(READY)
      return INFO
    }
    await timers.advance(1000)
    await timers.advance(0)
    expect(told).toEqual(['start'])
    expect(far.listeners.size).toBe(0)
  })

  it('does not wait for its time when the executor it went down with is back', async () => {
    const far = new FarAway()
    far.state = FAILED
    const { timers, told, restart } = restarting(far)
    restart.arm(30_000, true)
    far.become(READY)
    await timers.advance(0)
    expect(told).toEqual(['start'])
    await timers.advance(60_000)
    expect(told).toEqual(['start'])
  })

  it('waits for its time when it went down by itself, whatever its executor says', async () => {
    const far = new FarAway()
    const { timers, told, restart } = restarting(far)
    restart.arm(30_000, false)
    far.become(READY)
    await timers.advance(29_999)
    expect(told).toEqual([])
  })

  it('comes once a second at most, however often the executor comes and goes', async () => {
    const far = new FarAway()
    const { timers, told, restart } = restarting(far)
    for (let turn = 0; turn < 9; turn += 1) {
      restart.arm(30_000, true)
      far.become(FAILED)
      far.become(READY)
      await timers.advance(200)
    }
    expect(told).toHaveLength(2)
  })

  it('never comes once it is cancelled, in the middle of the question neither', async () => {
    const far = new FarAway()
    far.state = FAILED
    let answer = () => {}
    far.answer = () =>
      new Promise((resolve) => {
        answer = () => resolve(INFO)
      })
    const { timers, told, restart } = restarting(far)
    restart.arm(1000, true)
    await timers.advance(1000)
    restart.cancel()
    answer()
    await settle()
    far.become(READY)
    await timers.advance(60_000)
    expect(told).toEqual([])
  })
})
