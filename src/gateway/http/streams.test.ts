import { describe, expect, it } from 'vitest'
import { openStream, RawSession, RawStream, start } from '../../../test/e2e/gateway/raw-http.js'
import { gateway } from '../../../test/fixtures/gateway/http-sessions.js'
import type { JsonObject } from '../../protocol/index.js'

describe('streams', () => {
  const said = (text: string) => ({ method: 'said', params: { text } })

  it('delivers what came before anybody listened', async () => {
    const { url, sessions } = await gateway()
    const session = await RawSession.open(url)
    await sessions.peers[0]?.notify('said', { text: 'early' })
    const stream = await session.listen()
    expect(await stream.message()).toMatchObject(said('early'))
    await sessions.peers[0]?.notify('said', { text: 'late' })
    expect(await stream.message()).toMatchObject(said('late'))
    stream.drop()
  })

  it('hands the standalone stream to whoever opened it last', async () => {
    const { url, sessions } = await gateway()
    const session = await RawSession.open(url)
    const former = await session.listen()
    const newest = await session.listen()
    while ((await former.next()) !== undefined);
    await sessions.peers[0]?.notify('said', { text: 'x' })
    expect(await newest.message()).toMatchObject(said('x'))
    expect(former.events.map(({ data }) => data)).toEqual([''])
    newest.drop()
  })

  it('resumes behind the event that the client names, without repeating or crossing streams', async () => {
    const { url, sessions } = await gateway({ plainMs: 10 })
    const session = await RawSession.open(url)
    const [one, two] = [
      await session.stream('wait', { name: 'one' }, 'one'),
      await session.stream('wait', { name: 'two' }, 'two'),
    ]
    const peer = sessions.peers[0]
    await peer?.notify('said', { text: '1' }, { relatedTo: 'one' })
    await peer?.notify('said', { text: '2' }, { relatedTo: 'one' })
    await peer?.notify('said', { text: 'other' }, { relatedTo: 'two' })
    await one.next()
    const seen = await one.next()
    one.drop()
    await expect.poll(() => sessions.transports[0]?.inFlight).toBe(2)
    sessions.release('one', { finished: true })
    const resumed = await session.listen(seen?.id)
    expect(await resumed.message()).toMatchObject(said('2'))
    expect(await resumed.message()).toMatchObject({ id: 'one', result: { finished: true } })
    let last: string | undefined
    for (let event = await resumed.next(); event !== undefined; event = await resumed.next()) last = event.id
    expect(last).toBeUndefined()
    const finished = await session.listen(resumed.events.at(-1)?.id)
    expect(finished.response.statusCode).toBe(204)
    sessions.release('two')
    expect(await two.message()).toMatchObject(said('other'))
  })

  it.each(['', 'x', '0-99', '7-1', '-1-1', '1e3-1', '0-1-2'])('refuses the event id %j', async (id) => {
    const { url } = await gateway()
    const session = await RawSession.open(url)
    expect((await session.listen(id)).response.statusCode).toBe(400)
  })

  it('holds a bounded backlog for a client that does not read, and keeps the session', async () => {
    const { url, sessions } = await gateway({ backlogBytes: 64 * 1024, replayBytes: 64 * 1024 })
    const session = await RawSession.open(url)
    const response = await start(url, { method: 'GET', headers: session.headers })
    response.pause()
    const text = 'x'.repeat(32 * 1024)
    const peer = sessions.peers[0]
    for (let sent = 0; sent < 2000; sent += 1) await peer?.notify('said', { text: `${sent} ${text}` })
    const stream = new RawStream(response)
    while ((await stream.next()) !== undefined);
    expect(stream.events.length).toBeLessThan(2000)
    expect((await session.request('echo', { alive: true })).json()).toMatchObject({ result: { alive: true } })
    const again = await session.listen(stream.events.at(-1)?.id)
    const rest = await again.message()
    expect(String((rest.params as JsonObject).text)).toMatch(/^199\d x/)
    again.drop()
  })
})

it('keeps two sessions with equal ids apart', async () => {
  const { url, sessions } = await gateway({ plainMs: 10 })
  const [ann, bob] = [await RawSession.open(url), await RawSession.open(url)]
  const [first, second] = [
    await openStream(url, {
      headers: ann.headers,
      body: '{"jsonrpc":"2.0","id":1,"method":"wait","params":{"name":"ann"}}',
    }),
    await openStream(url, {
      headers: bob.headers,
      body: '{"jsonrpc":"2.0","id":1,"method":"wait","params":{"name":"bob"}}',
    }),
  ]
  await bob.notify('notifications/cancelled', { requestId: 1 })
  while ((await second.next()) !== undefined);
  expect(sessions.cancelled).toEqual(['bob'])
  await sessions.peers[0]?.notify('said', { text: 'to ann' }, { relatedTo: 1 })
  sessions.release('ann', { for: 'ann' })
  expect(await first.message()).toMatchObject({ params: { text: 'to ann' } })
  expect(await first.message()).toEqual({ jsonrpc: '2.0', id: 1, result: { for: 'ann' } })
})
