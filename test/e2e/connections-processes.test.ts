import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { serverKey } from '../../src/identity/index.js'
import { became, fixture, offered, RealConnections, textOf } from '../fixtures/connections/real-servers.js'

const ECHO = serverKey('echo')

describe('a server process', () => {
  let connections: RealConnections
  beforeEach(async () => {
    connections = await RealConnections.open()
  })
  afterEach(async () => {
    await connections[Symbol.asyncDispose]()
  })

  async function capture(name: string) {
    const captured = (await connections.manager.capture()).find(({ key }) => key.name === name)
    if (captured === undefined) throw new Error(`${name} was not captured`)
    return captured
  }

  async function pid(): Promise<number> {
    const [captured] = await connections.manager.capture({ wait: 'all' })
    const result = await captured?.prepareCall('process').run({ arguments: {} })
    return JSON.parse(textOf(result ?? {})).pid
  }

  it('killed in the middle of a call fails that call once, comes back by itself, and is asked again', async () => {
    connections.manager.replace([fixture('echo')])
    const first = await pid()
    const call = (await capture('echo')).prepareCall('hang').run({})
    const failed = connections.next(became('echo', 'failed'))
    const back = connections.next(became('echo', 'ready'))
    process.kill(first, 'SIGKILL')
    await expect(call).rejects.toMatchObject({
      code: 'transport_closed',
      sent: true,
      message: expect.stringContaining('SIGKILL'),
      key: ECHO,
    })
    expect(await failed).toMatchObject({ error: expect.stringContaining('MCP client for `echo` stopped: ') })
    expect(connections.manager.statuses()).toMatchObject([
      { status: 'failed', retryAt: expect.any(Number), cached: true },
    ])
    await back
    expect(await pid()).not.toBe(first)
  })

  it('that crashed is started at once for a call, and for a read that was under way', async () => {
    connections.manager.replace([fixture('echo')])
    await connections.manager.capture({ wait: 'all' })
    const captured = await capture('echo')
    const client = await connections.manager.ready(ECHO)
    await expect(captured.prepareCall('crash').run({ arguments: { code: 7 } })).rejects.toMatchObject({
      code: 'transport_closed',
      message: expect.stringMatching(/code 7.*crashing as asked/s),
    })
    const result = await captured.prepareCall('echo').run({ arguments: { message: 'again' } })
    expect(textOf(result)).toBe('again')
    process.kill(await pid(), 'SIGKILL')
    expect(await client.request('resources/read', { uri: 'echo://greeting' })).toHaveProperty('contents')
  })

  it('that says its list changed, without having declared it, is listed again; a call of a removed tool is refused', async () => {
    connections.manager.replace([fixture('echo')])
    await connections.manager.capture({ wait: 'all' })
    const before = await capture('echo')
    const echo = before.prepareCall('echo')
    const add = before.prepareCall('add')

    const added = connections.next(offered('echo'))
    await before.prepareCall('add_tool').run({ arguments: { name: 'fresh' } })
    await added
    const after = await capture('echo')
    expect(after.tools.map(({ name }) => name)).toContain('fresh')
    expect(before.tools.map(({ name }) => name)).not.toContain('fresh')
    expect(textOf(await after.prepareCall('fresh').run({}))).toBe('fresh')

    const removed = connections.next(offered('echo'))
    await after.prepareCall('remove_tool').run({ arguments: { name: 'add' } })
    await removed
    await expect(add.run({ arguments: { a: 1, b: 2 } })).rejects.toMatchObject({
      code: 'stale_catalog',
      place: 'echo/add',
    })
    expect(textOf(await echo.run({ arguments: { message: 'still there' } }))).toBe('still there')
  })

  it('that needs long to start delays nobody, and its tools come later with a change', async () => {
    connections.manager.replace([fixture('late', 'echo.mjs', ['--start-delay', '1500']), fixture('echo')])
    const late = connections.event(offered('late'))
    const captured = await connections.manager.capture()
    expect(captured.map(({ key, live }) => [key.name, live])).toEqual([
      ['late', false],
      ['echo', true],
    ])
    await late
    expect((await capture('late')).live).toBe(true)
  })

  it('that hangs, crashes, or has too much is named, and hides no other', async () => {
    connections.manager.replace([
      fixture('silent', 'silent.mjs', [], { startupTimeoutMs: 2000 }),
      fixture('exits', 'exit-3.mjs'),
      fixture('crashes', 'crash-after-initialize.mjs'),
      fixture('many', 'echo.mjs', ['--tools', '10000']),
      fixture('old', 'echo.mjs', ['--protocol', '1999-01-01']),
      fixture('endless', 'echo.mjs', ['--endless-pages']),
      fixture('again', 'echo.mjs', ['--page-size', '2', '--repeat-cursor']),
      fixture('odd', 'echo.mjs', [
        '--duplicate-tool',
        '--long-name',
        '300',
        '--schema-kb',
        '200',
        '--recursive-schema',
      ]),
      fixture('paged', 'echo.mjs', ['--page-size', '3', '--tools', '100']),
    ])
    const captured = await connections.manager.capture({ wait: 'all' })
    const tools = new Map(captured.map(({ key, tools }) => [String(key.name), tools]))
    expect(new Set(tools.get('odd')?.map(({ name }) => name)).size).toBe(tools.get('odd')?.length)
    expect(tools.get('odd')?.map(({ name }) => name)).toEqual(expect.arrayContaining(['wide', 'tree', 'n'.repeat(300)]))
    expect(tools.get('paged')?.length).toBeGreaterThan(100)
    const failures = Object.fromEntries(
      connections.manager.statuses().flatMap(({ key, error }) => (error ? [[key.name, error.message]] : [])),
    )
    expect(failures).toEqual({
      silent: expect.stringContaining('timed out after 2 seconds'),
      exits: expect.stringMatching(/connection closed: initialize response: .*code 3/s),
      crashes: expect.stringContaining('exited with code 70'),
      many: expect.stringContaining('items of tools/list exceeds the limit of 2048'),
      old: expect.stringContaining('speaks protocol version "1999-01-01"'),
      endless: expect.stringContaining('pages of tools/list exceeds the limit of 100'),
      again: expect.stringContaining('tools/list gave the same cursor twice'),
    })
    const warnings = connections.events.flatMap((event) => (event.type === 'warning' ? [event.message] : []))
    expect(warnings.filter((warning) => warning.includes('odd')).length).toBe(2)
  })

  it('asks its own holder in the middle of a call, whose clock stands still meanwhile', async () => {
    await connections[Symbol.asyncDispose]()
    connections = await RealConnections.open({
      onRequest: async ({ key, method, origin }) => {
        await new Promise((resolve) => setTimeout(resolve, 300))
        return { action: 'accept', content: { key: key.name, method, origin: String(origin) } }
      },
    })
    connections.manager.replace([fixture('echo')])
    await connections.manager.capture({ wait: 'all' })
    const result = await (await capture('echo')).prepareCall('ask').run({}, { origin: 'my call', timeoutMs: 200 })
    expect(JSON.parse(textOf(result))).toEqual({
      action: 'accept',
      content: { key: 'echo', method: 'elicitation/create', origin: 'my call' },
    })
  })
})
