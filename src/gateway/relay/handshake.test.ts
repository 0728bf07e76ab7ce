import { describe, expect, it } from 'vitest'
import type { ServerStatus } from '../../connections/index.js'
import { serverKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import { capabilitiesOf, instructionsOf, profileOf, showsApps } from './handshake.js'

const row = (name: string, rest: Partial<ServerStatus> = {}, environment: string | null = null): ServerStatus => ({
  key: serverKey(name, environment),
  status: 'connected',
  required: false,
  transport: 'stdio',
  executionEnvironment: 'local',
  since: 0,
  cached: false,
  ...rest,
})

describe('the instructions of all servers', () => {
  it('stand each under its server, by name and environment', () => {
    const rows = [
      row('notes', { instructions: 'Be short.\n' }, 'devbox'),
      row('files', { instructions: 'Ask first.' }),
      row('quiet'),
      row('blank', { instructions: ' \n' }),
    ]
    expect(instructionsOf(rows)).toBe(
      [
        'Several MCP servers stand behind this one. Names of tools and prompts begin with their server.',
        '# MCP server: files\n\nAsk first.',
        '# MCP server: notes (environment devbox)\n\nBe short.',
      ].join('\n\n'),
    )
    expect(instructionsOf([row('quiet')])).toBeUndefined()
  })

  it('are bounded, one by one and together, and never end in half a character', () => {
    const endless = instructionsOf([
      row('a', { instructions: '😀'.repeat(100_000) }),
      row('b', { instructions: 'here' }),
    ])
    expect(endless?.length).toBeLessThan(9_000)
    expect(endless).toContain('[truncated]\n\n# MCP server: b\n\nhere')
    expect(endless).toMatch(/^\P{Cs}*$/u)
    const crowd = Array.from({ length: 100 }, (_, index) => row(`s${index}`, { instructions: 'x'.repeat(5000) }))
    expect(instructionsOf(crowd)?.length).toBeLessThanOrEqual(32_000)
  })
})

describe('what the gateway declares', () => {
  it('does not depend on its servers, but for their extensions, in order of the servers', () => {
    const plain = capabilitiesOf([], 'legacy')
    expect(plain).toMatchObject({ tools: { listChanged: true }, resources: { subscribe: true }, logging: {} })
    expect(capabilitiesOf([row('a', { capabilities: { experimental: { x: {} }, unknown: {} } })], 'legacy')).toEqual(
      plain,
    )
    const of = (extensions: JsonObject) => ({ capabilities: { extensions } })
    const rows = [
      row(
        'b',
        of({ 'x/other': { deep: [1] }, 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html', 'b'], more: 1 } }),
      ),
      row('a', of({ 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html'], more: 0 }, __proto__: {} })),
      row('c'),
    ]
    expect(capabilitiesOf(rows, 'legacy')).toEqual({
      ...plain,
      extensions: {
        'io.modelcontextprotocol/ui': { mimeTypes: ['text/html', 'b'], more: 0 },
        'x/other': { deep: [1] },
      },
    })
  })

  it('offers tasks in the way of each era', () => {
    const rows = [row('new', { capabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } })]
    expect(capabilitiesOf(rows, 'legacy')).toMatchObject({ tasks: { requests: { tools: { call: {} } } } })
    expect(capabilitiesOf(rows, 'legacy')).not.toHaveProperty('extensions')
    const modern = capabilitiesOf([], 'modern')
    expect(modern).toMatchObject({ extensions: { 'io.modelcontextprotocol/tasks': {} } })
    expect(modern).not.toHaveProperty('tasks')
  })

  it("tells servers the client's own words, or that it said none", () => {
    const params = { clientInfo: { name: 'c', 'x-more': 1 }, capabilities: { roots: {}, 'x-unknown': { deep: [] } } }
    expect(profileOf(params)).toEqual(params)
    expect(profileOf({ clientInfo: 'c', capabilities: [] })).toEqual({
      clientInfo: { name: 'unknown', version: '' },
      capabilities: {},
    })
    expect(showsApps(profileOf({ capabilities: { extensions: { 'io.modelcontextprotocol/ui': {} } } }))).toBe(true)
    expect(showsApps(profileOf(params))).toBe(false)
  })
})
