import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildCli, cliHome } from './built-cli.js'

beforeAll(buildCli)

describe('configuration from the built command line', () => {
  it('adds, shows, switches and removes a server, and uses it in between', async () => {
    await using home = await cliHome()
    const echo = ['--', process.execPath, join('test', 'fixtures', 'stdio', 'echo.mjs')]
    const ok = async (...args: string[]) => {
      const { code, stdout, stderr } = await home.reeve(args)
      expect(code, stderr).toBe(0)
      return stdout
    }
    await ok('add', 'notes', '--cwd', process.cwd(), ...echo)
    expect(readFileSync(join(home.folder, 'config.toml'), 'utf8')).toContain('[mcp_servers.notes]')
    expect(await ok('list')).toMatch(/^notes\s.*enabled/m)
    expect(await ok('call', 'notes', 'echo', 'message=hi')).toBe('hi\n')
    await ok('disable', 'notes')
    expect(JSON.parse(await ok('get', 'notes', '--json'))).toMatchObject({ enabled: false })
    expect(JSON.parse(await ok('tools', '--json')).tools).toEqual([])
    await ok('enable', 'notes')
    expect(await ok('config', 'check')).toContain('1 server, 0 errors')
    expect(JSON.parse(await ok('config', 'schema'))).toHaveProperty('properties.mcp_servers')
    expect(await ok('config', 'path')).toBe(`${join(home.folder, 'config.toml')}\n`)
    await ok('remove', 'notes')
    expect((await home.reeve(['get', 'notes'])).code).toBe(1)
  })

  it('imports from another client', async () => {
    await using home = await cliHome()
    mkdirSync(join(home.folder, '.cursor'))
    const file = join(home.folder, '.cursor', 'mcp.json')
    writeFileSync(file, JSON.stringify({ mcpServers: { theirs: { command: 'node', args: ['server.js'] } } }))
    const { code, stderr } = await home.reeve(['import', 'cursor'])
    expect(code, stderr).toBe(0)
    expect((await home.reeve(['list'])).stdout).toMatch(/^theirs +node +server\.js/m)
  })
})
