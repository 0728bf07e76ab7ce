import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonRpcMessage, TransportClosed } from '../../protocol/index.js'
import { StdioTransport } from './stdio-transport.js'

function session(options: { drainMs?: number; backlogBytes?: number; highWaterMark?: number } = {}) {
  const input = new PassThrough()
  const output = new PassThrough({ highWaterMark: options.highWaterMark ?? 16 * 1024 })
  const transport = new StdioTransport({ input, output, ...options })
  const received: JsonRpcMessage[] = []
  const warnings: Error[] = []
  transport.onmessage = (message) => received.push(message)
  transport.onwarning = (warning) => warnings.push(warning)
  const closed = new Promise<TransportClosed>((resolve) => {
    transport.onclose = resolve
  })
  const written = (): JsonObject[] => {
    const text = String(output.read() ?? '')
    return text === ''
      ? []
      : text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as JsonObject)
  }
  void transport.start()
  return { input, output, transport, received, warnings, closed, written }
}

const request = (id: number | string) => ({ jsonrpc: '2.0' as const, id, method: 'echo' })
const line = (value: unknown) => `${JSON.stringify(value)}\n`
/** Streams hand chunks over in later turns. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('StdioTransport', () => {
  it('reads one message a line, however it is cut, with either line end', async () => {
    const { input, received } = session()
    const text = `${JSON.stringify(request('é'))}\r\n\n   \n${line(request(2))}`
    for (const byte of Buffer.from(text)) input.write(Buffer.from([byte]))
    await settled()
    expect(received).toEqual([request('é'), request(2)])
  })

  it.each([
    ['no JSON', 'Content-Length: 12', -32700],
    ['no message', '{"id":1}', -32600],
    ['a batch outside the revision that has them', '[{"jsonrpc":"2.0","method":"a"}]', -32600],
  ])('answers %s and goes on', async (_what, text, code) => {
    const { input, received, warnings, written } = session()
    input.write(`${text}\n${line(request(1))}`)
    await settled()
    expect(written()).toMatchObject([{ jsonrpc: '2.0', error: { code } }])
    expect(warnings).toMatchObject([{ code: 'protocol_violation' }])
    expect(received).toEqual([request(1)])
  })

  it('answers bytes that are no UTF-8', async () => {
    const { input, written } = session()
    input.write(Buffer.from([0xc3, 0x28, 0x0a]))
    await settled()
    expect(written()).toMatchObject([{ id: null, error: { code: -32700 } }])
  })

  it('ends the session on a line without an end, and says why', async () => {
    const { input, closed, written } = session()
    const piece = Buffer.alloc(1024 * 1024, 'x')
    for (let sent = 0; sent < 17; sent += 1) input.write(piece)
    expect((await closed).error).toMatchObject({ code: 'limit_exceeded' })
    expect(written()).toMatchObject([{ error: { code: -32600 } }])
  })

  it('answers what was asked before stdin closed, then ends', async () => {
    const { input, transport, received, closed, written } = session()
    input.end(`${line(request(1))}${JSON.stringify(request(2))}`)
    await settled()
    expect(received).toEqual([request(1), request(2)])
    await transport.send({ jsonrpc: '2.0', id: 2, result: {} })
    await transport.send({ jsonrpc: '2.0', id: 1, result: {} })
    expect(await closed).toEqual({})
    expect(written().map(({ id }) => id)).toEqual([2, 1])
    await expect(transport.send({ jsonrpc: '2.0', id: 1, result: {} })).rejects.toMatchObject({
      code: 'transport_closed',
      sent: false,
    })
  })

  it('waits for no answer that the client cancelled, and for others only so long', async () => {
    const one = session()
    one.input.end(
      line(request(1)) + line({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }),
    )
    expect(await one.closed).toEqual({})
    const two = session({ drainMs: 20 })
    two.input.end(line(request(1)))
    expect(await two.closed).toEqual({})
  })

  it('ends with the error when the client is gone', async () => {
    const { output, transport, closed } = session()
    output.destroy(new Error('EPIPE'))
    expect((await closed).error).toMatchObject({ message: 'EPIPE' })
    await expect(transport.send(request(1))).rejects.toMatchObject({ code: 'transport_closed' })
  })

  it('gives up a client that never reads', async () => {
    const { transport, closed } = session({ backlogBytes: 1000, highWaterMark: 10, drainMs: 10 })
    const sends = Promise.allSettled(
      Array.from({ length: 50 }, () =>
        transport.send({ jsonrpc: '2.0', method: 'said', params: { text: 'x'.repeat(100) } }),
      ),
    )
    expect((await closed).error).toMatchObject({ code: 'limit_exceeded' })
    expect((await sends).at(-1)).toMatchObject({ status: 'rejected' })
  })

  it('answers a batch as one array in the revision that has them', async () => {
    const { input, transport, received, output } = session()
    transport.protocolVersion('2025-03-26')
    input.write(line([request(1), { jsonrpc: '2.0', method: 'hello' }, request(2), request(3)]))
    await settled()
    expect(received).toHaveLength(4)
    await transport.send({ jsonrpc: '2.0', id: 2, result: { two: true } })
    expect(output.read()).toBeNull()
    input.write(line({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3 } }))
    await settled()
    await transport.send({ jsonrpc: '2.0', id: 1, result: {} })
    expect(JSON.parse(String(output.read()))).toEqual([
      { jsonrpc: '2.0', id: 2, result: { two: true } },
      { jsonrpc: '2.0', id: 1, result: {} },
    ])
  })
})
