import { describe, expect, it } from 'vitest'
import { LIMITS } from '../../protocol/index.js'
import { newCursor, readEvents, type StreamEvent } from './event-stream.js'

async function* chunks(...parts: (string | Buffer)[]): AsyncGenerator<Buffer> {
  for (const part of parts) yield Buffer.from(part)
}

async function read(body: AsyncIterable<Buffer>, cursor = newCursor()): Promise<StreamEvent[]> {
  const events: StreamEvent[] = []
  for await (const event of readEvents(body, cursor, 'http://a.test/mcp')) events.push(event)
  return events
}

describe('an event stream', () => {
  it('is read whatever the chunks, line ends and byte order mark', async () => {
    const text = '\ufeffid: 1\r\nevent: message\r\ndata: {"ä":\r\ndata: "😀"}\r\n\r\n: ping\n\ndata: two\n\n'
    const bytes = Buffer.from(text, 'utf8')
    const whole = await read(chunks(bytes))
    expect(whole).toEqual([
      { id: '1', event: 'message', data: '{"ä":\n"😀"}' },
      { id: undefined, event: undefined, data: 'two' },
    ])
    expect(await read(chunks(...[...bytes].map((byte) => Buffer.from([byte]))))).toEqual(whole)
  })

  it('moves the cursor', async () => {
    const cursor = newCursor()
    await read(chunks('id: a\nretry: 1500\ndata:\n\n', 'data: x\n\n'), cursor)
    expect(cursor).toEqual({ events: 2, lastEventId: 'a', retryMs: 1500 })
    await read(chunks('id:\ndata: x\n\n'), cursor)
    expect(cursor.lastEventId).toBeUndefined()
  })

  it('takes no id that could not be sent back', async () => {
    const cursor = newCursor()
    await read(chunks('id: bad\u0007id\ndata: x\n\n'), cursor)
    expect(cursor.lastEventId).toBeUndefined()
  })

  it.each([
    ['0', 100],
    ['999999999', 300_000],
    ['250', 250],
  ])('bounds retry: %s to %s ms', async (asked, expected) => {
    const cursor = newCursor()
    await read(chunks(`retry: ${asked}\n\n`), cursor)
    expect(cursor.retryMs).toBe(expected)
  })

  it('gives the last event of a stream that forgot the blank line', async () => {
    expect(await read(chunks('data: {"a":1}\n'))).toMatchObject([{ data: '{"a":1}' }])
    expect(await read(chunks('data: {"a":1}'))).toMatchObject([{ data: '{"a":1}' }])
  })

  const mega = 'x'.repeat(1024 * 1024)

  it('refuses one event over the limit, after those before it', async () => {
    const events: StreamEvent[] = []
    const body = (async function* () {
      yield Buffer.from('data: first\n\ndata: ')
      for (;;) yield Buffer.from(mega)
    })()
    const reading = (async () => {
      for await (const event of readEvents(body, newCursor(), 'http://a.test/mcp')) events.push(event)
    })()
    await expect(reading).rejects.toMatchObject({ code: 'limit_exceeded', place: 'http://a.test/mcp' })
    expect(events.map(({ data }) => data)).toEqual(['first'])
  })

  it('counts bytes, not characters', async () => {
    const body = chunks('data: ', ...Array.from({ length: 9 }, () => 'ä'.repeat(1024 * 1024)), '\n\n')
    await expect(read(body)).rejects.toMatchObject({ code: 'limit_exceeded' })
  })

  it('counts anew for each event', async () => {
    const half = LIMITS.httpMessage / mega.length / 2 + 1
    const body = (async function* () {
      for (let event = 0; event < 3; event += 1) {
        yield Buffer.from('data: ')
        for (let part = 0; part < half; part += 1) yield Buffer.from(mega)
        yield Buffer.from('\n\n')
      }
    })()
    expect(await read(body)).toHaveLength(3)
  })

  it('passes the error of the body on, after the events before it', async () => {
    const body = (async function* () {
      yield Buffer.from('data: first\n\ndata: half')
      throw new Error('cut')
    })()
    const events: string[] = []
    const reading = (async () => {
      for await (const event of readEvents(body, newCursor(), 'p')) events.push(event.data)
    })()
    await expect(reading).rejects.toThrow('cut')
    expect(events).toEqual(['first'])
  })
})
