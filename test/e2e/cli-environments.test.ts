import { mkdir, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveExecutorWebSocket, type WebSocketExecutor } from '../../src/executor/index.js'
import { buildCli, type CliHome, cliHome, ROOT } from './built-cli.js'

const PLACE = join(ROOT, 'test', 'fixtures', 'stdio', 'place.mjs')

let home: CliHome
/** By the id of the environment. */
const executors = new Map<string, WebSocketExecutor>()

beforeAll(async () => {
  await buildCli()
  home = await cliHome()
  const far = await Promise.all(['devbox', 'workshop'].map(environment))
  const local = `[mcp_servers.notes]\n${command('local')}\n[mcp_servers.here]\n${command('local')}\n`
  await writeFile(
    join(home.folder, 'config.toml'),
    local + far.join('') + root('notes', 'devbox') + root('notes', 'workshop') + root('only', 'workshop'),
  )
})
afterAll(async () => {
  await home[Symbol.asyncDispose]()
  await Promise.all([...executors.values()].map((executor) => executor[Symbol.asyncDispose]()))
})

/** An executor, and plugin folders beside it. */
async function environment(id: string): Promise<string> {
  const env = { PATH: process.env.PATH ?? '', HOME: home.folder }
  const executor = await serveExecutorWebSocket({
    host: '127.0.0.1',
    port: 0,
    authentication: { kind: 'none' },
    env,
    cwd: home.folder,
  })
  executors.set(id, executor)
  for (const name of ['notes', 'only']) await plugin(id, name)
  return entry(id, executor.url)
}

const entry = (id: string, url: string): string =>
  `[[environments]]\nid = "${id}"\nurl = "${url}"\nworkspace = ${JSON.stringify(home.folder)}\n`

/** A plugin with one server, called as the plugin is. */
async function plugin(id: string, name: string): Promise<void> {
  const folder = folderOf(name, id)
  await mkdir(join(folder, '.codex-plugin'), { recursive: true })
  await writeFile(join(folder, '.codex-plugin', 'plugin.json'), JSON.stringify({ name, version: '1.0.0' }))
  const servers = { [name]: { command: process.execPath, args: [PLACE, id] } }
  await writeFile(join(folder, '.mcp.json'), JSON.stringify({ mcpServers: servers }))
}

const folderOf = (name: string, id: string): string => join(home.folder, 'plugins', id, name)
const command = (place: string): string =>
  `command = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([PLACE, place])}`
const root = (name: string, id: string): string =>
  `[[capability_roots]]\nid = "${name}@${id}"\nenvironment = "${id}"\npath = ${JSON.stringify(folderOf(name, id))}\n`

describe('servers of environments on the command line', () => {
  it('are listed with those of the configuration, each with its environment', async () => {
    const { code, stdout } = await home.reeve(['tools', '--json'])
    expect(code).toBe(0)
    expect(placesOf(stdout, 'tools')).toEqual(['here', 'notes', 'notes devbox', 'notes workshop', 'only workshop'])
    const table = (await home.reeve(['tools'])).stdout
    expect(table).toMatch(/^SERVER +ENVIRONMENT /)
    expect(table.match(/^(here|notes|only) +\S+ +where .*from \w+/gm)?.map((line) => line.replace(/ +/g, ' '))).toEqual(
      [
        'here - where - Says from local',
        'notes - where - Says from local',
        'notes devbox where - Says from devbox',
        'notes workshop where - Says from workshop',
        'only workshop where - Says from workshop',
      ],
    )
    const resources = await home.reeve(['resources', '--json'])
    expect(placesOf(resources.stdout, 'resources')).toEqual(placesOf(stdout, 'tools'))
    const prompts = await home.reeve(['prompts', '--json'])
    expect(placesOf(prompts.stdout, 'prompts')).toEqual(placesOf(stdout, 'tools'))
  })

  it('are used by their name and --env; a name alone means the server of the configuration', async () => {
    const said: string[] = []
    for (const verb of [
      ['call', 'notes', 'where'],
      ['read', 'notes', 'place://here'],
      ['prompt', 'notes', 'where'],
    ]) {
      for (const env of [[], ['--env', 'local'], ['--env', 'devbox'], ['--env', 'workshop']]) {
        const { stdout, code } = await home.reeve([...verb, ...env])
        expect(code).toBe(0)
        said.push(/from \w+/.exec(stdout)?.[0] ?? stdout)
      }
    }
    const places = ['from local', 'from local', 'from devbox', 'from workshop']
    expect(said).toEqual([...places, ...places, ...places])
  })

  it('are one that is listed alone', async () => {
    const { stdout } = await home.reeve(['tools', 'notes', '--env', 'workshop', '--json'])
    expect(placesOf(stdout, 'tools')).toEqual(['notes workshop'])
    expect(placesOf((await home.reeve(['resources', 'only', '--json'])).stdout, 'resources')).toEqual(['only workshop'])
  })

  it('that a name could mean are refused with the choices and the flag to use', async () => {
    await writeFile(join(home.folder, 'two.toml'), twoOwners())
    const { code, stdout, stderr } = await home.reeve([
      'call',
      'notes',
      'where',
      '--config',
      join(home.folder, 'two.toml'),
    ])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain("MCP server 'notes' exists in several environments (devbox, workshop)")
    expect(stderr).toContain('--env ID')
  })

  it('are unknown in another environment, and names that are nowhere get the closest one', async () => {
    const elsewhere = await home.reeve(['call', 'only', 'where', '--env', 'devbox', '--json'])
    expect(JSON.parse(elsewhere.stderr).error).toMatchObject({
      code: 'unknown_server',
      server: 'only',
      environment_id: 'devbox',
    })
    const other = await home.reeve(['call', 'here', 'where', '--env', 'devbox'])
    expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('Use no --env.') })
    const nowhere = await home.reeve(['read', 'nots', 'place://here'])
    expect(nowhere.stderr).toContain("unknown MCP server 'nots'. Did you mean 'notes'?")
  })

  it('are examined one by one', async () => {
    const { code, stdout } = await home.reeve(['doctor', '--json'])
    expect(placesOf(stdout, 'servers')).toEqual(['here', 'notes', 'notes devbox', 'notes workshop', 'only workshop'])
    expect({ code, findings: JSON.parse(stdout).findings }).toEqual({ code: 0, findings: [] })
    expect((await home.reeve(['doctor'])).stdout).toMatch(/^no problems; 5 servers up \(3 of environments\), /)
    const alone = await home.reeve(['doctor', 'notes', '--env', 'workshop', '--json'])
    expect(alone).toMatchObject({ code: 0, stderr: '' })
    expect(placesOf(alone.stdout, 'servers')).toEqual(['notes workshop'])
  })

  it('are not connected to by a verb that needs none of them', async () => {
    const asked: string[] = []
    const listener = createServer((socket) => {
      asked.push('connected')
      socket.destroy()
    })
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
    const { port } = listener.address() as AddressInfo
    await using other = await cliHome()
    await writeFile(
      join(other.folder, 'config.toml'),
      `[mcp_servers.here]\n${command('local')}\n${entry('far', `ws://127.0.0.1:${port}`)}`,
    )
    for (const args of [['list'], ['get', 'here'], ['tools', 'here'], ['call', 'here', 'where'], ['config', 'check']])
      expect(await other.reeve(args)).toMatchObject({ code: 0 })
    expect(asked).toEqual([])
    listener.close()
  })

  it('that can not be asked make a listing incomplete, and no other verb', async () => {
    const broken = `${twoOwners()}[[environments]]\nid = "gone"\nurl = "ws://127.0.0.1:9"\n`
    await writeFile(join(home.folder, 'gone.toml'), broken)
    const file = ['--config', join(home.folder, 'gone.toml')]
    const listed = await home.reeve(['tools', '--json', ...file])
    expect(listed.code).toBe(1)
    expect(placesOf(listed.stdout, 'tools')).toEqual(['notes devbox', 'notes workshop'])
    expect(listed.stderr).toContain('gone')
    const called = await home.reeve(['call', 'notes', 'where', '--env', 'devbox', ...file])
    expect(called).toMatchObject({ code: 0, stdout: 'from devbox\n' })
  })

  it('that a broken plugin should have are named with their folder', async () => {
    const folder = folderOf('broken', 'devbox')
    await mkdir(folder, { recursive: true })
    await writeFile(join(home.folder, 'broken.toml'), twoOwners() + root('broken', 'devbox'))
    const file = ['--config', join(home.folder, 'broken.toml')]
    const { code, stdout } = await home.reeve(['doctor', '--json', ...file])
    expect(code).toBe(1)
    expect(JSON.parse(stdout).findings).toMatchObject([
      { severity: 'error', code: 'not_a_plugin', place: `environment devbox: ${folder}` },
    ])
    expect((await home.reeve(['prompts', ...file])).code).toBe(1)
  })
})

/** The configuration without servers of this machine, and without what only one environment has. */
function twoOwners(): string {
  const entries = [...executors].map(([id, { url }]) => entry(id, url))
  return entries.join('') + root('notes', 'devbox') + root('notes', 'workshop')
}

interface Row {
  readonly server: string
  readonly environment_id: string | null
}

function placesOf(json: string, member: string): string[] {
  const rows = (JSON.parse(json) as Record<string, readonly Row[]>)[member] ?? []
  return rows
    .map(({ server, environment_id }) => (environment_id === null ? server : `${server} ${environment_id}`))
    .sort()
}
