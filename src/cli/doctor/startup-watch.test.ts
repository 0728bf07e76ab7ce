import { describe, expect, it } from 'vitest'
import { serverKey } from '../../identity/index.js'
import { SLOW_START_MS, StartupWatch, slowStart } from './startup-watch.js'

const notes = serverKey('notes')
const devbox = serverKey('notes', 'devbox')

function watched() {
  const clock = { now: 1000 }
  const watch = new StartupWatch(() => clock.now)
  const status = (key: typeof notes, state: 'starting' | 'ready' | 'failed') =>
    watch.onEvent({ type: 'status', key, status: state })
  return { clock, watch, status }
}

describe('watching servers start', () => {
  it('tells how long each took, by exact key', () => {
    const { clock, watch, status } = watched()
    status(notes, 'starting')
    status(devbox, 'starting')
    clock.now = 1250
    status(devbox, 'ready')
    clock.now = 9000
    status(notes, 'failed')
    expect(watch.took(devbox)).toBe(250)
    expect(watch.took(notes)).toBe(8000)
    expect(watch.took(serverKey('other'))).toBeUndefined()
  })

  it('counts the first start alone', () => {
    const { clock, watch, status } = watched()
    status(notes, 'starting')
    status(notes, 'ready')
    clock.now = 5000
    status(notes, 'starting')
    clock.now = 9000
    status(notes, 'ready')
    expect(watch.took(notes)).toBe(0)
  })

  it('calls a start slow from five seconds on', () => {
    expect(slowStart(notes, 'config.toml:1', SLOW_START_MS - 1)).toEqual([])
    expect(slowStart(notes, 'config.toml:1', undefined)).toEqual([])
    expect(slowStart(notes, 'config.toml:1', 7300)).toMatchObject([
      { severity: 'warning', code: 'slow_start', place: 'config.toml:1', message: 'took 7.3 s to start' },
    ])
  })

  it('keeps what servers do against the rules', () => {
    const { watch } = watched()
    watch.onEvent({ type: 'warning', key: notes, code: 'protocol_violation', message: 'a banner on stdout' })
    expect(watch.findings()).toMatchObject([{ code: 'protocol_violation', place: 'notes', key: notes }])
  })
})
