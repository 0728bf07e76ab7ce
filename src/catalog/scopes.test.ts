import { describe, expect, it } from 'vitest'
import { httpConfig, stdioConfig } from '../../test/fixtures/server-config.js'
import type { ServerConfig } from '../config/index.js'
import { serverKey } from '../identity/index.js'
import { usableRoots } from './capability-roots.js'
import { CatalogBuilder } from './catalog.js'
import type { CatalogOptions, Registration } from './types.js'

const ON: CatalogOptions = { multiEnvironment: true }
const REFERENCE: CatalogOptions = { multiEnvironment: true, compatibility: true }

const root = (id: string, environment: string, order: number, name = 'notes'): Registration => ({
  key: serverKey(name, environment),
  source: { kind: 'selected_plugin', order, plugin: { id, displayName: id, agentPlugin: false } },
  config: stdioConfig({ command: id }, { environmentId: environment }),
})
const shared = (rest: Partial<ServerConfig> = {}, name = 'notes'): Registration => ({
  key: serverKey(name),
  source: { kind: 'config' },
  config: stdioConfig({ command: 'shared' }, rest),
})
const build = (options: CatalogOptions, ...registrations: Registration[]) => {
  const builder = new CatalogBuilder(options)
  for (const registration of registrations) builder.register(registration)
  return builder.build()
}
const keys = (...found: { readonly key: Registration['key'] }[]) => found.map(({ key }) => [key.name, key.environment])

describe('one name in several environments, feature on', () => {
  it('keeps both under their keys', () => {
    const catalog = build(ON, root('a', 'enva', 0), root('b', 'envb', 1))
    expect(keys(...catalog.servers)).toEqual([
      ['notes', 'enva'],
      ['notes', 'envb'],
    ])
    expect(catalog.conflicts).toEqual([])
    expect(catalog.problems).toEqual([])
  })

  it('keeps a thread-wide server beside them, whatever its state', () => {
    for (const enabled of [true, false]) {
      const catalog = build(ON, shared({ enabled }), root('a', 'enva', 0), root('b', 'envb', 1))
      expect(catalog.servers.map(({ key, config }) => [key.environment, config.enabled])).toEqual([
        [null, enabled],
        ['enva', true],
        ['envb', true],
      ])
      expect(catalog.shadowed).toEqual([])
    }
  })

  it('lets a disabled thread-wide server veto its own key only', () => {
    const later = build(ON, shared({ enabled: false }))
      .toBuilder()
      .register(root('a', 'enva', 0))
      .build()
    expect(later.server(serverKey('notes', 'enva'))?.config.enabled).toBe(true)
  })

  it('(22) lets the first of two roots of one environment win, and reports the conflict', () => {
    for (const [first, second] of [
      ['r1', 'r2'],
      ['r2', 'r1'],
    ] as const) {
      const catalog = build(ON, root(first, 'enva', 0), root(second, 'enva', 1))
      expect(catalog.attribution(serverKey('notes', 'enva'))?.id).toBe(first)
      expect(catalog.conflicts).toMatchObject([{ key: { name: 'notes', environment: 'enva' }, tier: 1 }])
    }
  })

  it("(22) lets the environment's own configuration beat a root, and says so", () => {
    const own: Registration = {
      key: serverKey('web', 'enva'),
      source: { kind: 'config' },
      config: httpConfig('http://127.0.0.1/mcp', {}, { environmentId: 'enva' }),
    }
    const catalog = build(ON, own, root('r1', 'enva', 0, 'web'), root('r2', 'envb', 1, 'web'))
    expect(catalog.server(own.key)?.source.kind).toBe('config')
    expect(catalog.attribution(own.key)).toBeUndefined()
    expect(catalog.conflicts).toEqual([])
    expect(catalog.problems).toMatchObject([{ code: 'overridden_in_environment', key: { environment: 'enva' } }])
    expect(catalog.problems[0]?.message).toContain("plugin 'r1'")
  })

  it('drops codex_apps from an environment, and says so once', () => {
    const catalog = build(ON, root('a', 'enva', 0, 'codex_apps'), root('b', 'enva', 1, 'codex_apps'))
    expect(catalog.servers).toEqual([])
    expect(catalog.problems).toMatchObject([
      { code: 'reserved_name', key: { name: 'codex_apps', environment: 'enva' } },
    ])
  })
})

describe('one name in several environments, as the reference hides it', () => {
  it('(23) lets a thread-wide server hide the scoped ones, also when it is disabled, and keeps their rows', () => {
    for (const enabled of [true, false]) {
      const catalog = build(REFERENCE, root('a', 'enva', 0), root('b', 'envb', 1), shared({ enabled }))
      expect(keys(...catalog.servers)).toEqual([['notes', null]])
      expect(catalog.server(serverKey('notes', 'enva'))).toBeUndefined()
      expect(keys(...catalog.shadowed.map(({ registration }) => registration))).toEqual([
        ['notes', 'enva'],
        ['notes', 'envb'],
      ])
      expect(catalog.shadowed.map(({ by }) => by)).toEqual([serverKey('notes'), serverKey('notes')])
      expect(catalog.problems.map(({ code, key }) => [code, key?.environment])).toEqual([
        ['hidden_by_thread_wide', 'enva'],
        ['hidden_by_thread_wide', 'envb'],
      ])
    }
  })

  it('hides nothing of another name', () => {
    expect(build(REFERENCE, shared(), root('a', 'enva', 0, 'other')).servers).toHaveLength(2)
  })

  it('shows them again when the thread-wide server is removed', () => {
    const legacy: Registration = { ...shared(), source: { kind: 'compatibility', id: 'c' } }
    const hidden = build(REFERENCE, root('a', 'enva', 0), legacy)
    const next = hidden.toBuilder().removeCompatibility(legacy.key, 'c').build()
    expect(keys(...next.servers)).toEqual([['notes', 'enva']])
    expect(next.problems).toEqual([])
  })
})

describe('one name in several environments, feature off', () => {
  it('lets the first root win the name and warns of every server that it drops', () => {
    const catalog = build({}, root('b', 'envb', 0), root('a', 'enva', 1), root('c', 'envc', 2))
    expect(keys(...catalog.servers)).toEqual([['notes', 'envb']])
    expect(catalog.problems.map(({ code, key }) => [code, key?.environment])).toEqual([
      ['dropped_same_name', 'enva'],
      ['dropped_same_name', 'envc'],
    ])
    expect(catalog.problems[0]?.message).toContain('environment envb')
    expect(keys(...catalog.shadowed.map(({ registration }) => registration))).toEqual([
      ['notes', 'enva'],
      ['notes', 'envc'],
    ])
  })

  it("lets the host's configuration win over a root and over an environment's configuration, in any order", () => {
    const own: Registration = { ...root('a', 'enva', 0), source: { kind: 'config' } }
    for (const registrations of [
      [shared(), own, root('b', 'envb', 0)],
      [root('b', 'envb', 0), own, shared()],
    ]) {
      const catalog = build({}, ...registrations)
      expect(keys(...catalog.servers)).toEqual([['notes', null]])
      expect(catalog.problems).toHaveLength(2)
    }
  })

  it('keeps a veto for the name', () => {
    const first = build({}, shared({ enabled: false }))
    const scopedExtension: Registration = {
      key: serverKey('notes', 'enva'),
      source: { kind: 'extension', id: 'e', order: 0, hostOwnedApps: false },
      config: stdioConfig(),
    }
    const next = first.toBuilder().register(scopedExtension).build()
    expect(next.servers.map(({ key, config }) => [key.environment, config.enabled])).toEqual([['enva', false]])
  })

  it('leaves nothing of the name when a removal wins', () => {
    const catalog = new CatalogBuilder()
      .register(root('a', 'enva', 0))
      .removeExtension(serverKey('notes'), 'e', 0)
      .build()
    expect(catalog.servers).toEqual([])
  })
})

describe('selected roots', () => {
  const at = (id: string, environment: string, path = `/plugins/${id}`) => ({ id, environment, path })

  it('(22) keep the first of one id with two locations, and report the other', () => {
    const { roots, problems } = usableRoots(
      [at('r', 'enva', '/p1'), at('r', 'envb', '/p2'), at('r', 'enva', '/p1'), at('s', 'envb')],
      ['enva', 'envb'],
    )
    expect(roots).toEqual([at('r', 'enva', '/p1'), at('s', 'envb')])
    expect(problems).toMatchObject([{ code: 'root_conflict' }])
    expect(problems[0]?.message).toBe(
      "ignoring selected capability root 'r' at /p2 (environment envb): that id already stands for /p1 (environment enva)",
    )
  })

  it('contribute nothing while their environment is not selected', () => {
    expect(usableRoots([at('a', 'enva'), at('b', 'envb')], ['envb', 'nowhere']).roots).toEqual([at('b', 'envb')])
  })
})
