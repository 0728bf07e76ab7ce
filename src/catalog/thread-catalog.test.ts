import { describe, expect, it } from 'vitest'
import { httpConfig, stdioConfig } from '../../test/fixtures/server-config.js'
import type { PluginPolicy, Requirements, ToolSettings } from '../config/index.js'
import type { CapabilityRoot, DiscoveredPlugin, EnvironmentCapabilities } from '../environments/index.js'
import { serverKey } from '../identity/index.js'
import { effectiveRoots } from './capability-roots.js'
import type { Catalog } from './catalog.js'
import type { Policies } from './policies.js'
import { type ThreadCatalogParts, threadCatalog } from './thread-catalog.js'
import { approvalModeOf } from './tool-settings.js'

const ON = { multiEnvironment: true }

function plugin(id: string, environment: string, names: readonly string[], agentPlugin = false): DiscoveredPlugin {
  const servers = new Map(names.map((name) => [name, stdioConfig({ command: id }, { environmentId: environment })]))
  return { id, displayName: id.toUpperCase(), agentPlugin, environment, path: `/plugins/${id}`, servers }
}

function offers(
  environment: string,
  plugins: readonly DiscoveredPlugin[],
  names: readonly string[] = [],
): EnvironmentCapabilities {
  const executorServers = new Map(
    names.map((name) => [name, httpConfig('http://h/', {}, { environmentId: environment })]),
  )
  return { environment, plugins, executorServers, problems: [] }
}

const rootOf = ({ id, environment, path }: DiscoveredPlugin): CapabilityRoot => ({ id, environment, path })
const shared = (name: string) => ({ name, config: stdioConfig({ command: 'shared' }) })

const NOTES_A = plugin('a', 'enva', ['notes'])
const NOTES_B = plugin('b', 'envb', ['notes'])

function parts(over: Partial<ThreadCatalogParts> = {}): ThreadCatalogParts {
  return { servers: [], environments: [], roots: [], ...over }
}
const rows = (catalog: Catalog) =>
  catalog.servers.map(({ key, source }) => [
    key.name,
    key.environment,
    'plugin' in source ? source.plugin.id : source.kind,
  ])

describe('the catalog of a thread', () => {
  it('has the servers of the host, of plugins and of executors, each in its own scope', () => {
    const agent = plugin('agent', 'local', ['notes'], true)
    const catalog = threadCatalog(
      parts({
        servers: [shared('notes')],
        environments: [offers('enva', [NOTES_A], ['web']), offers('local', [agent])],
        roots: [rootOf(NOTES_A), rootOf(agent)],
      }),
      ON,
    )
    expect(rows(catalog)).toEqual([
      ['notes', null, 'config'],
      ['notes', 'enva', 'a'],
      ['notes', 'local', 'agent'],
      ['web', 'enva', 'config'],
    ])
    expect(catalog.attribution(serverKey('notes', 'local'))).toEqual({
      id: 'agent',
      displayName: 'AGENT',
      agentPlugin: true,
    })
    expect(catalog.problems).toEqual([])
  })

  it('lets the root that comes first bring a server, and tells of every other', () => {
    const [first, second, installed] = ['r1', 'r2', 'p@m'].map((id) => plugin(id, 'enva', ['notes']))
    if (!first || !second || !installed) throw new Error('three plugins')
    for (const roots of [
      [first, second],
      [second, first],
    ]) {
      const catalog = threadCatalog(
        parts({ environments: [offers('enva', [installed, first, second])], roots: roots.map(rootOf) }),
        ON,
      )
      expect(rows(catalog)).toEqual([['notes', 'enva', roots[0]?.id]])
      expect(catalog.problems.map(({ code }) => code)).toEqual(['plugin_conflict', 'plugin_conflict'])
      expect(catalog.problems.map(({ message }) => message).sort()).toEqual([
        expect.stringContaining("of plugin 'p@m' is not used"),
        expect.stringContaining(`of plugin '${roots[1]?.id}' is not used: plugin '${roots[0]?.id}' comes before it`),
      ])
    }
  })

  it("lets an executor's own HTTP server win over its plugins, and tells", () => {
    const catalog = threadCatalog(
      parts({
        environments: [offers('enva', [NOTES_A], ['notes']), offers('envb', [NOTES_B])],
        roots: [NOTES_A, NOTES_B].map(rootOf),
      }),
      ON,
    )
    expect(rows(catalog)).toEqual([
      ['notes', 'enva', 'config'],
      ['notes', 'envb', 'b'],
    ])
    expect(catalog.problems).toMatchObject([{ code: 'overridden_in_environment', key: { environment: 'enva' } }])
  })

  it('has no hosted apps of an environment', () => {
    const apps = plugin('a', 'enva', ['codex_apps'])
    const catalog = threadCatalog(
      parts({ environments: [offers('enva', [apps], ['codex_apps'])], roots: [rootOf(apps)] }),
      ON,
    )
    expect(catalog.servers).toEqual([])
    expect(catalog.problems).toMatchObject([{ code: 'reserved_name' }])
  })

  it('lays the policies of the host over plugins, then the requirements', () => {
    const policy = (over: Partial<PluginPolicy>): PluginPolicy => ({ servers: new Map(), ...over })
    const overlays = new Map([
      ['a', policy({ enabled: false })],
      ['b', policy({ servers: new Map([['notes', { enabledTools: ['whoami'] }]]) })],
    ])
    const requirements: Requirements = {
      source: 'managed',
      matchers: new Map([['notes', { command: 'other', args: [] }]]),
    }
    const found = parts({
      environments: [offers('enva', [NOTES_A]), offers('envb', [NOTES_B], ['web'])],
      roots: [NOTES_A, NOTES_B].map(rootOf),
    })
    const overlaid = threadCatalog({ ...found, policies: { overlays } }, ON)
    expect(overlaid.servers.map(({ config: { enabled, enabledTools } }) => [enabled, enabledTools])).toEqual([
      [false, undefined],
      [true, ['whoami']],
      [true, undefined],
    ])
    const required = threadCatalog({ ...found, policies: { requirements } }, ON)
    expect(required.servers.map(({ config }) => config.disabledReason)).toEqual([
      { kind: 'requirements', source: 'managed' },
      { kind: 'requirements', source: 'managed' },
      { kind: 'requirements', source: 'managed' },
    ])
  })

  it("holds an executor's own servers, and nothing else, to what its administrator demands", () => {
    const executorRequirements = [
      { source: '/etc/codex/requirements.toml', servers: new Map([['web', { url: 'http://h/' }]]) },
    ]
    const found = { ...offers('enva', [NOTES_A], ['web', 'other']), executorRequirements }
    const catalog = threadCatalog(parts({ environments: [found], roots: [rootOf(NOTES_A)] }), ON)
    expect(catalog.servers.map(({ key, config }) => [key.name, config.enabled, config.disabledReason?.source])).toEqual(
      [
        ['notes', true, undefined],
        ['other', false, '/etc/codex/requirements.toml'],
        ['web', true, undefined],
      ],
    )
  })

  it('takes no word of an environment that its tools need no approval', () => {
    const approving = {
      defaultToolsApprovalMode: 'approve',
      tools: Object.fromEntries<ToolSettings>([
        ['wipe', { approvalMode: 'approve', outputTokenLimit: 9 }],
        ['ask', { approvalMode: 'prompt' }],
        ['__proto__', { approvalMode: 'approve' }],
      ]),
    } as const
    const brought = {
      ...NOTES_A,
      servers: new Map([['notes', stdioConfig({}, { environmentId: 'enva', ...approving })]]),
    }
    const found = {
      ...offers('enva', [brought]),
      executorServers: new Map([['web', httpConfig('http://h/', {}, { environmentId: 'enva', ...approving })]]),
    }
    const mine = { name: 'mine', config: stdioConfig({}, approving) }
    const byHost = new Map<string, PluginPolicy>([
      ['a', { servers: new Map([['notes', { defaultToolsApprovalMode: 'approve' }]]) }],
    ])
    const all = parts({ servers: [mine], environments: [found], roots: [rootOf(brought)] })
    const modes = (policies: Policies) =>
      threadCatalog({ ...all, policies }, ON).servers.map(({ key, config }) => [
        key.name,
        ...['other', 'wipe', 'ask', '__proto__'].map((tool) => approvalModeOf(config, tool)),
        config.tools.wipe?.outputTokenLimit,
      ])
    const mineIs = ['mine', 'approve', 'approve', 'prompt', 'approve', 9]
    const webIs = ['web', 'auto', 'auto', 'prompt', 'auto', 9]
    expect(modes({})).toEqual([mineIs, ['notes', 'auto', 'auto', 'prompt', 'auto', 9], webIs])
    expect(modes({ overlays: byHost, isTrusted: () => true })).toEqual([
      mineIs,
      ['notes', 'approve', 'auto', 'prompt', 'auto', 9],
      webIs,
    ])
  })

  it('asks the environment whether a server may run there', () => {
    const found = parts({ servers: [shared('x')], environments: [offers('enva', [NOTES_A])], roots: [rootOf(NOTES_A)] })
    const catalog = threadCatalog(
      { ...found, policies: { authorityOf: () => ({ kind: 'selected_plugins_only' }) } },
      ON,
    )
    expect(catalog.servers.map(({ key, config }) => [key.name, config.enabled])).toEqual([
      ['notes', true],
      ['x', false],
    ])
  })
})

describe('the catalog of a thread without the feature', () => {
  it('has one server a name: of the first root over all environments, with a warning for each that is dropped', () => {
    const environments = [offers('enva', [NOTES_A]), offers('envb', [NOTES_B])]
    for (const [roots, winner] of [
      [[NOTES_A, NOTES_B], 'enva'],
      [[NOTES_B, NOTES_A], 'envb'],
    ] as const) {
      const catalog = threadCatalog(parts({ environments, roots: roots.map(rootOf) }))
      expect(catalog.servers.map(({ key }) => key.environment)).toEqual([winner])
      expect(catalog.problems.map(({ code }) => code)).toEqual(['dropped_same_name'])
    }
  })

  it("has the host's own before all others", () => {
    const environments = [offers('enva', [NOTES_A], ['notes']), offers('envb', [NOTES_B])]
    const catalog = threadCatalog(
      parts({ servers: [shared('notes')], environments, roots: [NOTES_A, NOTES_B].map(rootOf) }),
    )
    expect(rows(catalog)).toEqual([['notes', null, 'config']])
    expect(catalog.problems.filter(({ code }) => code === 'dropped_same_name')).toHaveLength(2)
  })
})

describe('the roots of a thread', () => {
  const root = (id: string, environment: string) => ({ id, environment, path: `/${id}` })

  it('are its own, then what its environments report', () => {
    const { roots, problems } = effectiveRoots(
      [root('t', 'envb')],
      [root('b', 'envb'), root('a', 'enva'), root('c', 'elsewhere')],
      ['enva', 'envb'],
    )
    expect(roots.map(({ id }) => id)).toEqual(['t', 'a', 'b'])
    expect(problems).toEqual([])
  })

  it.each([
    ['too many', Array.from({ length: 257 }, (_, index) => root(`r${index}`, 'enva'))],
    ['one without an id', [root(' ', 'enva'), root('x', 'enva')]],
    ['one twice', [root('x', 'enva'), root('x', 'enva')]],
  ])('are not those of a report with %s', (_, report) => {
    const { roots, problems } = effectiveRoots([root('t', 'enva')], [...report, root('b', 'envb')], ['enva', 'envb'])
    expect(roots.map(({ id }) => id)).toEqual(['t', 'b'])
    expect(problems).toMatchObject([{ code: 'root_report_refused' }])
  })

  it('may be 256 of one environment', () => {
    const report = Array.from({ length: 256 }, (_, index) => root(`r${index}`, 'enva'))
    expect(effectiveRoots([], report, ['enva']).roots).toHaveLength(256)
  })

  it('keep the one of the thread when a report has another of that id', () => {
    const { roots, problems } = effectiveRoots(
      [root('x', 'enva')],
      [{ ...root('x', 'envb'), path: '/y' }],
      ['enva', 'envb'],
    )
    expect(roots).toEqual([root('x', 'enva')])
    expect(problems).toMatchObject([{ code: 'root_conflict' }])
  })
})
