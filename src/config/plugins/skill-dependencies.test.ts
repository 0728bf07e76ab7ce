import { describe, expect, it } from 'vitest'
import { httpConfig, stdioConfig } from '../../../test/fixtures/server-config.js'
import { dependencyKey, neededServers, type SkillDependency } from './skill-dependencies.js'

const http = (over: Partial<SkillDependency> = {}): SkillDependency => ({
  type: 'mcp',
  name: 'docs',
  url: 'https://h/',
  ...over,
})
const NOBODY = new Map()

describe('the servers that skills need', () => {
  it('are plain configurations of what is missing', () => {
    const { servers, warnings } = neededServers(
      [http(), { type: 'MCP', name: 'run', transport: 'STDIO', command: ' run ' }, { type: 'env', name: 'X' }],
      NOBODY,
    )
    expect(warnings).toEqual([])
    expect([...servers]).toMatchObject([
      ['docs', { transport: { type: 'streamable_http', url: 'https://h/' }, environmentId: 'local', enabled: true }],
      ['run', { transport: { type: 'stdio', command: 'run', args: [] } }],
    ])
  })

  it.each<[SkillDependency, string]>([
    [http(), 'mcp__streamable_http__https://h/'],
    [http({ transport: 'Streamable_HTTP', url: ' https://h/ ' }), 'mcp__streamable_http__https://h/'],
    [http({ transport: 'stdio', command: 'c' }), 'mcp__stdio__c'],
    [http({ url: '  ' }), 'docs'],
    [http({ transport: 'stdio' }), 'docs'],
  ])('are told apart by where they are: %j', (dependency, key) => {
    expect(dependencyKey(dependency)).toBe(key)
  })

  it('are asked for once, also under another name', () => {
    expect([
      ...neededServers([http(), http({ name: 'again', transport: 'STREAMABLE_HTTP' })], NOBODY).servers.keys(),
    ]).toEqual(['docs'])
  })

  it('are not those that are installed', () => {
    const installed = new Map([
      ['mine', httpConfig('https://h/')],
      ['run', stdioConfig({ command: 'run' })],
    ])
    const needed = [http(), { type: 'mcp', name: 'other', transport: 'stdio', command: 'run' }]
    expect(neededServers(needed, installed)).toEqual({ servers: new Map(), warnings: [] })
  })

  it('never replace another server of their name', () => {
    const { servers, warnings } = neededServers([http()], new Map([['docs', stdioConfig()]]))
    expect(servers.size).toBe(0)
    expect(warnings).toHaveLength(1)
  })

  it.each([{ url: '' }, { transport: 'sse' }, { transport: 'stdio' }])(
    'that can not be used are warned of, and do not stand for others: %j',
    (over) => {
      const { servers, warnings } = neededServers([http(over), http({ name: 'docs' })], NOBODY)
      expect([...servers.keys()]).toEqual(['docs'])
      expect(warnings).toEqual([expect.stringContaining("'docs'")])
    },
  )
})
