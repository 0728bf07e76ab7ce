import { describe, expect, it } from 'vitest'
import { httpConfig, stdioConfig } from '../../test/fixtures/server-config.js'
import { serverKey } from '../identity/index.js'
import { hostedAppsRegistration } from './hosted-apps.js'
import { permissionAuthorities, uniformAuthorities } from './permission-authority.js'
import type { EffectiveServer, RegistrationSource } from './types.js'

const RUNTIME = { network: false }
const ENVA = { network: true }
const profiles = { runtime: RUNTIME, ofEnvironment: (id: string) => (id === 'enva' ? ENVA : undefined) }
const SELECTED: RegistrationSource = {
  kind: 'selected_plugin',
  order: 0,
  plugin: { id: 'p', displayName: 'p', agentPlugin: false },
}
const server = (
  environmentId: string,
  source: RegistrationSource = { kind: 'config' },
  enabled = true,
): EffectiveServer => ({
  key: serverKey('docs'),
  source,
  config: stdioConfig({}, { environmentId, enabled }),
})
const authority = (one: EffectiveServer) => permissionAuthorities([one], profiles).get(one.key)

describe('whose permission profile governs a server', () => {
  it("is the environment's that it executes in, where that supplied one", () => {
    expect(authority(server('enva'))).toEqual({ kind: 'environment', environment: 'enva', profile: ENVA })
    expect(authority(server('enva', SELECTED))).toEqual({ kind: 'environment', environment: 'enva', profile: ENVA })
    expect(
      permissionAuthorities([server('local')], { runtime: RUNTIME, ofEnvironment: () => ENVA }).get(serverKey('docs')),
    ).toEqual({ kind: 'environment', environment: 'local', profile: ENVA })
  })

  it("is the runtime's for a local server and for one of a selected plugin", () => {
    for (const one of [server('local'), server('envb', SELECTED)])
      expect(authority(one)).toEqual({ kind: 'runtime', profile: RUNTIME })
  })

  it('is nobody otherwise', () => {
    const host: RegistrationSource = { ...SELECTED, kind: 'host_plugin' }
    for (const one of [server('envb'), server('envb', host)]) expect(authority(one)).toEqual({ kind: 'none' })
  })

  it("is the runtime's for host-owned apps, whatever their environment supplied", () => {
    const apps = hostedAppsRegistration({ id: 'apps', order: 0 }, httpConfig('https://chatgpt.com/'))
    const found = permissionAuthorities([apps], { runtime: RUNTIME, ofEnvironment: () => ENVA })
    expect(found.get(apps.key)).toEqual({ kind: 'runtime', profile: RUNTIME })
  })

  it('is not asked for a disabled server', () => {
    expect(authority(server('local', undefined, false))).toBeUndefined()
  })

  it('is kept apart by key', () => {
    const scoped: EffectiveServer = { ...server('enva', SELECTED), key: serverKey('docs', 'enva') }
    const found = permissionAuthorities([server('local'), scoped], profiles)
    expect(found.get(serverKey('docs'))?.kind).toBe('runtime')
    expect(found.get(scoped.key)?.kind).toBe('environment')
    expect(found.get(serverKey('docs', 'envb'))).toBeUndefined()
  })

  it('is one default outside any thread', () => {
    const found = uniformAuthorities(
      [server('envb'), { ...server('local', undefined, false), key: serverKey('off') }],
      RUNTIME,
    )
    expect(found.get(serverKey('docs'))).toEqual({ kind: 'runtime', profile: RUNTIME })
    expect(found.size).toBe(1)
  })
})
