import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { stdioConfig } from '../../test/fixtures/server-config.js'
import { vectorCases } from '../../test/vectors/cases.js'
import type { PluginPolicy, PluginServerPolicy, ServerConfig, ToolSettings } from '../config/index.js'
import { serverKey } from '../identity/index.js'
import { underPluginOverlay } from './plugin-overlay.js'
import { underPolicies } from './policies.js'
import { approvalModeOf } from './tool-settings.js'
import type { Registration } from './types.js'

const plugin = (id: string, environment: string | null, config: ServerConfig = stdioConfig()): Registration => ({
  key: serverKey('notes', environment),
  source: {
    kind: environment === null ? 'host_plugin' : 'selected_plugin',
    order: 0,
    plugin: { id, displayName: id, agentPlugin: false },
  },
  config,
})
const overlays = (id: string, server: PluginServerPolicy, rest: Partial<PluginPolicy> = {}) =>
  new Map([[id, { servers: new Map([['notes', server]]), ...rest }]])
const overlaid = (registration: Registration, server: PluginServerPolicy) =>
  underPluginOverlay(registration, overlays('rootA', server)).config

describe("(25) the host's word on a plugin's server", () => {
  it('disables and filters by root id, there and nowhere else', () => {
    const server = { enabled: false, enabledTools: ['whoami'], disabledTools: ['wipe'] }
    expect(overlaid(plugin('rootA', 'enva'), server)).toMatchObject(server)
    const other = plugin('rootB', 'envb')
    expect(underPluginOverlay(other, overlays('rootA', server))).toBe(other)
  })

  it('holds for an installed plugin in every environment', () => {
    for (const environment of ['enva', 'envb']) {
      const registration = plugin('notesplug@demo-market', environment)
      const result = underPluginOverlay(registration, overlays('notesplug@demo-market', { enabled: false }))
      expect(result.config.enabled).toBe(false)
    }
  })

  it('disables all servers of a plugin that is disabled', () => {
    const result = underPluginOverlay(
      plugin('rootA', 'enva'),
      new Map([['rootA', { enabled: false, servers: new Map() }]]),
    )
    expect(result.config.enabled).toBe(false)
  })

  it('leaves what it does not name, and the transport always', () => {
    const config = stdioConfig({}, { enabled: false, enabledTools: ['a'], tools: { a: { outputTokenLimit: 5 } } })
    expect(overlaid(plugin('rootA', 'enva', config), {})).toEqual(config)
    expect(overlaid(plugin('rootA', null, config), {})).toEqual(config)
    expect(overlaid(plugin('rootA', null, config), { enabled: true }).enabled).toBe(true)
  })

  it('does not touch a server that no plugin brought', () => {
    const configured: Registration = { ...plugin('rootA', null), source: { kind: 'config' } }
    expect(underPluginOverlay(configured, overlays('rootA', { enabled: false }))).toBe(configured)
  })

  it('sets modes as written on a thread-wide plugin, tool by tool', () => {
    const config = stdioConfig({}, { tools: { wipe: { approvalMode: 'prompt', outputTokenLimit: 9 } } })
    const result = overlaid(plugin('rootA', null, config), {
      defaultToolsApprovalMode: 'writes',
      tools: Object.fromEntries<ToolSettings>([
        ['wipe', { approvalMode: 'approve' }],
        ['constructor', { approvalMode: 'prompt' }],
      ]),
    })
    expect(result.defaultToolsApprovalMode).toBe('writes')
    expect(result.tools).toMatchObject({ wipe: { approvalMode: 'approve', outputTokenLimit: 9 } })
    expect(approvalModeOf(result, 'constructor')).toBe('prompt')
    expect(approvalModeOf(result, 'toString')).toBe('writes')
  })

  it('only tightens the modes of a server that an environment contributed', () => {
    const strict = stdioConfig({}, { defaultToolsApprovalMode: 'prompt', tools: { wipe: { approvalMode: 'approve' } } })
    const loosened = overlaid(plugin('rootA', 'enva', strict), {
      defaultToolsApprovalMode: 'approve',
      tools: { ask: { approvalMode: 'approve' } },
    })
    expect(approvalModeOf(loosened, 'other')).toBe('prompt')
    expect(approvalModeOf(loosened, 'ask')).toBe('prompt')
    const tightened = overlaid(plugin('rootA', 'enva', strict), { defaultToolsApprovalMode: 'writes' })
    expect(approvalModeOf(tightened, 'wipe')).toBe('prompt')
  })

  it('loosens where the host trusts the pair of environment and plugin', () => {
    const isTrusted = (environment: string, id: string) => environment === 'enva' && id === 'rootA'
    const wanted = overlays('rootA', { defaultToolsApprovalMode: 'approve' })
    const modeIn = (environment: string) =>
      approvalModeOf(underPluginOverlay(plugin('rootA', environment), wanted, isTrusted).config, 'ask')
    expect(modeIn('enva')).toBe('approve')
    expect(modeIn('envb')).toBe('auto')
  })

  const Overlay = z.object({
    kind: z.literal('overlay'),
    pluginPolicy: z.object({ default_tools_approval_mode: Mode(), toolMode: Mode() }),
  })
  for (const { name, input, expected } of vectorCases('approvals.json').filter((one) => one.input.kind === 'overlay')) {
    it(`gives the mode of: ${name}`, () => {
      const { default_tools_approval_mode: byDefault, toolMode } = Overlay.parse(input).pluginPolicy
      const result = overlaid(plugin('rootA', 'enva'), {
        ...(byDefault && { defaultToolsApprovalMode: byDefault }),
        ...(toolMode && { tools: { it: { approvalMode: toolMode } } }),
      })
      expect(expected).toMatchObject({ effectiveMode: approvalModeOf(result, 'it') })
    })
  }
})

function Mode() {
  return z.enum(['auto', 'prompt', 'writes', 'approve']).nullable()
}

describe('policies together', () => {
  it('apply the overlay first, then requirements, then the authority of the environment', () => {
    const policies = {
      overlays: overlays('rootA', { enabled: true }),
      requirements: { source: 'managed', servers: new Map() },
      authorityOf: () => ({ kind: 'unavailable' }) as const,
    }
    const off = plugin('rootA', 'enva', stdioConfig({}, { enabled: false }))
    expect(underPolicies(off, policies).config).toMatchObject({
      enabled: false,
      disabledReason: { kind: 'requirements', source: 'managed' },
    })
    expect(underPolicies(off, {})).toBe(off)
  })
})
