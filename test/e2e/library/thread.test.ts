import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/protocol/index.js'
import type { ThreadEvent } from '../../../src/reeve.js'
import { eventually, isRunning } from '../../fixtures/stdio/running.js'
import { stdioServer, TempHome } from './temp-home.js'

const text = (result: JsonObject) => (result.content as { text: string }[])[0]?.text

describe('a thread', () => {
  it('offers and calls the tools of every server by namespace, with the raw name on the wire', async () => {
    using home = new TempHome(stdioServer('notes', 'echo.mjs') + stdioServer('web-two', 'echo.mjs', ['--only-echo']))
    await using reeve = await home.open()
    await using thread = await reeve.startThread()
    const step = await thread.step()
    expect(step.namespaces.map(({ name }) => name)).toEqual(['mcp__notes', 'mcp__web_two'])
    const result = await step.call({ namespace: 'mcp__web_two', name: 'echo', arguments: { message: 'hi' } })
    expect(text(result)).toBe('hi')
    const params = JSON.parse(
      String(
        text(
          await step.call({
            namespace: 'mcp__notes',
            name: 'params',
            arguments: { a: 1 },
            _meta: { 'x/y': 2, threadId: 'forged' },
          }),
        ),
      ),
    )
    expect(params).toMatchObject({ name: 'params', arguments: { a: 1 }, _meta: { 'x/y': 2, threadId: thread.id } })
  })

  it('refuses what the step does not offer, in the words of the reference', async () => {
    using home = new TempHome(stdioServer('notes', 'echo.mjs', [], 'disabled_tools = ["echo"]'))
    await using reeve = await home.open()
    await using thread = await reeve.startThread()
    const step = await thread.step()
    for (const [namespace, name] of [
      ['mcp__notes', 'nothing'],
      ['mcp__none', 'whoami'],
      ['', 'mcp__notes__add'],
      ['mcp__notes', '__proto__'],
      ['mcp__notes', 'echo'],
    ] as const) {
      await expect(step.call({ namespace, name })).rejects.toThrow(`unsupported call: ${namespace}${name}`)
    }
    await expect(thread.callTool({ server: 'notes', tool: 'echo' })).rejects.toThrow(
      "tool 'echo' is disabled for MCP server 'notes'",
    )
    await expect(step.call({ namespace: 'mcp__notes', name: 'add', arguments: [1] })).rejects.toMatchObject({
      code: 'invalid_arguments',
    })
    await expect(thread.callTool({ server: 'nope', tool: 'x' })).rejects.toThrow("unknown MCP server 'nope'")
  })

  it('refuses a call whose tool is gone, and leaves the other tools of the step callable', async () => {
    using home = new TempHome(stdioServer('notes', 'echo.mjs', ['--list-changed']))
    await using reeve = await home.open()
    const events: ThreadEvent[] = []
    await using thread = await reeve.startThread({ onEvent: (event) => events.push(event) })
    const step = await thread.step()
    events.length = 0
    await step.call({ namespace: 'mcp__notes', name: 'remove_tool', arguments: { name: 'add' } })
    await eventually(() =>
      expect(events).toContainEqual(expect.objectContaining({ type: 'inventory_changed', what: 'tools' })),
    )
    await expect(step.call({ namespace: 'mcp__notes', name: 'add', arguments: { a: 1, b: 2 } })).rejects.toMatchObject({
      code: 'stale_catalog',
    })
    expect(text(await step.call({ namespace: 'mcp__notes', name: 'echo', arguments: { message: 'still' } }))).toBe(
      'still',
    )
    expect((await thread.step()).tools.map(({ tool }) => tool)).not.toContain('add')
  })

  it('asks before a call that the configuration wants asked, and refuses it where nobody can be', async () => {
    using home = new TempHome(
      stdioServer(
        'notes',
        'echo.mjs',
        [],
        'default_tools_approval_mode = "writes"\n[mcp_servers.notes.tools.echo]\napproval_mode = "prompt"',
      ),
    )
    await using reeve = await home.open()
    await using silent = await reeve.startThread()
    const call = { namespace: 'mcp__notes', name: 'echo', arguments: { message: 'x' } }
    await expect((await silent.step()).call(call)).rejects.toMatchObject({
      code: 'approval_required',
      place: 'notes/echo',
    })
    expect(
      text(await (await silent.step()).call({ namespace: 'mcp__notes', name: 'add', arguments: { a: 1, b: 2 } })),
    ).toBe('3')
    const asked: string[] = []
    await using asking = await reeve.startThread({
      onApproval: async ({ tool, arguments: args }) => {
        asked.push(`${tool} ${JSON.stringify(args)}`)
        return tool === 'echo' ? 'approve' : 'decline'
      },
    })
    const step = await asking.step()
    expect(text(await step.call(call))).toBe('x')
    await expect(step.call({ namespace: 'mcp__notes', name: 'fails' })).rejects.toThrow('user rejected MCP tool call')
    await expect(asking.callTool({ server: 'notes', tool: 'fails' })).rejects.toThrow('user rejected MCP tool call')
    expect(asked).toEqual(['echo {"message":"x"}', 'fails undefined', 'fails undefined'])
  })

  it('calls by server and raw name outside a step, a name that was never listed included', async () => {
    using home = new TempHome(stdioServer('notes', 'echo.mjs'))
    await using reeve = await home.open()
    await using thread = await reeve.startThread()
    expect(text(await thread.callTool({ server: 'notes', tool: 'echo', arguments: { message: 'direct' } }))).toBe(
      'direct',
    )
    await expect(thread.callTool({ server: 'notes', tool: 'unlisted' })).rejects.toMatchObject({ code: 'rpc_error' })
    // Where it runs names it too (reference: known-quirks, row 7).
    expect(
      text(
        await thread.callTool({ server: 'notes', environment: 'local', tool: 'echo', arguments: { message: 'here' } }),
      ),
    ).toBe('here')
    await expect(thread.callTool({ server: 'notes', environment: 'elsewhere', tool: 'echo' })).rejects.toThrow(
      "unknown MCP server 'notes (environment elsewhere)'",
    )
  })

  it('lists, reads and completes through exact keys', async () => {
    using home = new TempHome(
      stdioServer('a', 'echo.mjs', ['--page-size', '1']) +
        stdioServer('b', 'echo.mjs', ['--no-resources', '--no-prompts']),
    )
    await using reeve = await home.open()
    await using thread = await reeve.startThread()
    const all = await thread.resources.listAll()
    expect(all.failures).toEqual([])
    expect(all.pages.map(({ key, items }) => [key.name, items.length])).toEqual([['a', 3]])
    const first = await thread.resources.list({ server: 'a' })
    expect(first.items).toHaveLength(1)
    const second = await thread.resources.list({
      server: 'a',
      ...(first.nextCursor !== undefined && { cursor: first.nextCursor }),
    })
    expect(second.items[0]).not.toEqual(first.items[0])
    expect(await thread.resources.read({ server: 'a', uri: 'echo://greeting' })).toMatchObject({
      contents: [{ uri: 'echo://greeting' }],
    })
    await expect(thread.resources.read({ server: 'b', uri: 'echo://greeting' })).rejects.toMatchObject({
      code: 'rpc_error',
      rpcCode: -32601,
    })
    const templates = await thread.resources.templates.listAll()
    expect(templates.failures).toEqual([])
    expect((await thread.prompts.listAll()).pages.map(({ key }) => key.name)).toEqual(['a'])
  })

  it('keeps servers that a new configuration does not change, and ends those that it drops', async () => {
    using home = new TempHome(stdioServer('kept', 'echo.mjs') + stdioServer('dropped', 'echo.mjs'))
    await using reeve = await home.open()
    await using thread = await reeve.startThread()
    const pid = async (server: string) =>
      JSON.parse(String(text(await thread.callTool({ server, tool: 'process' })))).pid as number
    const [kept, dropped] = [await pid('kept'), await pid('dropped')]
    home.write(
      'config.toml',
      stdioServer('kept', 'echo.mjs', [], 'enabled_tools = ["process"]') +
        stdioServer('added', 'echo.mjs', ['--only-echo']),
    )
    await reeve.reload()
    expect(await pid('kept')).toBe(kept)
    await eventually(() => expect(isRunning(dropped)).toBe(false))
    const step = await thread.step({ wait: 'all' })
    expect(step.tools.map(({ key, tool }) => `${key.name}/${tool}`)).toEqual(['added/echo', 'kept/process'])
  })

  it('fails to start, with every reason, when a required server does not come up', async () => {
    using home = new TempHome(
      stdioServer('good', 'echo.mjs') +
        stdioServer('bad', 'exit-3.mjs', [], 'required = true') +
        '[mcp_servers.worse]\ncommand = "no-such-program"\nrequired = true\n',
    )
    await using reeve = await home.open()
    const error = await reeve.startThread().catch((caught: unknown) => caught)
    expect(error).toMatchObject({ code: 'required_servers_failed' })
    expect(String(error)).toMatch(/required MCP servers failed to initialize: bad: .*; worse: .*no-such-program/s)
    await using thread = await reeve.startThread({ only: [{ server: 'good' }] })
    expect((await thread.step()).tools.length).toBeGreaterThan(0)
  })

  it('starts only the servers that it is meant for', async () => {
    using home = new TempHome(stdioServer('a', 'echo.mjs', ['--only-echo']) + stdioServer('b', 'stubborn.mjs'))
    await using reeve = await home.open()
    await using thread = await reeve.startThread({ only: [{ server: 'a' }] })
    expect((await thread.step({ wait: 'all' })).tools).toHaveLength(1)
    expect(thread.servers().map(({ key }) => key.name)).toEqual(['a'])
    await expect(reeve.startThread({ only: [{ server: 'c' }] })).rejects.toMatchObject({ code: 'unknown_server' })
  })

  it('offers from the cache at once in the next run, and starts the server for the call', async () => {
    using home = new TempHome(stdioServer('late', 'echo.mjs', ['--start-delay', '400', '--instructions', 'Use it.']))
    {
      await using reeve = await home.open()
      await using thread = await reeve.startThread()
      await thread.step({ wait: 'all' })
    }
    await using reeve = await home.open()
    await using thread = await reeve.startThread({ naming: 'readable' })
    const step = await thread.step({ wait: 'none' })
    expect(step.tools.every(({ live }) => !live)).toBe(true)
    expect(step.namespaces[0]?.description).toContain('Use it.')
    expect(text(await step.callFlat('late__echo', { message: 'woken' }))).toBe('woken')
  })

  it('leaves no process behind when it is closed, also in the middle of a call', async () => {
    using home = new TempHome(stdioServer('notes', 'echo.mjs'))
    const reeve = await home.open()
    const thread = await reeve.startThread()
    const { pid } = JSON.parse(String(text(await thread.callTool({ server: 'notes', tool: 'process' })))) as {
      pid: number
    }
    const hanging = thread.callTool({ server: 'notes', tool: 'hang' })
    hanging.catch(() => {})
    await reeve.close()
    await expect(hanging).rejects.toMatchObject({
      name: expect.stringMatching(/ClosedError|TransportClosedError|CancelledError/),
    })
    await eventually(() => expect(isRunning(pid)).toBe(false))
    await expect(thread.step()).rejects.toMatchObject({ code: 'closed' })
    await expect(reeve.startThread()).rejects.toMatchObject({ code: 'closed' })
  })
})
