import { mkdir, mkdtemp, realpath, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Params } from '../wire/params.js'
import { readConfig } from './config.js'
import { homesOf } from './homes.js'
import { discoverInstalled } from './installed.js'
import { discoverRoots } from './roots.js'
import { currentVersion } from './versions.js'

let folder: string
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'reeve-discovery-')))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const uri = (path = '') => pathToFileURL(join(folder, path)).href

async function write(path: string, content: unknown): Promise<string> {
  const place = join(folder, path)
  await mkdir(dirname(place), { recursive: true })
  await writeFile(place, typeof content === 'string' ? content : JSON.stringify(content))
  return place
}

const File = z.object({ path: z.string(), contents: z.string() })
const Roots = z.object({
  roots: z.array(
    z.looseObject({
      plugin: z.object({ manifest: File, mcpConfig: File.nullable() }).loose().nullable(),
      warnings: z.array(z.string()),
      error: z.string().nullable(),
    }),
  ),
})
const root = async (path: string) => {
  const answer = await discoverRoots(new Params({ roots: [{ id: 'r', path: uri(path) }] }))
  return Roots.parse(answer).roots[0]
}

describe('a root on this machine', () => {
  it('gives up files that are too large for any message, or lead out, and says so', async () => {
    await write('p/.codex-plugin/plugin.json', {})
    await truncate(await write('p/.mcp.json', ''), 100 * 1024 * 1024)
    expect(await root('p')).toMatchObject({ plugin: { mcpConfig: null }, warnings: [expect.stringContaining('limit')] })
    await rm(join(folder, 'p', '.mcp.json'))
    await symlink(await write('secret.json', {}), join(folder, 'p', '.mcp.json'))
    expect(await root('p')).toMatchObject({ plugin: { mcpConfig: null }, warnings: [expect.stringContaining('out')] })
    await rm(join(folder, 'p', '.mcp.json'))
    await symlink('nowhere', join(folder, 'p', '.mcp.json'))
    expect(await root('p')).toMatchObject({ plugin: { mcpConfig: null }, warnings: [] })
  })

  it('has no manifest that is too large or no text', async () => {
    await truncate(await write('p/.codex-plugin/plugin.json', ''), 100 * 1024 * 1024)
    expect(await root('p')).toMatchObject({ plugin: null, warnings: [expect.stringContaining('limit')] })
    await writeFile(join(folder, 'p', '.codex-plugin', 'plugin.json'), Buffer.from([0x7b, 0xff]))
    expect(await root('p')).toMatchObject({ plugin: null, warnings: [expect.stringContaining('UTF-8')] })
  })

  it('names servers outside in vain', async () => {
    await write('x.json', {})
    for (const mcpServers of ['./../x.json', '../x.json', join(folder, 'x.json'), './\u0000']) {
      await write('p/.codex-plugin/plugin.json', { mcpServers })
      expect(await root('p')).toMatchObject({ plugin: { mcpConfig: null }, warnings: [expect.any(String)] })
    }
  })

  it('is refused with a sandbox, which this executor has not', async () => {
    const params = new Params({ roots: [{ id: 'r', path: uri(), sandbox: { permissions: { type: 'disabled' } } }] })
    await expect(discoverRoots(params)).rejects.toMatchObject({ rpcCode: -32602 })
  })
})

describe('the plugins installed on this machine', () => {
  const variables = () => ({ CODEX_HOME: join(folder, 'codex'), REEVE_HOME: join(folder, 'reeve') })
  const discover = () => discoverInstalled(new Params({ cwd: uri() }), homesOf(variables()))
  beforeEach(async () => {
    await mkdir(join(folder, 'codex'))
    await mkdir(join(folder, 'reeve'))
  })

  it('are those of both homes, each id once, by id', async () => {
    await write('reeve/plugins/cache/m/b/1.0.0/.codex-plugin/plugin.json', { name: 'B' })
    await write('codex/plugins/cache/m/c/1.0.0/.codex-plugin/plugin.json', { name: 'C' })
    await write('reeve/plugins/cache/m/c/2.0.0/.codex-plugin/plugin.json', { name: 'C2' })
    expect(await discover()).toMatchObject({
      plugins: [
        { id: 'b@m', displayName: 'B' },
        { id: 'c@m', displayName: 'C', version: '1.0.0' },
      ],
      warnings: [expect.stringContaining("'c@m' is installed twice")],
    })
  })

  it('are none where nothing is installed, and none from elsewhere', async () => {
    expect(await discover()).toEqual({ plugins: [], skills: [], warnings: [] })
    await write('away/1.0.0/.codex-plugin/plugin.json', { name: 'A' })
    await mkdir(join(folder, 'codex', 'plugins', 'cache', 'm'), { recursive: true })
    await symlink(join(folder, 'away'), join(folder, 'codex', 'plugins', 'cache', 'm', 'a'))
    expect(await discover()).toMatchObject({ plugins: [], warnings: [expect.stringContaining('leads out')] })
  })

  it('cannot be told from a home that is named and not there', async () => {
    const homes = homesOf({ ...variables(), CODEX_HOME: join(folder, 'no') })
    const asked = discoverInstalled(new Params({ cwd: uri() }), homes)
    await expect(asked).rejects.toMatchObject({ rpcCode: -32603 })
  })

  it.each([
    [['1.9.0', '1.10.0'], '1.10.0'],
    [['1.0.0', '1.0.0-rc.1'], '1.0.0'],
    [['1.0.0-rc.2', '1.0.0-rc.10'], '1.0.0-rc.10'],
    [['1.0.0-a', '1.0.0-1'], '1.0.0-a'],
    [['9.0.0', 'local'], 'local'],
    [['abc', 'def'], 'def'],
    [['1.0.0', 'zzz'], 'zzz'],
    [[], undefined],
  ])('have one version that counts: %j', (names, version) => {
    expect(currentVersion(names)).toBe(version)
    expect(currentVersion([...names].reverse())).toBe(version)
  })
})

describe('the configuration of this machine', () => {
  const Config = z.object({ config: z.object({ layers: z.array(z.object({ source: z.string(), toml: z.string() })) }) })
  const read = async (paths: unknown) => {
    const variables = { CODEX_HOME: join(folder, 'codex'), REEVE_HOME: join(folder, 'reeve') }
    const params = new Params({ cwd: uri(), configPaths: paths, requirementsPaths: [] })
    return Config.parse(await readConfig(params, homesOf(variables), variables)).config.layers
  }
  beforeEach(async () => {
    await write('codex/config.toml', '[mcp_servers.a]\nurl = "http://codex/"\n[other]\nsecret = 1\n')
    await write(
      'reeve/config.toml',
      '[mcp_servers.a]\nurl = "http://reeve/"\n[mcp_servers.b]\ncommand = "c"\nenv = { S = "hidden" }\n',
    )
  })

  it('has a layer for each home, the stronger last, and only what was asked for', async () => {
    const layers = await read([['mcp_servers']])
    expect(layers.map(({ toml }) => /http:\/\/(\w+)\//.exec(toml)?.[1])).toEqual(['codex', 'reeve'])
    expect(JSON.stringify(layers)).not.toContain('secret')
  })

  it.each([[['mcp_servers', 'b', 'env', 'S']], [['mcp_servers', 'b', 'env']], [['mcp_servers', 'b']]])(
    'never tells the variables of a server: %j',
    async (path) => {
      expect(JSON.stringify(await read([path]))).not.toContain('hidden')
    },
  )

  it('comes with what the administrator of the machine demands', async () => {
    const file = await write('etc/requirements.toml', '[mcp_servers.a.identity]\nurl = "http://a/"\n[other]\nx = 1\n')
    const variables = { CODEX_HOME: join(folder, 'codex'), REEVE_HOME: join(folder, 'reeve') }
    const ask = (requirementsPaths: unknown) =>
      readConfig(new Params({ cwd: uri(), configPaths: [['x']], requirementsPaths }), homesOf(variables), variables, [
        join(folder, 'no.toml'),
        file,
      ])
    expect(await ask([['mcp_servers']])).toMatchObject({
      requirements: {
        layers: [{ source: file, baseDir: uri('etc'), toml: '[mcp_servers.a.identity]\nurl = "http://a/"\n' }],
        cloudInsertionIndex: 1,
      },
    })
    expect(await ask([])).toMatchObject({ requirements: { layers: [], cloudInsertionIndex: 0 } })
    await write('etc/requirements.toml', '[x')
    await expect(ask([['mcp_servers']])).rejects.toMatchObject({ rpcCode: -32603 })
  })

  it('knows no member that nobody wrote', async () => {
    expect(await read([['__proto__'], ['constructor', 'name'], ['mcp_servers', 'toString']])).toMatchObject([
      { toml: '[mcp_servers]\n' },
      { toml: '[mcp_servers]\n' },
    ])
  })

  it.each([
    ['[x\nsecret = "s', 'config.toml:1:'],
    ['a = 1\na = "secret"', 'config.toml:2:'],
  ])('that is broken says where, without what stands there: %j', async (toml, place) => {
    await write('codex/config.toml', toml)
    const error = await read([['a']]).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ rpcCode: -32603, message: expect.stringContaining(place) })
    expect(String(error)).not.toContain('secret')
  })

  it.each(['folder', 'large', 'bytes'])('that is no text is broken: %s', async (what) => {
    const file = join(folder, 'codex', 'config.toml')
    await rm(file)
    if (what === 'folder') await mkdir(file)
    else await writeFile(file, Buffer.from([0x61, 0xff]))
    if (what === 'large') await truncate(file, 100 * 1024 * 1024)
    await expect(read([['a']])).rejects.toMatchObject({ rpcCode: -32603 })
  })
})
