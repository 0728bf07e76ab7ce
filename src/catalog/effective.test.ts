import { describe, expect, it } from 'vitest'
import { httpConfig, stdioConfig } from '../../test/fixtures/server-config.js'
import type { ServerConfig } from '../config/index.js'
import { serverKey } from '../identity/index.js'
import { CatalogBuilder } from './catalog.js'
import { type AccountFacts, effectiveServers, isAgentPlugin, NO_ACCOUNT } from './effective.js'
import { hostedAppsRegistration, isHostOwnedApps } from './hosted-apps.js'

const authOf = (url: string, account: Partial<AccountFacts> = {}) => {
  const registration = {
    key: serverKey('docs'),
    source: { kind: 'config' },
    config: httpConfig(url, { auth: 'chatgpt' }),
  } as const
  const [server] = effectiveServers(new CatalogBuilder().register(registration).build(), { ...NO_ACCOUNT, ...account })
  return server?.config.transport.type === 'stdio' ? undefined : server?.config.transport.auth
}
const register = (config: ServerConfig, name: string) =>
  new CatalogBuilder().register({ key: serverKey(name), source: { kind: 'config' }, config }).build()

describe('(26) auth chatgpt', () => {
  it('is kept on the first-party origin, any path', () => {
    for (const url of ['https://chatgpt.com', 'https://chatgpt.com:443/a?b', 'HTTPS://ChatGPT.com/backend-api/mcp'])
      expect(authOf(url)).toBe('chatgpt')
  })

  it('becomes oauth on any other', () => {
    for (const url of [
      'http://chatgpt.com/mcp',
      'https://chatgpt.com:8443/mcp',
      'https://other.chatgpt.com/mcp',
      'https://chatgpt.com.example.com/mcp',
      'https://chatgpt.com@example.com/mcp',
      'https://api.openai.com/mcp',
      'blob:https://chatgpt.com/mcp',
      'not a url',
      '',
    ])
      expect(authOf(url)).toBe('oauth')
  })

  it('is kept on a staging host only when that is the configured base, over https', () => {
    const staging = 'https://chatgpt-staging.com/mcp'
    expect(authOf(staging)).toBe('oauth')
    expect(authOf(staging, { chatgptBaseUrl: 'https://chatgpt-staging.com/backend-api/' })).toBe('chatgpt')
    expect(authOf('https://x.chatgpt-staging.com/mcp', { chatgptBaseUrl: 'https://x.chatgpt-staging.com' })).toBe(
      'chatgpt',
    )
    expect(authOf(staging, { chatgptBaseUrl: 'https://x.chatgpt-staging.com' })).toBe('oauth')
    expect(authOf('http://chatgpt-staging.com/mcp', { chatgptBaseUrl: 'http://chatgpt-staging.com' })).toBe('oauth')
    expect(authOf('https://evilchatgpt-staging.com', { chatgptBaseUrl: 'https://evilchatgpt-staging.com' })).toBe(
      'oauth',
    )
    expect(authOf('https://example.com', { chatgptBaseUrl: 'https://example.com' })).toBe('oauth')
    expect(authOf(staging, { chatgptBaseUrl: 'nonsense' })).toBe('oauth')
  })

  it('leaves every other member and every other server as it was', () => {
    const config = httpConfig('https://example.com/mcp', { httpHeaders: { a: 'b' } }, { required: true })
    expect(effectiveServers(register(config, 'docs'))[0]?.config).toBe(config)
    const stdio = stdioConfig()
    expect(effectiveServers(register(stdio, 'docs'))[0]?.config).toBe(stdio)
  })
})

describe('(26) hosted apps', () => {
  const config = httpConfig('https://chatgpt.com/backend-api/mcp', { auth: 'chatgpt' })

  it('are gone without apps or without backend auth, whoever registered the name', () => {
    for (const catalog of [
      new CatalogBuilder().register(hostedAppsRegistration({ id: 'apps', order: 0 }, config)).build(),
      register(config, 'codex_apps'),
    ]) {
      expect(effectiveServers(catalog)).toEqual([])
      expect(effectiveServers(catalog, { appsEnabled: true, usesCodexBackend: false })).toEqual([])
      expect(effectiveServers(catalog, { appsEnabled: false, usesCodexBackend: true })).toEqual([])
      expect(effectiveServers(catalog, { appsEnabled: true, usesCodexBackend: true })).toHaveLength(1)
    }
  })

  it('are never invented', () => {
    expect(effectiveServers(new CatalogBuilder().build(), { appsEnabled: true, usesCodexBackend: true })).toEqual([])
  })

  it('belong to the host only from a source of the host, and locally', () => {
    const apps = hostedAppsRegistration({ id: 'apps', order: 1 }, config)
    expect(apps).toMatchObject({
      key: serverKey('codex_apps'),
      source: { kind: 'extension', id: 'apps', order: 1, hostOwnedApps: true },
    })
    expect(isHostOwnedApps(apps)).toBe(true)
    expect(isHostOwnedApps({ ...apps, source: { kind: 'compatibility', id: 'c' } })).toBe(true)
    expect(isHostOwnedApps({ ...apps, source: { kind: 'config' } })).toBe(false)
    expect(isHostOwnedApps({ ...apps, key: serverKey('other') })).toBe(false)
    expect(isHostOwnedApps({ ...apps, key: serverKey('codex_apps', 'local') })).toBe(false)
    const remote = hostedAppsRegistration({ id: 'apps', order: 1 }, { ...config, environmentId: 'enva' })
    expect(remote.source).toMatchObject({ hostOwnedApps: false })
    expect(isHostOwnedApps(remote)).toBe(false)
    const ordinary = { kind: 'extension', id: 'e', order: 0, hostOwnedApps: false } as const
    expect(isHostOwnedApps({ ...apps, source: ordinary })).toBe(false)
  })
})

describe('effective servers', () => {
  it('know whether an Agent Plugin brought them', () => {
    const plugin = { id: 'p', displayName: 'P', agentPlugin: true }
    expect(isAgentPlugin({ kind: 'host_plugin', order: 0, plugin })).toBe(true)
    expect(isAgentPlugin({ kind: 'host_plugin', order: 0, plugin: { ...plugin, agentPlugin: false } })).toBe(false)
    expect(isAgentPlugin({ kind: 'config' })).toBe(false)
  })

  it('are frozen', () => {
    const [server] = effectiveServers(register(stdioConfig(), 'docs'))
    expect(Object.isFrozen(server) && Object.isFrozen(server?.config)).toBe(true)
  })
})
