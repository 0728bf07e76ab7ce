import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import type { Channel, ChannelEvents } from './channel.js'
import { createExecutor } from './executor.js'

const executor = createExecutor({ env: {}, detachedMs: 0 })
afterAll(() => executor.close())

const METHODS = [
  ...['environment/info', 'environment/status', 'process/read', 'process/write', 'process/signal', 'process/terminate'],
  ...['fs/readFile', 'fs/open', 'fs/readBlock', 'fs/writeBlock', 'fs/close', 'fs/getMetadata', 'fs/canonicalize'],
  ...['fs/readDirectory', 'fs/walk', 'http/request', 'process/start', 'initialize', 'nope', '__proto__', 'constructor'],
]
/** Values of every type under the names that methods read; no argv and no path that does anything. */
const NAMES = [
  'processId',
  'chunk',
  'writeId',
  'afterSeq',
  'waitMs',
  'signal',
  'handleId',
  'offset',
  'len',
  'path',
  'url',
  'headers',
  'env',
  'options',
  '__proto__',
]
const values = fc.oneof(
  fc.constantFrom(null, true, 0, -1, 1.5, 1e300, '', 'x', 'file:///', 'file:///nope', 'eA=='),
  fc.jsonValue({ maxDepth: 2 }),
)
const params = fc.oneof(values, fc.dictionary(fc.constantFrom(...NAMES), values))

function connected() {
  const sent: { id?: unknown; result?: unknown; error?: { code: number } }[] = []
  let dropped = false
  const channel: Channel & { listen(events: ChannelEvents): void; events?: ChannelEvents } = {
    isCongested: false,
    send: (text) => void sent.push(JSON.parse(text)),
    pauseInput() {},
    resumeInput() {},
    probe() {},
    drop() {
      dropped = true
    },
    listen(events) {
      this.events = events
    },
  }
  executor.connect(channel, true)
  return {
    sent,
    message: (text: string) => channel.events?.message(text),
    end: () => channel.events?.ended(),
    isDropped: () => dropped,
  }
}

/** Answers to methods that wait come when they come. */
async function answer(sent: ReturnType<typeof connected>['sent'], id: number) {
  while (!sent.some((one) => one.id === id)) await new Promise(setImmediate)
  return sent.find((one) => one.id === id)
}

describe('a connection', () => {
  it('answers whatever is asked with a result or an error of the protocol', async () => {
    const { sent, message, end, isDropped } = connected()
    message('{"id":"a","method":"initialize","params":{"clientName":"x"}}')
    message('{"method":"initialized"}')
    let id = 0
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...METHODS), params, async (method, given) => {
        id += 1
        // A long poll on a process that is not there ends at once; nothing here waits for time.
        message(JSON.stringify({ id, method, params: given }))
        const told = (await answer(sent, id)) ?? {}
        if (told.error === undefined) expect(told.result).toBeTypeOf('object')
        else expect([-32600, -32601, -32602, -32603, -32004]).toContain(told.error.code)
      }),
      { numRuns: 1500 },
    )
    expect(isDropped()).toBe(false)
    end()
  })

  it('survives any text, and tells or drops', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.json()), async (text) => {
        const { sent, message, end, isDropped } = connected()
        message(text)
        await new Promise(setImmediate)
        expect(isDropped() || sent.length === 1).toBe(true)
        end()
      }),
      { numRuns: 500 },
    )
  })
})
