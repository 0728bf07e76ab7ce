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

  it('names what keeps servers of environments away, and what only has to be known', () => {
    const { watch } = watched()
    const environment = 'devbox'
    for (const problem of [
      {
        code: 'broken_manifest',
        environment,
        plugin: 'notes@devbox',
        path: '/p/.codex-plugin/plugin.json',
        message: 'no JSON',
      },
      { code: 'invalid_plugin_server', environment, plugin: 'notes@devbox', server: 'notes', message: 'no transport' },
      { code: 'stdio_skipped', environment, message: 'skipped' },
      { code: 'dropped_same_name', key: notes, message: 'another one has the name' },
      { code: 'environment_unavailable', environment: 'gone', message: 'found by connecting' },
    ] as const) {
      watch.onEvent({ type: 'problem', problem })
    }
    expect(watch.findings()).toEqual([
      {
        severity: 'error',
        code: 'broken_manifest',
        message: 'no JSON',
        place: 'environment devbox: /p/.codex-plugin/plugin.json',
      },
      {
        severity: 'error',
        code: 'invalid_plugin_server',
        message: 'no transport',
        place: 'environment devbox: notes@devbox',
        key: devbox,
      },
      { severity: 'warning', code: 'stdio_skipped', message: 'skipped', place: 'environment devbox' },
      {
        severity: 'warning',
        code: 'dropped_same_name',
        message: 'another one has the name',
        place: 'notes',
        key: notes,
      },
    ])
  })
})
