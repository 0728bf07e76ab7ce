import { readFileSync } from 'node:fs'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventually, isRunning } from '../fixtures/stdio/running.js'
import { BrokerHome } from './broker/home.js'
import { StdioClient } from './broker/stdio-client.js'
import { buildCli } from './built-cli.js'

let home: BrokerHome
beforeAll(buildCli)
beforeEach(async () => {
  home = await BrokerHome.make()
})
afterEach(() => home[Symbol.asyncDispose]())

const pidOfServer = (text: string) => Number(JSON.parse(text).pid)

describe('clients that start reeve serve --stdio', () => {
  it('share one set of servers, ten at once, and each gets its own answers', async () => {
    await home.configure({ notes: [], files: [] })
    expect([home.servers(), home.brokers()]).toEqual([[], []])
    const clients = Array.from({ length: 10 }, () => home.client())
    await Promise.all(clients.map((client) => client.open()))
    const answers = await Promise.all(
      clients.map((client, index) => client.call('notes__echo', { message: `${index}` })),
    )
    expect(answers).toEqual(clients.map((_, index) => `${index}`))
    const pids = await Promise.all(clients.map(async (client) => pidOfServer(await client.call('files__process'))))
    expect(new Set(pids).size).toBe(1)
    expect(home.servers()).toHaveLength(2)
    expect(home.brokers()).toHaveLength(1)
    // The state's native library comes with the runtime: a bridge has neither.
    const loaded = (pid = 0) => readFileSync(`/proc/${pid}/maps`, 'utf8').includes('libsql')
    expect(clients.map(({ program }) => loaded(program.child.pid))).toEqual(clients.map(() => false))
    expect(loaded(home.brokers()[0])).toBe(true)
    expect(await Promise.all(clients.map((client) => client.leave()))).toEqual(
      clients.map(() => ({ code: 0, signal: null })),
    )
    expect(clients.map(({ program }) => program.stderr())).toEqual(clients.map(() => ''))
  })

  it('start one broker, however many come at once', async () => {
    const clients = Array.from({ length: 20 }, () => home.client())
    await Promise.all(clients.map((client) => client.open()))
    expect(home.brokers()).toHaveLength(1)
    expect(clients.map(({ program }) => program.stderr()).join('')).toBe('')
  })

  it('are answered to the end when they close their pipe', async () => {
    const client = home.client()
    await client.open()
    const slow = client.begin('tools/call', { name: 'notes__slow', arguments: { ms: 300 } })
    expect(await client.leave()).toEqual({ code: 0, signal: null })
    expect(client.heard.find(({ id }) => id === slow)).toMatchObject({ result: { content: [{ text: 'done' }] } })
  })

  it('have frames of any size carried both ways, and lines that are none answered', async () => {
    const client = home.client()
    await client.open()
    const message = 'é'.repeat(3_000_000)
    expect((await client.call('notes__echo', { message })) === message).toBe(true)
    expect(await client.call('notes__big', { bytes: 12_000_000 })).toHaveLength(12_000_000)
    client.program.child.stdin.write('no json\n')
    expect(await client.hears(({ id }) => id === null)).toMatchObject({ error: { code: -32700 } })
    expect(await client.call('notes__echo', { message: 'on' })).toBe('on')
  })

  it('have a line that is too long refused, and their session ended', async () => {
    const client = home.client()
    await client.open()
    client.program.child.stdin.write(`"${'x'.repeat(17 * 1024 * 1024)}`)
    expect(await client.hears(({ id }) => id === null)).toMatchObject({ error: { code: -32600 } })
    expect(await client.program.exited).toMatchObject({ signal: null })
  })

  it('have their calls cancelled when they are killed, and leave the servers to the others', async () => {
    const [killed, other] = [home.client(), home.client()]
    await Promise.all([killed.open(), other.open()])
    const pid = pidOfServer(await other.call('notes__process'))
    killed.begin('tools/call', { name: 'notes__hang' })
    await eventually(() => expect(home.recorded('notes')).toContain('"hang"'))
    killed.program.child.kill('SIGKILL')
    await eventually(() => expect(home.recorded('notes')).toContain('notifications/cancelled'))
    expect(pidOfServer(await other.call('notes__process'))).toBe(pid)
  })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('cancel what they asked at %s, and exit with %d', async (signal, code) => {
    const client = home.client()
    await client.open()
    client.begin('tools/call', { name: 'notes__hang' })
    await eventually(() => expect(home.recorded('notes')).toContain('"hang"'))
    client.program.child.kill(signal)
    expect(await client.program.exited).toEqual({ code, signal: null })
    await eventually(() => expect(home.recorded('notes')).toContain('notifications/cancelled'))
  })

  it('have servers of their own with --private, and leave nothing behind', async () => {
    const client = new StdioClient(home.start(['--private', 'serve', '--stdio']))
    await client.open()
    expect(await client.call('notes__echo', { message: 'mine' })).toBe('mine')
    expect(home.brokers()).toEqual([])
    expect(await client.leave()).toEqual({ code: 0, signal: null })
    expect(home.servers()).toEqual([])
  })
})

describe('a session', () => {
  it('goes on when the broker is killed: reads are answered, a call is not repeated, and the old servers are gone', async () => {
    const client = home.client()
    const before = await client.open({ roots: {} })
    await client.ask('resources/subscribe', { uri: 'echo://counter' })
    const server = pidOfServer(await client.call('notes__process'))
    const broker = await home.brokerPid()

    const call = client.begin('tools/call', { name: 'notes__hang' })
    await eventually(() => expect(home.recorded('notes')).toContain('"hang"'))
    process.kill(broker, 'SIGSTOP')
    const read = client.begin('resources/read', { uri: 'echo://greeting' })
    process.kill(broker, 'SIGKILL')

    expect(await client.answerTo(call)).toMatchObject({ error: { code: -32603, data: { code: 'broker_lost' } } })
    expect(await client.answerTo(read)).toMatchObject({ result: { contents: [{ text: 'hello' }] } })
    await client.notified('notifications/tools/list_changed')
    expect(pidOfServer(await client.call('notes__process'))).not.toBe(server)
    expect(isRunning(server)).toBe(false)
    expect(home.recorded('notes').split('"hang"')).toHaveLength(2)
    expect(await client.call('notes__touch', { uri: 'echo://counter' })).toBe('sent')
    await client.notified('notifications/resources/updated')
    expect(before).toMatchObject({ protocolVersion: '2025-11-25', serverInfo: { name: 'reeve' } })
    expect(client.heard.filter(({ id }) => typeof id === 'string')).toEqual([])
  })

  it('survives one broken broker after the other', async () => {
    const client = home.client()
    await client.open()
    for (let round = 0; round < 3; round += 1) {
      process.kill(await home.brokerPid(), 'SIGKILL')
      // A call in the very moment of the kill may have been heard, and is refused.
      await eventually(async () => expect(await home.sessions()).toMatchObject([{ resumed: round + 1 }]))
      expect(await client.call('notes__echo', { message: `round ${round}` })).toBe(`round ${round}`)
    }
    expect(home.brokers()).toHaveLength(1)
  })

  it('takes back questions of a broker that ended, and keeps late answers from meeting new questions', async () => {
    const client = home.client()
    await client.open({ elicitation: {} })
    const asking = client.begin('tools/call', { name: 'notes__ask' })
    const question = await client.notified('elicitation/create')
    process.kill(await home.brokerPid(), 'SIGKILL')
    expect(await client.notified('notifications/cancelled')).toMatchObject({ params: { requestId: question.id } })
    expect(await client.answerTo(asking)).toMatchObject({ error: { data: { code: 'broker_lost' } } })

    const again = client.begin('tools/call', { name: 'notes__ask' })
    const next = await client.hears(({ method, id }) => method === 'elicitation/create' && id !== question.id)
    client.send({ id: question.id ?? null, result: { action: 'accept', content: { name: 'late' } } })
    client.send({ id: next.id ?? null, result: { action: 'accept', content: { name: 'right' } } })
    expect(JSON.stringify(await client.answerTo(again))).toContain('right')
  })

  it('rests when the broker is stopped, and goes on with the next request', async () => {
    const client = home.client()
    await client.open()
    expect((await home.reeve(['broker', 'stop'])).code).toBe(0)
    expect([home.servers(), home.brokers()]).toEqual([[], []])
    expect(await client.call('notes__echo', { message: 'again' })).toBe('again')
    expect(home.brokers()).toHaveLength(1)
  })
})
