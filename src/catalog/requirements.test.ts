import { describe, expect, it } from 'vitest'
import { httpConfig, stdioConfig } from '../../test/fixtures/server-config.js'
import type { Requirements, ServerConfig, ServerMatcher, ValueMatcher } from '../config/index.js'
import { serverKey } from '../identity/index.js'
import { hostedAppsRegistration } from './hosted-apps.js'
import { disabledReasonText, requirementFaults, underRequirements } from './requirements.js'
import type { Registration, RegistrationSource } from './types.js'

const SOURCE = '/etc/reeve/requirements.toml'
const plugin = (id: string): RegistrationSource => ({
  kind: 'selected_plugin',
  order: 0,
  plugin: { id, displayName: id, agentPlugin: false },
})
const allowed = (
  requirements: Omit<Requirements, 'source'>,
  config: ServerConfig,
  source: RegistrationSource = { kind: 'config' },
  name = 'docs',
) => {
  const registration: Registration = { key: serverKey(name), source, config }
  const result = underRequirements(registration, { source: SOURCE, ...requirements })
  if (result.config.enabled) expect(result).toBe(registration)
  else
    expect(result.config).toEqual({
      ...config,
      enabled: false,
      disabledReason: { kind: 'requirements', source: SOURCE },
    })
  return result.config.enabled
}
const docs = <T>(value: T) => new Map([['docs', value]])
const command = stdioConfig({ command: 'docs-mcp', args: ['serve', 'https://a.example.com'] })
const url = httpConfig('https://docs.example.com/mcp')

describe('(24) managed requirements on configured servers', () => {
  it('allow everything when there is no list', () => {
    expect(allowed({}, command)).toBe(true)
    expect(allowed({ plugins: new Map() }, command)).toBe(true)
  })

  it('allow by identity: the same command or the same url, and no other name', () => {
    expect(allowed({ servers: docs({ command: 'docs-mcp' }) }, command)).toBe(true)
    expect(allowed({ servers: docs({ command: '/bin/docs-mcp' }) }, command)).toBe(false)
    expect(allowed({ servers: docs({ url: 'https://docs.example.com/mcp' }) }, url)).toBe(true)
    expect(allowed({ servers: docs({ url: 'https://docs.example.com/' }) }, url)).toBe(false)
    expect(allowed({ servers: docs({ url: 'docs-mcp' }) }, command)).toBe(false)
    expect(allowed({ servers: docs({ command: 'docs-mcp' }) }, command, { kind: 'config' }, 'other')).toBe(false)
    expect(allowed({ servers: docs({ command: 'docs-mcp' }) }, command, { kind: 'config' }, 'constructor')).toBe(false)
  })

  it('allow nothing when a list is empty', () => {
    expect(allowed({ servers: new Map() }, command)).toBe(false)
    expect(allowed({ matchers: new Map() }, command)).toBe(false)
  })

  it('match a url exactly, by its beginning, or by an expression that covers it whole', () => {
    const byUrl = (matcher: ValueMatcher) => allowed({ matchers: docs<ServerMatcher>({ url: matcher }) }, url)
    expect(byUrl({ match: 'exact', value: 'https://docs.example.com/mcp' })).toBe(true)
    expect(byUrl({ match: 'exact', value: 'https://docs.example.com' })).toBe(false)
    expect(byUrl({ match: 'prefix', value: 'https://docs.example.com/' })).toBe(true)
    expect(byUrl({ match: 'prefix', value: 'docs.example.com' })).toBe(false)
    expect(byUrl({ match: 'regex', expression: 'https://[a-z]+\\.example\\.com/mcp' })).toBe(true)
    expect(byUrl({ match: 'regex', expression: 'https://[a-z]+\\.example\\.com' })).toBe(false)
    expect(byUrl({ match: 'regex', expression: 'docs' })).toBe(false)
    expect(byUrl({ match: 'regex', expression: 'https|https://docs\\.example\\.com/mcp' })).toBe(true)
    expect(allowed({ matchers: docs<ServerMatcher>({ url: { match: 'prefix', value: '' } }) }, command)).toBe(false)
  })

  it('match a command with its arguments, each in its place', () => {
    const byArgs = (...args: ValueMatcher[]) =>
      allowed({ matchers: docs<ServerMatcher>({ command: 'docs-mcp', args }) }, command)
    const serve = { match: 'exact', value: 'serve' } as const
    const host = { match: 'regex', expression: 'https://[a-z]+\\.example\\.com' } as const
    expect(byArgs(serve, host)).toBe(true)
    expect(byArgs(host, serve)).toBe(false)
    expect(byArgs(serve)).toBe(false)
    expect(byArgs(serve, host, serve)).toBe(false)
    expect(allowed({ matchers: docs<ServerMatcher>({ command: 'other', args: [serve, host] }) }, command)).toBe(false)
    expect(allowed({ matchers: docs<ServerMatcher>({ command: 'docs-mcp', args: [] }) }, url)).toBe(false)
  })

  it('want both lists satisfied where both name a server, and one where one does', () => {
    const matcher: ServerMatcher = { url: { match: 'prefix', value: 'https://docs.example.com/' } }
    expect(allowed({ servers: docs({ url: 'https://docs.example.com/mcp' }), matchers: docs(matcher) }, url)).toBe(true)
    expect(allowed({ servers: docs({ url: 'https://other.example.com' }), matchers: docs(matcher) }, url)).toBe(false)
    expect(allowed({ servers: new Map(), matchers: docs(matcher) }, url)).toBe(true)
  })

  it('let an expression that cannot be compiled match nothing, and name its place', () => {
    for (const expression of ['(', 'a)|(?:.*', '(?P<x>a)']) {
      const matchers = docs<ServerMatcher>({ command: 'docs-mcp', args: [{ match: 'regex', expression }] })
      expect(allowed({ matchers }, stdioConfig({ command: 'docs-mcp', args: ['a'] }))).toBe(false)
      expect(requirementFaults({ source: SOURCE, matchers })).toMatchObject([{ place: 'docs.args[0]' }])
    }
    const good = docs<ServerMatcher>({ url: { match: 'regex', expression: '.*' } })
    expect(requirementFaults({ source: SOURCE, matchers: good })).toEqual([])
  })

  it('leave what the host itself contributes, by more than its name', () => {
    const apps = hostedAppsRegistration({ id: 'apps', order: 0 }, url)
    expect(underRequirements(apps, { source: SOURCE, servers: new Map() })).toBe(apps)
    expect(allowed({ servers: new Map() }, url, { kind: 'config' }, 'codex_apps')).toBe(false)
  })

  it('say why in words', () => {
    expect(disabledReasonText({ kind: 'requirements', source: SOURCE })).toBe(`requirements (${SOURCE})`)
  })
})

describe('managed approvals', () => {
  const approvals = {
    strictReview: false,
    defaultMode: 'writes' as const,
    servers: new Map([['docs', { tools: new Map([['wipe', 'prompt' as const]]) }]]),
  }
  const managedOf = (requirements: Requirements, name = 'docs', environment: string | null = null) =>
    underRequirements({ key: serverKey(name, environment), source: plugin('p'), config: command }, requirements).config
      .managed

  it('go with every server, of every source, by its own name', () => {
    const rules = { source: SOURCE, strictReview: false, defaultMode: 'writes' }
    expect(managedOf({ source: SOURCE, approvals })).toEqual([{ ...rules, tools: { wipe: 'prompt' } }])
    expect(managedOf({ source: SOURCE, approvals }, 'docs', 'enva')).toEqual([{ ...rules, tools: { wipe: 'prompt' } }])
    expect(managedOf({ source: SOURCE, approvals }, 'constructor')).toEqual([{ ...rules, tools: {} }])
    expect(managedOf({ source: SOURCE })).toBeUndefined()
  })

  it('of two files stand beside each other, and the lists of both have to allow a server', () => {
    const also = { source: 'also', servers: new Map(), approvals }
    const { config } = underRequirements(
      { key: serverKey('docs'), source: { kind: 'config' }, config: command },
      { source: SOURCE, approvals, also },
    )
    expect(config).toMatchObject({ enabled: false, disabledReason: { source: 'also' } })
    expect(config.managed?.map(({ source }) => source)).toEqual([SOURCE, 'also'])
  })
})

describe('(24) managed requirements on plugin servers', () => {
  it('do not look them up in the list of configured servers, unless it is empty', () => {
    expect(allowed({ servers: docs({ command: 'other' }) }, command, plugin('p'))).toBe(true)
    expect(allowed({ servers: new Map() }, command, plugin('p'))).toBe(false)
  })

  it('want a rule of this plugin for this server once any plugin has rules', () => {
    const plugins = new Map([
      ['p', { servers: docs({ command: 'docs-mcp' }) }],
      ['q', {}],
    ])
    expect(allowed({ plugins }, command, plugin('p'))).toBe(true)
    expect(allowed({ plugins }, url, plugin('p'))).toBe(false)
    expect(allowed({ plugins }, command, plugin('q'))).toBe(false)
    expect(allowed({ plugins }, command, plugin('r'))).toBe(false)
    expect(allowed({ plugins }, command, plugin('p'), 'other')).toBe(false)
    expect(allowed({ plugins: new Map([['q', {}]]) }, command, plugin('p'))).toBe(true)
  })

  it('want the matchers satisfied too', () => {
    const matchers = docs<ServerMatcher>({ url: { match: 'prefix', value: 'https://docs.' } })
    expect(allowed({ matchers }, url, plugin('p'))).toBe(true)
    expect(allowed({ matchers }, command, plugin('p'))).toBe(false)
    expect(allowed({ matchers }, url, plugin('p'), 'other')).toBe(false)
  })
})
