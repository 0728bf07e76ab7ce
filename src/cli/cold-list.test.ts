import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { captureCli } from '../../test/captured-cli.js'
import { configuredCatalog, effectiveServers } from '../catalog/index.js'
import { loadConfig } from '../config/index.js'
import { cacheIdentity } from '../connections/index.js'
import { openStore } from '../store/index.js'
import { coldList } from './cold-list.js'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'reeve-cold-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

async function list(...args: string[]) {
  const text = { stdout: '', stderr: '' }
  const { cli } = captureCli({ home })
  const code = await coldList(args, {
    stdout: { write: (chunk) => (text.stdout += chunk) },
    stderr: { write: (chunk) => (text.stderr += chunk) },
    stdin: cli.stdin,
    env: { REEVE_HOME: home, HOME: home },
    cwd: home,
    signal: cli.signal,
  })
  return { code, ...text }
}

/** As if the server had been seen, with one tool of its name. */
async function see(name: string): Promise<void> {
  const config = await loadConfig({ home, cwd: home, env: {} })
  const server = effectiveServers(configuredCatalog(config)).find(({ key }) => key.name === name)
  if (server === undefined) throw new Error(`no server ${name}`)
  const profile = { clientInfo: {}, capabilities: {} }
  const identity = cacheIdentity(server, { profile, env: { REEVE_HOME: home, HOME: home }, fallbackCwd: home }) ?? ''
  using store = openStore(join(home, 'state.sqlite'))
  const tools = [{ name: `of_${name}`, inputSchema: { type: 'object' } }]
  store.inventories.put(identity, name, { protocolVersion: '2025-06-18', serverInfo: {}, capabilities: {}, tools })
}

describe('the listing that loads next to nothing', () => {
  beforeEach(async () => {
    writeFileSync(join(home, 'config.toml'), '[mcp_servers.a]\ncommand = "a"\n[mcp_servers.b]\ncommand = "b"\n')
    await see('a')
    await see('b')
  })

  it('answers what the cache holds whole', async () => {
    for (const args of [
      ['tools', '--json'],
      ['--json', 'tools'],
      ['tools', '--json', '--home', home],
    ]) {
      const { code, stdout } = await list(...args)
      expect(code).toBe(0)
      expect(JSON.parse(stdout).tools.map((tool: { exposed_name: string }) => tool.exposed_name)).toEqual([
        'a__of_a',
        'b__of_b',
      ])
    }
    expect((await list('tools', 'b')).stdout).toMatch(/^b +of_b/m)
  })

  it.each([
    [['tools', '--refresh']],
    [['tools', '--env', 'x', 'a']],
    [['tools', '--env', 'local']],
    [['tools', '--help']],
    [['tools', 'a', 'b']],
    [['tools', '--jsno']],
    [['tools', '--config']],
    [['call', 'tools', 'x']],
    [['tools', 'c']],
    [['tools', '--', 'a']],
  ])('leaves %j to the whole command line, without a word', async (args) => {
    expect(await list(...args)).toEqual({ code: undefined, stdout: '', stderr: '' })
  })

  it('answers for a server by the environment that it runs in', async () => {
    expect((await list('tools', 'b', '--env', 'local')).stdout).toMatch(/^b +of_b/m)
  })

  it('leaves to it what environments may have, and answers for the servers of the configuration', async () => {
    const far = '[[environments]]\nid = "far"\nurl = "ws://127.0.0.1:9"\n'
    const [a, b] = ['[mcp_servers.a]\ncommand = "a"\n', '[mcp_servers.b]\ncommand = "b"\n']
    writeFileSync(join(home, 'config.toml'), far + a + b)
    expect((await list('tools', 'a')).stdout).toMatch(/^a +of_a/m)
    for (const args of [['tools'], ['tools', 'c'], ['tools', 'a', '--env', 'far']]) {
      expect(await list(...args)).toEqual({ code: undefined, stdout: '', stderr: '' })
    }
    writeFileSync(join(home, 'config.toml'), `[features]\nmulti_environment_mcp = false\n${far}${a}${b}`)
    expect((await list('tools')).stdout).toContain('of_b')
    writeFileSync(
      join(home, 'config.toml'),
      `${a}${b}[[capability_roots]]\nid = "r"\nenvironment = "local"\npath = "/plugins/r"\n`,
    )
    expect((await list('tools')).code).toBeUndefined()
  })

  it('leaves a server that is new, changed or switched off by name to it', async () => {
    writeFileSync(join(home, 'config.toml'), '[mcp_servers.a]\ncommand = "a"\n[mcp_servers.b]\ncommand = "other"\n')
    expect((await list('tools')).code).toBeUndefined()
    expect((await list('tools', 'a')).code).toBe(0)
    writeFileSync(join(home, 'config.toml'), '[mcp_servers.a]\ncommand = "a"\nenabled = false\n')
    expect((await list('tools', 'a')).code).toBeUndefined()
    expect((await list('tools', '--json')).stdout).toBe('{"tools":[],"failures":[]}\n')
  })

  it('tells what is wrong with the configuration, and is not fine then', async () => {
    writeFileSync(join(home, 'config.toml'), '[mcp_servers.a]\ncommand = "a"\n[mcp_servers.b]\ncommand = 3\n')
    const { code, stdout, stderr } = await list('tools')
    expect(code).toBe(1)
    expect(stdout).toContain('of_a')
    expect(stderr).toMatch(/^error: .*config\.toml:\d+/)
  })
})
