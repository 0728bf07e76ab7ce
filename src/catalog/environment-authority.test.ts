import { describe, expect, it } from 'vitest'
import { httpConfig, stdioConfig } from '../../test/fixtures/server-config.js'
import type { ServerConfig } from '../config/index.js'
import { serverKey } from '../identity/index.js'
import { CatalogBuilder } from './catalog.js'
import { type EnvironmentAuthority, environmentAuthority, underEnvironmentAuthority } from './environment-authority.js'
import { hostedAppsRegistration } from './hosted-apps.js'
import type { Registration, RegistrationSource } from './types.js'

const attribution = (id: string) => ({ id, displayName: id, agentPlugin: false })
const SOURCES = {
  config: { kind: 'config' },
  compatibility: { kind: 'compatibility', id: 'c' },
  extension: { kind: 'extension', id: 'e', order: 0, hostOwnedApps: false },
  host: { kind: 'host_plugin', order: 0, plugin: attribution('p') },
  selected: { kind: 'selected_plugin', order: 0, plugin: attribution('p') },
} as const satisfies Record<string, RegistrationSource>
type SourceName = keyof typeof SOURCES

const at = (
  source: SourceName,
  config: ServerConfig = stdioConfig({ command: 'docs-mcp' }, { environmentId: 'enva' }),
) => ({ key: serverKey('docs', 'enva'), source: SOURCES[source], config }) satisfies Registration
const enabled = (source: SourceName, authority: EnvironmentAuthority) =>
  underEnvironmentAuthority(at(source), () => authority).config.enabled
const restricted = (policy: Record<string, ReadonlyMap<string, unknown>> & object): EnvironmentAuthority => ({
  kind: 'restricted',
  policy: { source: 'x', ...policy },
})
const ALL: SourceName[] = ['config', 'compatibility', 'extension', 'host', 'selected']
const allowedUnder = (authority: EnvironmentAuthority) => ALL.filter((source) => enabled(source, authority))

describe('(20) the authority of an environment', () => {
  it('lets everything in when it is unrestricted, nothing when it is unavailable', () => {
    expect(allowedUnder({ kind: 'unrestricted' })).toEqual(ALL)
    expect(allowedUnder({ kind: 'unavailable' })).toEqual([])
  })

  it('lets only selected plugins in when it says so', () => {
    expect(allowedUnder({ kind: 'selected_plugins_only' })).toEqual(['selected'])
  })

  it('lets everything in under a policy without lists', () => {
    expect(allowedUnder(restricted({}))).toEqual(ALL)
  })

  it('holds configured servers to a server list, by name and match', () => {
    expect(allowedUnder(restricted({ servers: new Map([['docs', { command: 'docs-mcp' }]]) }))).toEqual(ALL)
    expect(allowedUnder(restricted({ servers: new Map([['docs', { command: 'other' }]]) }))).toEqual([
      'host',
      'selected',
    ])
    expect(allowedUnder(restricted({ servers: new Map([['other', { command: 'docs-mcp' }]]) }))).toEqual([
      'host',
      'selected',
    ])
  })

  it('lets no plugin in under an empty server list', () => {
    expect(allowedUnder(restricted({ servers: new Map() }))).toEqual([])
  })

  it('holds plugins to their rules once any plugin has rules', () => {
    const rules = (id: string, name: string, command: string) =>
      restricted({ plugins: new Map([[id, { servers: new Map([[name, { command }]]) }]]) })
    expect(allowedUnder(rules('p', 'docs', 'docs-mcp'))).toEqual(ALL)
    const withoutPlugins = ['config', 'compatibility', 'extension']
    expect(allowedUnder(rules('p', 'docs', 'other'))).toEqual(withoutPlugins)
    expect(allowedUnder(rules('p', 'other', 'docs-mcp'))).toEqual(withoutPlugins)
    expect(allowedUnder(rules('q', 'docs', 'docs-mcp'))).toEqual(withoutPlugins)
    expect(allowedUnder(restricted({ plugins: new Map([['q', {}]]) }))).toEqual(ALL)
  })

  it('asks the execution environment, and gives an unknown source as the reason', () => {
    const asked: string[] = []
    const refused = underEnvironmentAuthority(at('config'), (environment) => {
      asked.push(environment)
      return { kind: 'unavailable' }
    })
    expect(asked).toEqual(['enva'])
    expect(refused.config.disabledReason).toEqual({ kind: 'requirements', source: '<unspecified>' })
  })

  it('leaves host-owned apps and what is already disabled untouched', () => {
    const apps = hostedAppsRegistration({ id: 'apps', order: 0 }, httpConfig('https://chatgpt.com/backend-api/mcp'))
    const off = at('config', stdioConfig({}, { enabled: false, environmentId: 'enva' }))
    for (const registration of [apps, off])
      expect(underEnvironmentAuthority(registration, () => ({ kind: 'unavailable' }))).toBe(registration)
  })

  it('carries a refusal on as a veto, except of a selected plugin', () => {
    for (const [source, later] of [
      ['config', false],
      ['selected', true],
    ] as const) {
      const refused = underEnvironmentAuthority(at(source), () => ({ kind: 'unavailable' }))
      const builder = new CatalogBuilder({ multiEnvironment: true }).register(refused).build().toBuilder()
      const catalog = builder.register(at('extension')).build()
      expect(catalog.server(serverKey('docs', 'enva'))?.config.enabled).toBe(later)
    }
  })

  it('follows from where the environment stands to the turn', () => {
    const own: EnvironmentAuthority = { kind: 'unavailable' }
    expect(environmentAuthority('outside_default', own).kind).toBe('unrestricted')
    expect(environmentAuthority('of_thread', own).kind).toBe('unrestricted')
    expect(environmentAuthority('outside', own).kind).toBe('selected_plugins_only')
    expect(environmentAuthority('of_turn', own)).toBe(own)
  })
})
