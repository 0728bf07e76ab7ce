import { describe, expect, it } from 'vitest'
import type { EnvironmentState, Environments } from '../environments/index.js'
import { EnvironmentError } from '../errors.js'
import { EnvironmentWatch } from './environment-watch.js'

const lost = new EnvironmentError('environment_recovering', 'a', 'exec-server environment is recovering')
const READY: EnvironmentState = { is: 'ready', since: 1, info: { shell: { name: 'sh', path: '/bin/sh' } } }

function watched() {
  const listeners = new Set<(id: string, state: EnvironmentState) => void>()
  const environments: Environments = {
    ids: ['local', 'a', 'b'],
    get: () => undefined,
    onstate: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  const told: string[] = []
  const ready: string[] = []
  const watch = new EnvironmentWatch(
    environments,
    ({ environment, status, error }) => told.push([environment, status, error].filter(Boolean).join(' ')),
    (id) => ready.push(id),
  )
  const say = (id: string, state: EnvironmentState) => {
    for (const listener of listeners) listener(id, state)
  }
  return { watch, told, ready, say, listeners }
}

describe('what a thread hears of its environments', () => {
  it('is each change between connected and not, once', () => {
    const { watch, told, ready, say } = watched()
    watch.select(['local', 'a'])
    say('a', { is: 'connecting', since: 1 })
    say('a', READY)
    say('a', READY)
    say('a', { is: 'recovering', since: 2, error: lost })
    say('a', { is: 'failed', since: 3, error: lost })
    say('a', READY)
    say('a', { is: 'closed' })
    expect(told).toEqual([
      'a connected',
      'a disconnected exec-server environment is recovering',
      'a connected',
      'a disconnected',
    ])
    expect(ready).toEqual(['a', 'a', 'a'])
  })

  it('is nothing of the host, of those not selected, and of those that were', () => {
    const { watch, told, say, listeners } = watched()
    watch.select(['local', 'a'])
    say('local', READY)
    say('b', READY)
    watch.select(['b'])
    say('a', READY)
    expect(told).toEqual([])
    say('b', READY)
    watch.close()
    say('b', { is: 'failed', since: 1, error: lost })
    expect(told).toEqual(['b connected'])
    expect(listeners.size).toBe(0)
  })

  it('is also that the first connection failed', () => {
    const { watch, told, say } = watched()
    watch.select(['a'])
    say('a', { is: 'failed', since: 1, error: lost })
    expect(told).toEqual(['a disconnected exec-server environment is recovering'])
  })
})
