import { describe, expect, it } from 'vitest'
import { stdioConfig } from '../../test/fixtures/server-config.js'
import type { ServerConfig } from '../config/index.js'
import { serverKey } from '../identity/index.js'
import { CatalogBuilder } from './catalog.js'
import { approvalModeOf } from './tool-settings.js'
import type { Registration, RegistrationSource } from './types.js'

const CONFIG: RegistrationSource = { kind: 'config' }
const NOTES = serverKey('notes')

const plugin = (kind: 'host_plugin' | 'selected_plugin', id: string, order: number): RegistrationSource => ({
  kind,
  order,
  plugin: { id, displayName: id, agentPlugin: false },
})
const compatibility = (id: string): RegistrationSource => ({ kind: 'compatibility', id })
const extension = (id: string, order: number): RegistrationSource => ({
  kind: 'extension',
  id,
  order,
  hostOwnedApps: false,
})
const of = (
  source: RegistrationSource,
  command = 'node',
  rest: Partial<ServerConfig> = {},
  key = NOTES,
): Registration => ({
  key,
  source,
  config: stdioConfig({ command }, rest),
})
const commandOf = (registration: Registration | undefined) =>
  registration?.config.transport.type === 'stdio' ? registration.config.transport.command : undefined

describe('the catalog, one key', () => {
  it('(15) lets the extension win over config, compatibility and plugins, and reports the two plugins', () => {
    const catalog = new CatalogBuilder({ multiEnvironment: true })
      .register(of(extension('ext', 0), 'from-extension'))
      .register(of(plugin('host_plugin', 'p1', 1)))
      .register(of(CONFIG))
      .register(of(plugin('host_plugin', 'p0', 0)))
      .register(of(compatibility('c')))
      .build()
    expect(catalog.server(NOTES)?.config).toEqual(stdioConfig({ command: 'from-extension' }))
    expect(catalog.attribution(NOTES)).toBeUndefined()
    expect(catalog.conflicts).toEqual([
      {
        key: NOTES,
        tier: 0,
        outcome: { kind: 'register', key: NOTES, source: extension('ext', 0) },
        contenders: [
          { kind: 'register', key: NOTES, source: plugin('host_plugin', 'p1', 1) },
          { kind: 'register', key: NOTES, source: plugin('host_plugin', 'p0', 0) },
        ],
      },
    ])
  })

  it('(16) changes only enabled when a winner is disabled', () => {
    const registration = of(CONFIG, 'npx', { required: true, enabledTools: ['a'] })
    const catalog = new CatalogBuilder().register(registration).disable(NOTES).build()
    expect(catalog.server(NOTES)?.config).toEqual({ ...registration.config, enabled: false })
  })

  it('(17) prefers the lower number among plugins of one kind, and names its plugin', () => {
    for (const kind of ['host_plugin', 'selected_plugin'] as const) {
      const catalog = new CatalogBuilder()
        .register(of(plugin(kind, 'first', 0), 'zero'))
        .register(of(plugin(kind, 'second', 1), 'one'))
        .build()
      expect(commandOf(catalog.server(NOTES))).toBe('zero')
      expect(catalog.attribution(NOTES)?.id).toBe('first')
      expect(catalog.conflicts).toHaveLength(1)
    }
  })

  it('(18) lets the later of two compatibility entries win, and a removal on top make it absent', () => {
    const built = new CatalogBuilder()
      .register(of(compatibility('z'), 'earlier'))
      .register(of(compatibility('a'), 'later'))
      .build()
    expect(commandOf(built.server(NOTES))).toBe('later')
    const removed = built.toBuilder().removeCompatibility(NOTES, 'a').build()
    expect(removed.server(NOTES)).toBeUndefined()
    expect(removed.servers).toEqual([])
    expect(removed.conflicts).toHaveLength(1)
    expect(removed.conflicts[0]?.outcome.kind).toBe('remove')
    expect(removed.conflicts[0]?.contenders.map(({ source }) => source)).toEqual([
      compatibility('z'),
      compatibility('a'),
      { kind: 'compatibility', id: 'a' },
    ])
  })

  it('(18) keeps a removal from reaching a stronger tier', () => {
    const catalog = new CatalogBuilder()
      .register(of(extension('e', 1), 'stays'))
      .removeCompatibility(NOTES, 'c')
      .removeExtension(NOTES, 'e', 0)
      .build()
    expect(commandOf(catalog.server(NOTES))).toBe('stays')
    expect(catalog.toBuilder().removeExtension(NOTES, 'e', 2).build().server(NOTES)).toBeUndefined()
  })

  it('(19) lets a disabled config winner disable a later extension of that key', () => {
    const first = new CatalogBuilder().register(of(CONFIG, 'node', { enabled: false })).build()
    const second = first
      .toBuilder()
      .register(of(extension('e', 0), 'later'))
      .build()
    expect(commandOf(second.server(NOTES))).toBe('later')
    expect(second.server(NOTES)?.config.enabled).toBe(false)
  })

  it('(19) lets no veto come from a disabled selected plugin', () => {
    const disabled = of(plugin('selected_plugin', 'p', 0), 'node', { enabled: false })
    const first = new CatalogBuilder().register(disabled).build()
    expect(
      first
        .toBuilder()
        .register(of(extension('e', 0)))
        .build()
        .server(NOTES)?.config.enabled,
    ).toBe(true)
  })

  it('lets the later of two configs win, and the higher number of two extensions', () => {
    const configs = new CatalogBuilder().register(of(CONFIG, 'user')).register(of(CONFIG, 'project')).build()
    expect(commandOf(configs.server(NOTES))).toBe('project')
    const extensions = new CatalogBuilder()
      .register(of(extension('a', 2), 'two'))
      .register(of(extension('b', 1), 'one'))
      .build()
    expect(commandOf(extensions.server(NOTES))).toBe('two')
  })

  it('(21) lets a tool override the server default, and takes auto for an unknown server', () => {
    const config = stdioConfig({}, { defaultToolsApprovalMode: 'approve', tools: { wipe: { approvalMode: 'prompt' } } })
    expect(approvalModeOf(config, 'wipe')).toBe('prompt')
    expect(approvalModeOf(config, 'ask')).toBe('approve')
    expect(approvalModeOf(config, 'constructor')).toBe('approve')
    expect(approvalModeOf(undefined, 'wipe')).toBe('auto')
  })

  it('(21) shows an overlaid config as soon as it is materialised', () => {
    const catalog = new CatalogBuilder().register(of(plugin('host_plugin', 'p', 3))).build()
    expect(approvalModeOf(catalog.server(NOTES)?.config, 'ask')).toBe('auto')
    const overlaid = stdioConfig({}, { defaultToolsApprovalMode: 'prompt' })
    const next = catalog.withMaterialisedServers([[NOTES, overlaid]])
    expect(approvalModeOf(next.server(NOTES)?.config, 'ask')).toBe('prompt')
  })
})

describe('the catalog, as a value', () => {
  const catalog = new CatalogBuilder({ multiEnvironment: true })
    .register(of(plugin('selected_plugin', 'root', 4), 'node', {}, serverKey('notes', 'envb')))
    .register(of(CONFIG, 'node', {}, serverKey('zed')))
    .register(of(CONFIG))
    .build()

  it('lists by name, then environment with thread-wide first', () => {
    expect(catalog.servers.map(({ key }) => key)).toEqual([NOTES, serverKey('notes', 'envb'), serverKey('zed')])
    expect(catalog.configs().map(([key]) => key)).toEqual(catalog.servers.map(({ key }) => key))
    expect(catalog.selectedPluginServers()).toEqual([serverKey('notes', 'envb')])
  })

  it('orders conflicts by key, then tier', () => {
    const builder = new CatalogBuilder({ multiEnvironment: true })
    for (const name of ['b', 'a'])
      for (const source of [CONFIG, plugin('host_plugin', 'p', 0)])
        for (const command of ['x', 'y']) builder.register(of(source, command, {}, serverKey(name)))
    expect(builder.build().conflicts.map(({ key, tier }) => [key.name, tier])).toEqual([
      ['a', 0],
      ['a', 2],
      ['b', 0],
      ['b', 2],
    ])
  })

  it('rebuilds from materialised servers: known sources stay without their order, others are config', () => {
    const next = catalog.withMaterialisedServers([
      [serverKey('notes', 'envb'), stdioConfig({ command: 'new' })],
      [serverKey('other'), stdioConfig()],
    ])
    expect(next.servers.map(({ key, source }) => [key.name, source])).toEqual([
      ['notes', plugin('selected_plugin', 'root', 0)],
      ['other', CONFIG],
    ])
    expect(commandOf(next.server(serverKey('notes', 'envb')))).toBe('new')
  })

  it('has the same servers as another when keys, sources and configs are equal', () => {
    expect(catalog.toBuilder().build().hasSameServers(catalog)).toBe(true)
    const detour = catalog.toBuilder().removeCompatibility(serverKey('gone'), 'c').build()
    expect(detour.hasSameServers(catalog)).toBe(true)
    expect(catalog.toBuilder().disable(NOTES).build().hasSameServers(catalog)).toBe(false)
  })

  it('cannot be changed, nor through its builder', () => {
    const config = catalog.server(NOTES)?.config
    for (const value of [catalog, catalog.servers, catalog.servers[0], config, config?.transport, config?.tools])
      expect(Object.isFrozen(value)).toBe(true)
    const builder = catalog.toBuilder()
    builder.register(of(CONFIG, 'node', {}, serverKey('new')))
    expect(catalog.server(serverKey('new'))).toBeUndefined()
    const built = builder.build()
    builder.register(of(CONFIG, 'node', {}, serverKey('newer')))
    expect(built.server(serverKey('newer'))).toBeUndefined()
  })

  it('takes servers called like members of Object', () => {
    const odd = new CatalogBuilder({ multiEnvironment: true })
    for (const name of ['__proto__', 'constructor', '', '["enva","notes"]'])
      odd.register(of(CONFIG, name, {}, serverKey(name)))
    odd.register(of(CONFIG, 'scoped', {}, serverKey('notes', 'enva')))
    expect(odd.build().servers).toHaveLength(5)
    expect(commandOf(odd.build().server(serverKey('__proto__')))).toBe('__proto__')
    expect(odd.build().server(serverKey('toString'))).toBeUndefined()
  })
})
