import { describe, expect, it } from 'vitest'
import { ConnectionHarness, type HarnessOptions, listing, tool } from '../../../test/fixtures/connections/harness.js'
import { ManualTimers, settle } from '../../../test/fixtures/connections/manual-timers.js'
import { discovered, modern, ShortMemory, unsupported } from '../../../test/fixtures/connections/modern-script.js'
import { FailingTransport, gate, Refusal, type Script } from '../../../test/fixtures/connections/scripted-server.js'
import { httpServer, stdioServer } from '../../../test/fixtures/connections/servers.js'
import { AuthRequiredError, HttpStatusError, ProtocolViolationError, TransportClosedError } from '../../errors.js'
import { MODERN_META } from '../../protocol/index.js'

const TOOLS = listing(tool('a'))
const WEEK = 7 * 24 * 60 * 60_000

function methods(harness: ConnectionHarness, attempt = 0): string[] {
  const received = harness.attempts[attempt]?.server.received ?? []
  return received.flatMap((message) => ('method' in message ? [message.method] : []))
}

/** A connection with a memory, and the same server once more. */
function remembering(options: HarnessOptions) {
  const timers = options.timers ?? new ManualTimers()
  const memory = new ShortMemory(() => timers.now())
  const open = (scripts = options.scripts) =>
    new ConnectionHarness({ ...options, timers, eras: memory, ...(scripts && { scripts }) })
  return { timers, memory, open }
}

function era(harness: ConnectionHarness): string | undefined {
  return harness.state.state === 'ready' ? harness.state.handshake.era : undefined
}

/** The probe meets this error of the transport. */
function refusing(error: Error): Pick<HarnessOptions, 'server' | 'through'> {
  return {
    server: httpServer('docs'),
    through: (transport) =>
      new FailingTransport(transport, (message) =>
        'method' in message && message.method === 'server/discover' ? error : undefined,
      ),
  }
}

describe('a server that is asked for its era', () => {
  it('is modern when it says so, and gets no handshake', async () => {
    const harness = await new ConnectionHarness({ scripts: [modern(TOOLS, { instructions: 'Be kind.' })] }).up()
    expect(methods(harness)).toEqual(['server/discover', 'tools/list'])
    expect(harness.state).toMatchObject({
      state: 'ready',
      handshake: {
        era: 'modern',
        protocolVersion: '2026-07-28',
        serverInfo: { name: 'modern', version: '2' },
        capabilities: { tools: {} },
        instructions: 'Be kind.',
      },
    })
    expect(harness.server.received[0]).toMatchObject({
      params: {
        _meta: {
          [MODERN_META.protocolVersion]: '2026-07-28',
          [MODERN_META.clientInfo]: { name: 'test', version: '1' },
          [MODERN_META.clientCapabilities]: {},
        },
      },
    })
  })

  it.each<[string, Script]>([
    ['does not know the question', () => Promise.reject(new Refusal(-32601, 'no such method'))],
    ['wants a handshake first', () => Promise.reject(new Refusal(-32000, 'Server not initialized'))],
    ['finds the params wrong', () => Promise.reject(new Refusal(-32602, 'bad params'))],
    ['answers with something else', () => ({ ok: true })],
    ['names no revision', () => discovered({ supportedVersions: [] })],
    ['names its revisions in another way', () => discovered({ supportedVersions: '2026-07-28' })],
    ['names older revisions alone', () => discovered({ supportedVersions: ['2025-11-25', '2025-06-18'] })],
    ['supports older revisions alone', () => Promise.reject(unsupported('2025-11-25'))],
    ['refuses the revision without saying more', () => Promise.reject(new Refusal(-32022, 'no'))],
    ['asks for input', () => discovered({ resultType: 'input_required' })],
  ])('is legacy when it %s', async (_what, discover) => {
    const harness = await new ConnectionHarness({ scripts: [{ ...TOOLS, 'server/discover': discover }] }).up()
    expect(methods(harness)).toEqual(['server/discover', 'initialize', 'notifications/initialized', 'tools/list'])
    expect(era(harness)).toBe('legacy')
    expect(harness.attempts).toHaveLength(1)
  })

  it.each([
    ['500', new HttpStatusError(500, 'HTTP 500: oops')],
    ['404', new HttpStatusError(404, 'HTTP 404: nothing here')],
    ['garbage', new ProtocolViolationError('answered with unreadable JSON')],
    ['a cut connection', new TransportClosedError('cut', { sent: true })],
  ])('is legacy when it answers with %s over HTTP', async (_what, error) => {
    const harness = await new ConnectionHarness({ ...refusing(error), scripts: [TOOLS] }).up()
    expect(era(harness)).toBe('legacy')
    expect(harness.attempts).toHaveLength(1)
  })

  it.each([
    ['a login', new AuthRequiredError('wants authorization'), { authRequired: true }],
    ['a login without saying how', new HttpStatusError(401, 'HTTP 401: no'), {}],
    ['nothing, because it is not there', new TransportClosedError('refused', { sent: false }), {}],
  ])('is not asked for a handshake when it wants %s', async (_what, error, failure) => {
    const harness = await new ConnectionHarness({ ...refusing(error), scripts: [TOOLS] }).up()
    expect(harness.state).toMatchObject({ state: 'failed', error: failure })
    expect(methods(harness)).toEqual([])
  })

  it.each([
    ['mismatched headers', -32020],
    ['a missing capability', -32021],
  ])('is modern when it complains of %s', async (_what, code) => {
    const script = { ...modern(TOOLS), 'server/discover': () => Promise.reject(new Refusal(code, 'no')) }
    const harness = await new ConnectionHarness({ scripts: [script] }).up()
    expect(era(harness)).toBe('modern')
    expect(harness.connection.offer.inventory?.tools).toEqual([tool('a')])
  })

  it('is refused with its own revisions when none is shared', async () => {
    const script = modern(TOOLS, { supportedVersions: ['2099-01-01'] })
    const harness = await new ConnectionHarness({ scripts: [script] }).up()
    expect(harness.state).toMatchObject({
      error: { message: expect.stringMatching(/speaks protocol versions 2099-01-01, not one of .*2026-07-28/) },
    })
  })

  it('is refused when it answers the handshake with an era that was not offered there', async () => {
    const initialize = () => ({ protocolVersion: '2026-07-28', capabilities: {} })
    const harness = await new ConnectionHarness({ scripts: [{ ...TOOLS, initialize }] }).up()
    expect(harness.state).toMatchObject({
      error: { message: expect.stringContaining('speaks protocol version "2026-07-28", not one of 2024-11-05') },
    })
  })
})

describe('a server that leaves the question unanswered', () => {
  const silent: Script = () => new Promise(() => {})

  it('is given a handshake after 2 s, in the same process', async () => {
    const harness = new ConnectionHarness({ scripts: [{ ...TOOLS, 'server/discover': silent }] })
    harness.connection.start()
    await harness.timers.advance(1_999)
    expect(methods(harness)).toEqual(['server/discover'])
    await harness.timers.advance(1)
    expect(methods(harness)).toEqual(['server/discover', 'initialize', 'notifications/initialized', 'tools/list'])
    expect(era(harness)).toBe('legacy')
  })

  it('leaves most of a short startup to the handshake', async () => {
    const server = stdioServer('notes', { startupTimeoutMs: 300 })
    const harness = new ConnectionHarness({ server, scripts: [{ ...TOOLS, 'server/discover': silent }] })
    harness.connection.start()
    await harness.timers.advance(100)
    expect(era(harness)).toBe('legacy')
  })

  it('fails at the one deadline when it answers nothing at all', async () => {
    const harness = new ConnectionHarness({ scripts: [{ 'server/discover': silent, initialize: silent }] })
    harness.connection.start()
    await harness.timers.advance(30_000)
    expect(harness.state).toMatchObject({
      state: 'failed',
      error: { message: expect.stringContaining('timed out after 30 seconds') },
    })
  })

  it('is modern after all when it was only slow, and knows no handshake', async () => {
    const answer = gate()
    const slow = modern({ ...TOOLS, 'server/discover': () => answer.passed.then(() => discovered()) })
    const refused = gate()
    slow.initialize = () => refused.passed.then(() => Promise.reject(new Refusal(-32601, 'no such method')))
    const harness = new ConnectionHarness({ scripts: [slow] })
    harness.connection.start()
    await harness.timers.advance(2_000)
    answer.open()
    await settle()
    refused.open()
    await settle()
    expect(era(harness)).toBe('modern')
    expect(harness.attempts).toHaveLength(1)
  })

  it('is modern after all when it refuses the handshake before it answers', async () => {
    const answer = gate()
    const slow = modern({ ...TOOLS, 'server/discover': () => answer.passed.then(() => discovered()) })
    slow.initialize = () => Promise.reject(new Refusal(-32600, 'what is that?'))
    const harness = new ConnectionHarness({ scripts: [slow] })
    harness.connection.start()
    await harness.timers.advance(3_000)
    expect(harness.state.state).toBe('starting')
    answer.open()
    await settle()
    expect(era(harness)).toBe('modern')
    expect(methods(harness)).toEqual(['server/discover', 'initialize', 'tools/list'])
  })

  it('fails with its refusal of the handshake when it answers nothing else', async () => {
    const refusing = { 'server/discover': silent, initialize: () => Promise.reject(new Refusal(-32603, 'no key')) }
    const harness = new ConnectionHarness({ scripts: [refusing] })
    harness.connection.start()
    await harness.timers.advance(4_000)
    expect(harness.state).toMatchObject({ state: 'failed', error: { message: expect.stringContaining('no key') } })
  })

  it('is remembered as modern when its answer comes too late for this session', async () => {
    const answer = gate()
    const both = { ...TOOLS, 'server/discover': () => answer.passed.then(() => discovered()) }
    const handshaken = gate()
    const { memory, open, timers } = remembering({
      scripts: [
        {
          ...both,
          initialize: () =>
            handshaken.passed.then(() => ({ protocolVersion: '2025-11-25', capabilities: { tools: {} } })),
        },
      ],
    })
    const harness = open()
    harness.connection.start()
    await timers.advance(2_000)
    answer.open()
    await settle()
    handshaken.open()
    await settle()
    expect(era(harness)).toBe('legacy')
    expect(memory.eras).toEqual(['modern'])
  })
})

describe('a process that ends on the question', () => {
  it('is started once more and not asked again', async () => {
    const dying: Script = (_params, { server }) => server.crash().then(() => ({}))
    const { memory, open } = remembering({ scripts: [{ 'server/discover': dying }, TOOLS] })
    const harness = await open().up()
    expect(era(harness)).toBe('legacy')
    expect(methods(harness, 0)).toEqual(['server/discover'])
    expect(methods(harness, 1)).toEqual(['initialize', 'notifications/initialized', 'tools/list'])
    expect(memory.eras).toEqual(['legacy'])
    const later = await open([TOOLS]).up()
    expect(methods(later)[0]).toBe('initialize')
  })

  it('is started once more also when it answered first', async () => {
    const dying: Script = (_params, { server }) => server.crash().then(() => ({}))
    const harness = await new ConnectionHarness({ scripts: [{ initialize: dying }, TOOLS] }).up()
    expect(era(harness)).toBe('legacy')
    expect(harness.attempts).toHaveLength(2)
  })

  it('fails with what the second process said', async () => {
    const dying: Script = (_params, { server }) => server.crash().then(() => ({}))
    const harness = await new ConnectionHarness({
      scripts: [{ 'server/discover': dying }, { initialize: () => Promise.reject(new Refusal(-32603, 'no key')) }],
    }).up()
    expect(harness.attempts).toHaveLength(2)
    expect(harness.state).toMatchObject({ error: { message: expect.stringContaining('no key') } })
  })
})

describe('what is known of a server', () => {
  it('spares a legacy one the question', async () => {
    const { memory, open } = remembering({ scripts: [TOOLS] })
    await open().up()
    expect(memory.eras).toEqual(['legacy'])
    expect(methods(await open().up())[0]).toBe('initialize')
  })

  it('spares a modern one a round trip: its tools are asked for at once', async () => {
    const { memory, open } = remembering({ scripts: [modern(TOOLS)] })
    await open().up()
    expect(memory.eras).toEqual(['modern'])
    const answer = gate()
    const held = { ...modern(TOOLS), 'server/discover': () => answer.passed.then(() => discovered()) }
    const later = open([held])
    later.connection.start()
    await settle()
    expect(methods(later)).toEqual(['server/discover', 'tools/list'])
    answer.open()
    await settle()
    expect(methods(later)).toEqual(['server/discover', 'tools/list'])
    expect(later.connection.offer.inventory?.tools).toEqual([tool('a')])
  })

  it('counts for a week', async () => {
    const { open, timers } = remembering({ scripts: [TOOLS] })
    await open().up()
    await timers.advance(WEEK - 1)
    expect(methods(await open().up())[0]).toBe('initialize')
    await timers.advance(1)
    expect(methods(await open().up())[0]).toBe('server/discover')
  })

  it('gives way when a legacy server became a modern one', async () => {
    const { memory, open } = remembering({ scripts: [TOOLS] })
    await open().up()
    const later = await open([modern(TOOLS)]).up()
    expect(methods(later)).toEqual(['initialize', 'server/discover', 'tools/list'])
    expect(era(later)).toBe('modern')
    expect(memory.eras).toEqual(['modern'])
  })

  it('gives way when a modern server became a legacy one', async () => {
    const { memory, open } = remembering({ scripts: [modern(TOOLS)] })
    await open().up()
    const later = await open([TOOLS]).up()
    expect(era(later)).toBe('legacy')
    expect(later.connection.offer.inventory?.tools).toEqual([tool('a')])
    expect(memory.eras).toEqual(['legacy'])
  })

  it('is asked for again after a failure', async () => {
    const { memory, open } = remembering({ scripts: [TOOLS] })
    await open().up()
    const broken = { initialize: () => Promise.reject(new Refusal(-32603, 'broken')) }
    expect((await open([broken]).up()).state).toMatchObject({ state: 'failed', error: { message: /broken/ } })
    expect(memory.eras).toEqual([])
  })

  it('is not learned from passing trouble', async () => {
    const options = refusing(new HttpStatusError(503, 'HTTP 503: later'))
    const { memory, open } = remembering({ ...options, scripts: [TOOLS] })
    expect(era(await open().up())).toBe('legacy')
    expect(memory.eras).toEqual([])
  })

  it('survives a restart without a memory beyond the process', async () => {
    const harness = await new ConnectionHarness({ scripts: [TOOLS] }).up()
    await harness.server.crash()
    await harness.timers.advance(1_100)
    expect(harness.attempts).toHaveLength(2)
    expect(methods(harness, 1)[0]).toBe('initialize')
  })

  it('costs nothing but the question when the memory fails', async () => {
    const broken = () => {
      throw new Error('disk full')
    }
    const harness = await new ConnectionHarness({
      scripts: [TOOLS],
      eras: { get: broken, put: broken, forget: broken },
    }).up()
    expect(era(harness)).toBe('legacy')
    expect(harness.route.warnings).toEqual([expect.stringContaining('disk full')])
  })

  it('is another for another command, and the same for another client', async () => {
    const { memory, open, timers } = remembering({ scripts: [TOOLS] })
    await open().up()
    const other = new ConnectionHarness({
      scripts: [TOOLS],
      eras: memory,
      timers,
      profile: { clientInfo: { name: 'other', version: '9' }, capabilities: { roots: {} } },
    })
    expect(methods(await other.up())[0]).toBe('initialize')
    const changed = new ConnectionHarness({
      scripts: [TOOLS],
      eras: memory,
      timers,
      server: stdioServer('notes', {}, { command: 'another' }),
    })
    expect(methods(await changed.up())[0]).toBe('server/discover')
  })
})

describe('a pinned era', () => {
  it('legacy: is not asked for', async () => {
    const server = stdioServer('notes', { protocol: 'legacy' })
    const { memory, open } = remembering({ server, scripts: [{ ...modern(TOOLS), initialize: echoed }] })
    expect(methods(await open().up())[0]).toBe('initialize')
    expect(memory.eras).toEqual([])
  })

  it('modern: allows no other', async () => {
    const server = stdioServer('notes', { protocol: 'modern' })
    const harness = await new ConnectionHarness({ server, scripts: [TOOLS] }).up()
    expect(methods(harness)).toEqual(['server/discover'])
    expect(harness.state).toMatchObject({
      error: { message: expect.stringContaining('does not speak 2026-07-28, which its entry asks for') },
    })
  })
})

const echoed: Script = ({ protocolVersion }) => ({ protocolVersion: protocolVersion ?? null, capabilities: {} })
