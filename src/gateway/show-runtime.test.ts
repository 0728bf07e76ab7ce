import { describe, expect, it } from 'vitest'
import { stdioConfig } from '../../test/fixtures/server-config.js'
import { NO_PERMISSIONS } from '../config/index.js'
import { serverKey } from '../identity/index.js'
import { showRuntime } from './show-runtime.js'

/** Enabled servers by name, and where each runs. */
const runtime = (servers: Readonly<Record<string, string>>, off: readonly string[] = []) => ({
  config: { permissions: NO_PERMISSIONS },
  environments: { ids: ['local', 'devbox', 'prod'], cwdOf: (id: string) => (id === 'devbox' ? '/srv/app' : undefined) },
  servers: Object.entries(servers).map(([name, environmentId]) => ({
    key: serverKey(name),
    config: stdioConfig({}, { environmentId, enabled: !off.includes(name) }),
  })),
})

const merged = (environments: readonly string[]) => ({ environments, transparent: false })

describe('the environments that a gateway shows', () => {
  it('are those of the configuration when none is named', () => {
    expect(showRuntime(runtime({}), merged([])).thread).toEqual({})
  })

  it('are the named ones in their order', () => {
    expect(showRuntime(runtime({}), merged(['prod', 'local'])).thread).toEqual({
      environments: [{ id: 'prod' }, { id: 'local' }],
    })
  })

  it('are refused with the choices when one is not there', () => {
    expect(() => showRuntime(runtime({}), merged(['local', 'prd']))).toThrowError(
      expect.objectContaining({
        code: 'unknown_environment',
        message: "no environment 'prd': there are local, devbox, prod",
        place: '--env',
      }),
    )
  })

  it('are refused when one is named twice', () => {
    expect(() => showRuntime(runtime({}), merged(['prod', 'prod']))).toThrowError(/'prod' is selected twice/)
  })

  it('have the workspace that the configuration gives them', () => {
    const { workspaceOf } = showRuntime(runtime({}), merged([])).front
    expect([workspaceOf?.('devbox'), workspaceOf?.('prod'), workspaceOf?.('local')]).toEqual([
      '/srv/app',
      undefined,
      undefined,
    ])
  })
})

describe('what its servers are told that commands may do', () => {
  const told = (permissions: string) => showRuntime(runtime({}), { ...merged([]), permissions }).thread

  it('is the profile or preset that was named', () => {
    expect(told('workspace-write')).toEqual({ permissions: 'workspace-write' })
  })

  it('is refused with the choices when there is no such profile', () => {
    expect(() => told('workspace')).toThrowError(
      expect.objectContaining({
        code: 'unknown_profile',
        message: 'there is no permission profile `workspace`: there are read-only, workspace-write, danger-full-access',
        place: '--permissions',
      }),
    )
  })
})

describe('the one server of a transparent gateway', () => {
  const only = (servers: Parameters<typeof runtime>, name?: string, environments: readonly string[] = []) =>
    showRuntime(runtime(...servers), { environments, transparent: true, only: name })

  it('is the one that is switched on, and no other is started', () => {
    const shown = only([{ a: 'local', b: 'local' }, ['a']])
    expect(shown.front.transparent).toEqual(serverKey('b'))
    expect(shown.thread.only).toEqual([{ server: 'b', environment: null }])
  })

  it('is none when there are none or several, with their names', () => {
    expect(() => only([{ a: 'local' }, ['a']])).toThrow('none is enabled')
    expect(() => only([{ a: 'local', b: 'local' }])).toThrow('a, b are enabled')
  })

  it('is the one that is named', () => {
    expect(only([{ a: 'local', b: 'devbox' }], 'b').front.transparent).toEqual(serverKey('b'))
    expect(() => only([{ a: 'local' }], 'b')).toThrow('--env ID')
  })

  it('is that of the one environment that is named', () => {
    expect(only([{ notes: 'local' }], 'notes', ['devbox']).front.transparent).toEqual(serverKey('notes', 'devbox'))
    expect(only([{ notes: 'devbox' }], 'notes', ['devbox']).front.transparent).toEqual(serverKey('notes'))
    expect(only([{ notes: 'local' }], 'notes', ['local']).front.transparent).toEqual(serverKey('notes'))
  })
})
