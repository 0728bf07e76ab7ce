import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildCli, type CliHome, cliHome, echo } from './built-cli.js'

beforeAll(buildCli)

/** Every frame that a server gets goes to a file of its own, which so proves whether the server was started. */
const recorded = (folder: string, name: string) => join(folder, `${name}.frames`)
const started = (home: CliHome, name: string) => existsSync(recorded(home.folder, name))

async function homeWith(names: readonly string[], args: readonly string[] = []): Promise<CliHome> {
  const home = await cliHome()
  const entries = names.map((name) => {
    const { command, args: own } = echo('--name', name, '--record', recorded(home.folder, name), ...args)
    return `[mcp_servers.${name}]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(own)}\n`
  })
  writeFileSync(join(home.folder, 'config.toml'), entries.join('\n'))
  return home
}

async function list(home: CliHome, ...args: string[]) {
  const { code, stdout, stderr } = await home.reeve(['tools', '--json', ...args])
  return { code, stderr, ...JSON.parse(stdout) }
}

describe('reeve tools', () => {
  it('asks each server once, and then lists from the cache without starting anything', async () => {
    await using home = await homeWith(['notes', 'files'])
    const first = await list(home)
    expect(first.code).toBe(0)
    expect(started(home, 'notes') && started(home, 'files')).toBe(true)
    for (const name of ['notes', 'files']) rmSync(recorded(home.folder, name))

    const second = await list(home)
    expect(started(home, 'notes') || started(home, 'files')).toBe(false)
    const echoTool = second.tools.find((tool: { exposed_name: string }) => tool.exposed_name === 'notes__echo')
    expect(echoTool).toMatchObject({
      server: 'notes',
      environment_id: null,
      cached: true,
      tool: { name: 'echo', title: 'Echo', inputSchema: { required: ['message'] } },
    })
    const names = (tools: readonly { exposed_name: string }[]) => tools.map((tool) => tool.exposed_name)
    expect(names(second.tools)).toEqual(names(first.tools))
  })

  it('starts only the server whose entry changed', async () => {
    await using home = await homeWith(['notes', 'files'])
    await list(home)
    for (const name of ['notes', 'files']) rmSync(recorded(home.folder, name))
    const config = join(home.folder, 'config.toml')
    writeFileSync(config, readFileSync(config, 'utf8').replace('"--name","files"', '"--name","other"'))
    const { tools } = await list(home)
    expect(started(home, 'notes')).toBe(false)
    expect(started(home, 'files')).toBe(true)
    expect(new Set(tools.map(({ server }: { server: string }) => server))).toEqual(new Set(['notes', 'files']))
  })

  it('applies filters and names at once, without asking the servers again', async () => {
    await using home = await homeWith(['notes'])
    await list(home)
    rmSync(recorded(home.folder, 'notes'))
    const config = join(home.folder, 'config.toml')
    writeFileSync(config, `${readFileSync(config, 'utf8')}enabled_tools = ["echo", "add"]\n`)
    const { tools } = await list(home)
    expect(tools.map(({ tool }: { tool: { name: string } }) => tool.name)).toEqual(['add', 'echo'])
    expect(started(home, 'notes')).toBe(false)
  })

  it('asks again with --refresh', async () => {
    await using home = await homeWith(['notes'])
    await list(home)
    rmSync(recorded(home.folder, 'notes'))
    const { tools } = await list(home, '--refresh')
    expect(started(home, 'notes')).toBe(true)
    expect(tools[0].cached).toBe(false)
  })

  it('lists one server where it is named, and starts no other', async () => {
    await using home = await homeWith(['notes', 'files'])
    const { tools } = await list(home, 'files')
    expect(started(home, 'notes')).toBe(false)
    expect(tools.every(({ server }: { server: string }) => server === 'files')).toBe(true)
    const { code, stderr } = await home.reeve(['tools', 'fils'])
    expect(code).toBe(1)
    expect(stderr).toContain("Did you mean 'files'?")
  })

  it('shows what people need, with the arguments that may be left out in brackets', async () => {
    await using home = await homeWith(['notes'])
    const { code, stdout } = await home.reeve(['tools'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^SERVER +TOOL +ARGUMENTS +DESCRIPTION$/m)
    expect(stdout).toMatch(/^notes +echo +message +Returns its message$/m)
    expect(stdout).toMatch(/^notes +fails +\[message\] /m)
  })

  it('lists the rest, names the server that failed and ends with 1', async () => {
    await using home = await homeWith(['notes'])
    const config = join(home.folder, 'config.toml')
    writeFileSync(config, `${readFileSync(config, 'utf8')}\n[mcp_servers.broken]\ncommand = "/nowhere/to-be-found"\n`)
    const { code, tools, failures } = await list(home)
    expect(code).toBe(1)
    expect(tools.length).toBeGreaterThan(5)
    expect(failures).toMatchObject([{ server: 'broken', environment_id: null }])
  })

  it('is fine without any server', async () => {
    await using home = await cliHome()
    expect(await list(home)).toMatchObject({ code: 0, tools: [], failures: [] })
  })
})
