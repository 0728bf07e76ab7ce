import { describe, expect, it } from 'vitest'
import { ConnectionHarness, listing, tool } from '../../test/fixtures/connections/harness.js'
import { settle } from '../../test/fixtures/connections/manual-timers.js'
import { FailingTransport, gate, Refusal, type Script } from '../../test/fixtures/connections/scripted-server.js'
import { httpServer, stdioServer } from '../../test/fixtures/connections/servers.js'
import { AuthRequiredError, ProcessFailedError, type StartupFailedError } from '../errors.js'
import type { Transport } from '../protocol/index.js'

function failure({ state }: ConnectionHarness): StartupFailedError {
  if (state.state !== 'failed') throw new Error(`not failed but ${state.state}`)
  return state.error
}

function answering(result: Record<string, unknown>): Record<string, Script> {
  return { initialize: () => JSON.parse(JSON.stringify(result)) }
}

/** An opened transport that ends with this error as soon as anything is sent. */
function endingWith(error: Error): (transport: Transport) => Transport {
  return (transport) => {
    const ending = new FailingTransport(transport, () => {
      queueMicrotask(() => ending.onclose?.({ error }))
      return undefined
    })
    return ending
  }
}

const never = () => new Promise<never>(() => {})

describe('a startup', () => {
  it('asks for the era, then offers the newest revision, says who we are, and confirms before it lists', async () => {
    const harness = await new ConnectionHarness({ scripts: [listing(tool('a'))] }).up()
    const methods = harness.server.received.map((message) => ('method' in message ? message.method : 'answer'))
    expect(methods.slice(0, 4)).toEqual(['server/discover', 'initialize', 'notifications/initialized', 'tools/list'])
    expect(harness.server.received[1]).toMatchObject({
      params: { protocolVersion: '2025-11-25', clientInfo: { name: 'test', version: '1' }, capabilities: {} },
    })
    expect(harness.state.state).toBe('ready')
    expect(harness.connection.offer.inventory?.tools).toEqual([tool('a')])
  })

  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])('accepts revision %s', async (revision) => {
    const harness = await new ConnectionHarness({ scripts: [answering({ protocolVersion: revision })] }).up()
    expect(harness.state).toMatchObject({ state: 'ready', handshake: { protocolVersion: revision } })
  })

  it.each([['1999-01-01'], [undefined], [7], [{ a: 1 }]])('refuses revision %s by name', async (revision) => {
    const harness = await new ConnectionHarness({ scripts: [answering({ protocolVersion: revision })] }).up()
    expect(failure(harness).message).toContain(
      `speaks protocol version ${JSON.stringify(revision) ?? 'undefined'}, not one of 2024-11-05`,
    )
    await settle()
    expect(harness.server.closed).toBe(true)
  })

  it('fills in what a server does not say about itself', async () => {
    const harness = await new ConnectionHarness({ scripts: [answering({ protocolVersion: '2025-06-18' })] }).up()
    expect(harness.connection.offer.inventory).toMatchObject({
      serverInfo: { name: 'notes', version: '' },
      capabilities: {},
    })
  })

  it('keeps unknown members of the handshake, and of every tool', async () => {
    const odd = tool('a', { _meta: { x: 1 }, futureMember: [1], annotations: { unheardOf: true } })
    const harness = await new ConnectionHarness({
      scripts: [
        {
          ...answering({
            protocolVersion: '2025-11-25',
            serverInfo: { name: 'n', version: '1', x: { y: 1 } },
            capabilities: { tools: { z: 1 }, unheard: {} },
            instructions: 'Be kind.',
          }),
          'tools/list': () => ({ tools: [odd], _meta: { page: 'first' } }),
        },
      ],
    }).up()
    expect(harness.connection.offer.inventory).toMatchObject({
      serverInfo: { x: { y: 1 } },
      capabilities: { tools: { z: 1 }, unheard: {} },
      instructions: 'Be kind.',
      tools: [odd],
      toolList: { _meta: { page: 'first' } },
    })
    expect(Object.isFrozen(harness.connection.offer.inventory?.tools[0]?.annotations)).toBe(true)
  })

  it('refuses a name that no server may have, without opening anything', async () => {
    const harness = await new ConnectionHarness({ server: stdioServer('my notes!') }).up()
    expect(failure(harness).message).toBe(
      'MCP client for `my notes!` failed to start: MCP startup failed: ' +
        "Invalid MCP server name 'my notes!': must match pattern ^[a-zA-Z0-9_:@/.-]+$",
    )
    expect(harness.attempts).toHaveLength(0)
  })

  it.each<[string, Partial<Record<string, Script>>, string]>([
    ['initialize', { initialize: never }, 'timed out handshaking with MCP server after 3s: deadline has elapsed'],
    ['tools/list', { 'tools/list': never }, 'request timed out: listing what the server offers took more than 3s'],
  ])('that hangs in %s ends with the deadline, and with the hint how to move it', async (_what, script, reason) => {
    const harness = new ConnectionHarness({
      server: stdioServer('slow', { startupTimeoutMs: 3000 }),
      scripts: [script as Record<string, Script>],
    })
    harness.connection.start()
    await harness.timers.advance(2999)
    expect(harness.state.state).toBe('starting')
    await harness.timers.advance(1)
    expect(failure(harness).message).toBe(
      'MCP client for `slow` timed out after 3 seconds. Add or adjust `startup_timeout_sec` in your config.toml:\n' +
        '[mcp_servers.slow]\nstartup_timeout_sec = XX',
    )
    expect(failure(harness).data?.reason).toBe(reason)
    await settle()
    expect(harness.server.closed).toBe(true)
  })

  it('has one deadline over all its phases', async () => {
    const slow =
      (ms: number, answer: Script): Script =>
      async (params, request) => {
        await new Promise<void>((resolve) => harness.timers.after(ms, resolve))
        return answer(params, request)
      }
    const harness: ConnectionHarness = new ConnectionHarness({
      server: stdioServer('slow', { startupTimeoutMs: 3000 }),
      scripts: [
        {
          initialize: slow(2000, () => ({ protocolVersion: '2025-11-25', capabilities: {}, serverInfo: {} })),
          'tools/list': slow(2000, () => ({ tools: [] })),
        },
      ],
    })
    harness.connection.start()
    await harness.timers.advance(3000)
    expect(harness.state.state).toBe('failed')
  })

  it('that is stuck in opening ends with the deadline, and closes what opens later', async () => {
    const opened = gate()
    const harness = new ConnectionHarness({
      server: stdioServer('slow', { startupTimeoutMs: 1000 }),
      through: (transport) => opened.passed.then(() => transport),
    })
    harness.connection.start()
    await harness.timers.advance(1000)
    expect(failure(harness).data?.reason).toBe('MCP client startup timed out after 1s')
    opened.open()
    await settle()
    expect(harness.server.closed).toBe(true)
  })

  it('waits 30 s where nothing is configured', async () => {
    const harness = new ConnectionHarness({ scripts: [{ initialize: never }] })
    harness.connection.start()
    await harness.timers.advance(29_999)
    expect(harness.state.state).toBe('starting')
    await harness.timers.advance(1)
    expect(failure(harness).message).toContain('timed out after 30 seconds')
  })

  it('says how a server ended that ends in the middle of the handshake', async () => {
    const ended = new ProcessFailedError('the process exited with code 3; stderr: boom')
    const harness = await new ConnectionHarness({ through: endingWith(ended) }).up()
    expect(failure(harness).message).toBe(
      'MCP client for `notes` failed to start: MCP startup failed: handshaking with MCP server failed: ' +
        'connection closed: initialize response: the process exited with code 3; stderr: boom',
    )
  })

  it('passes on why nothing could be opened', async () => {
    const harness = await new ConnectionHarness({
      through: () => Promise.reject(new ProcessFailedError('No such file or directory (os error 2)')),
    }).up()
    expect(failure(harness).message).toBe(
      'MCP client for `notes` failed to start: MCP startup failed: No such file or directory (os error 2)',
    )
    expect(failure(harness).data).toMatchObject({ code: 'process_failed' })
  })

  it('tells a server that wants a login apart from one that fails', async () => {
    const refuse = (transport: Transport) =>
      new FailingTransport(transport, () => new AuthRequiredError('401 Unauthorized'))
    const harness = await new ConnectionHarness({ server: httpServer('docs'), through: refuse }).up()
    expect(failure(harness).authRequired).toBe(true)
    expect(failure(harness).message).toBe('The docs MCP server is not logged in. Run `reeve login docs`.')
  })

  it('fails with the limit by name when a server has 10,000 tools', async () => {
    const many = Array.from({ length: 10_000 }, (_, index) => tool(`t${index}`))
    const harness = await new ConnectionHarness({ scripts: [listing(...many)] }).up()
    expect(failure(harness).message).toContain('items of tools/list exceeds the limit of 2048')
    expect(failure(harness).data).toMatchObject({ code: 'limit_exceeded', limit: 2048 })
  })

  it('asks for tools that are not declared, and takes method-not-found for none', async () => {
    const silent = answering({ protocolVersion: '2025-11-25', capabilities: {} })
    const without = await new ConnectionHarness({
      scripts: [
        {
          ...silent,
          'tools/list': () => {
            throw new Refusal(-32601, 'no')
          },
        },
      ],
    }).up()
    expect(without.connection.offer.inventory?.tools).toEqual([])
    const forgetful = await new ConnectionHarness({ scripts: [{ ...silent, ...listing(tool('a')) }] }).up()
    expect(forgetful.connection.offer.inventory?.tools).toEqual([tool('a')])
  })

  it('fails when a server that declares tools can not list them', async () => {
    const harness = await new ConnectionHarness({
      scripts: [
        {
          'tools/list': () => {
            throw new Refusal(-32603, 'database is down')
          },
        },
      ],
    }).up()
    expect(failure(harness).message).toContain('database is down')
  })

  it('lists resources, templates and prompts only where they are declared', async () => {
    const plain = await new ConnectionHarness().up()
    expect(plain.server.count('resources/list') + plain.server.count('prompts/list')).toBe(0)
    expect(plain.connection.offer.inventory).not.toHaveProperty('resources')
    const rich = await new ConnectionHarness({
      scripts: [
        {
          ...answering({ protocolVersion: '2025-11-25', capabilities: { tools: {}, resources: {}, prompts: {} } }),
          'resources/list': () => ({ resources: [{ uri: 'a://1', x: 1 }] }),
          'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 'a://{id}' }] }),
          'prompts/list': () => ({ prompts: [{ name: 'p' }] }),
        },
      ],
    }).up()
    expect(rich.connection.offer.inventory).toMatchObject({
      resources: [{ uri: 'a://1', x: 1 }],
      resourceTemplates: [{ uriTemplate: 'a://{id}' }],
      prompts: [{ name: 'p' }],
    })
    expect(rich.route.inventoryChanges).toEqual(['tools', 'resources', 'prompts'])
  })

  it('warns when resources or prompts can not be listed, and is ready all the same', async () => {
    const refuse = () => {
      throw new Refusal(-32603, 'backend gone')
    }
    const harness = await new ConnectionHarness({
      scripts: [
        {
          ...answering({ protocolVersion: '2025-11-25', capabilities: { tools: {}, resources: {}, prompts: {} } }),
          ...listing(tool('a')),
          'resources/list': refuse,
          'prompts/list': refuse,
        },
      ],
    }).up()
    expect(harness.state.state).toBe('ready')
    expect(harness.route.warnings).toEqual([
      "MCP server 'notes': resources/list failed: backend gone",
      "MCP server 'notes': prompts/list failed: backend gone",
    ])
    expect(harness.connection.offer.inventory).toMatchObject({ tools: [tool('a')], resourceTemplates: [] })
  })

  it('does not wait for resources that do not come, and takes them when they do', async () => {
    const late = gate()
    const harness = new ConnectionHarness({
      scripts: [
        {
          ...answering({ protocolVersion: '2025-11-25', capabilities: { tools: {}, resources: {} } }),
          ...listing(tool('a')),
          'resources/list': () => late.passed.then(() => ({ resources: [{ uri: 'a://1' }] })),
        },
      ],
    })
    harness.connection.start()
    await harness.timers.advance(2000)
    expect(harness.state.state).toBe('ready')
    expect(harness.connection.offer.inventory).not.toHaveProperty('resources')
    late.open()
    await settle()
    expect(harness.connection.offer.inventory).toMatchObject({ resources: [{ uri: 'a://1' }] })
    expect(harness.route.inventoryChanges).toEqual(['tools', 'resources'])
  })

  it('can be cancelled, and closes what it had opened', async () => {
    const harness = new ConnectionHarness({ scripts: [{ initialize: never }] })
    harness.connection.start()
    await settle()
    harness.connection.cancelStartup()
    await settle()
    expect(harness.state.state).toBe('cancelled')
    expect(harness.server.closed).toBe(true)
    expect(harness.route.states).toEqual(['starting', 'cancelled'])
  })

  it('does not come back to life when the connection is closed meanwhile', async () => {
    const initialized = gate()
    const harness = new ConnectionHarness({
      scripts: [
        {
          initialize: () =>
            initialized.passed.then(() => ({ protocolVersion: '2025-11-25', capabilities: {}, serverInfo: {} })),
        },
      ],
    })
    harness.connection.start()
    await settle()
    const closed = harness.connection.close()
    initialized.open()
    await closed
    await settle()
    expect(harness.state.state).toBe('closed')
    expect(harness.server.closed).toBe(true)
    expect(harness.route.states).toEqual(['starting', 'closed'])
    await expect(harness.connection.ready(harness.route)).rejects.toMatchObject({ code: 'closed' })
  })

  it('keeps the inventory for later', async () => {
    const harness = await new ConnectionHarness({ scripts: [listing(tool('a'))] }).up()
    expect(harness.kept).toEqual([harness.connection.offer.inventory])
  })
})
