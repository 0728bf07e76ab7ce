import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/protocol/index.js'
import type { Reeve, Thread, ThreadEvent, ThreadOptions } from '../../src/reeve.js'
import { interleave, unmixed, verdict } from '../fixtures/sharing/asking.js'
import { AskingThread } from '../fixtures/sharing/asking-thread.js'
import { type HttpEcho, startHttpEcho } from '../fixtures/sharing/http-echo.js'
import { eventually, isRunning } from '../fixtures/stdio/running.js'
import { httpServer, stdioServer, TempHome } from './library/temp-home.js'

const SHARED: ThreadOptions = { sharing: 'shared' }
const ASKABLE = { capabilities: { elicitation: { form: {} } } }

const text = (result: JsonObject) => String((result.content as { text: string }[])[0]?.text)

async function pidOf(thread: Thread, server = 'notes'): Promise<number> {
  return JSON.parse(text(await thread.callTool({ server, tool: 'process' }))).pid
}

describe('threads that share servers', () => {
  it('run one process of each, and the library gives each thread its own where nothing is said', async () => {
    using home = new TempHome(stdioServer('notes', 'echo.mjs') + stdioServer('files', 'echo.mjs'))
    await using reeve = await home.open()
    const pids = async (options: ThreadOptions) => {
      const threads = await Promise.all(Array.from({ length: 10 }, () => reeve.startThread(options)))
      const found = await Promise.all(threads.flatMap((thread) => [pidOf(thread), pidOf(thread, 'files')]))
      await Promise.all(threads.map((thread) => thread.close()))
      return new Set(found).size
    }
    expect(await pids(SHARED)).toBe(2)
    expect(await pids({})).toBe(20)
  })

  it('are told apart by principal, by what their clients can do, and by the configuration', async () => {
    using home = new TempHome(
      stdioServer('notes', 'echo.mjs', [], 'env = { TOKEN = "one" }') +
        stdioServer('alone', 'echo.mjs', [], 'sharing = "isolated"'),
    )
    await using reeve = await home.open()
    const named = { clientInfo: { name: 'one', version: '1' }, ...ASKABLE }
    const base = await reeve.startThread({ ...SHARED, client: named })
    const same = await reeve.startThread({ ...SHARED, client: { ...named, clientInfo: { name: 'two', version: '2' } } })
    const principal = await reeve.startThread({ ...SHARED, client: named, principal: 'somebody' })
    const mute = await reeve.startThread(SHARED)
    const pid = await pidOf(base)
    expect(await pidOf(same)).toBe(pid)
    expect(new Set([pid, await pidOf(principal), await pidOf(mute)]).size).toBe(3)
    expect(await pidOf(base, 'alone')).not.toBe(await pidOf(same, 'alone'))
    home.write('config.toml', stdioServer('notes', 'echo.mjs', [], 'env = { TOKEN = "two" }'))
    await reeve.reload()
    expect(await pidOf(base)).not.toBe(pid)
    expect(await pidOf(same)).toBe(await pidOf(base))
    await eventually(() => expect(isRunning(pid)).toBe(false))
  })

  it('find a server up again that the last of them left, for as long as the options say', async () => {
    using home = new TempHome(stdioServer('notes', 'echo.mjs'))
    await using reeve = await home.open({ idleMs: 60_000 })
    const first = await reeve.startThread(SHARED)
    const pid = await pidOf(first)
    await first.close()
    const events: ThreadEvent[] = []
    const second = await reeve.startThread({ ...SHARED, onEvent: (event) => events.push(event) })
    expect(await pidOf(second)).toBe(pid)
    expect(events.filter(({ type }) => type === 'status')).toMatchObject([{ status: 'ready' }])
    await second.close()
    await reeve.close()
    await eventually(() => expect(isRunning(pid)).toBe(false))
  })

  it('survive its crash: each sees its own calls fail, is told once, and calls again', async () => {
    using home = new TempHome(stdioServer('notes', 'echo.mjs'))
    await using reeve = await home.open()
    const told: string[][] = []
    const threads = await Promise.all(
      [0, 1, 2].map((number) => {
        const statuses: string[] = []
        told[number] = statuses
        return reeve.startThread({
          ...SHARED,
          onEvent: (event) => {
            if (event.type === 'status') statuses.push(event.status)
          },
        })
      }),
    )
    const pids = await Promise.all(threads.map((thread) => pidOf(thread)))
    expect(new Set(pids).size).toBe(1)
    const cut = threads.slice(0, 2).map((thread) => thread.callTool({ server: 'notes', tool: 'hang' }))
    const outcomes = Promise.allSettled(cut)
    await pidOf(threads[2] as Thread)
    process.kill(pids[0] ?? 0, 'SIGKILL')
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'transport_closed', sent: true } })
    }
    const after = await Promise.all(threads.map((thread) => pidOf(thread)))
    expect(new Set(after).size).toBe(1)
    expect(after[0]).not.toBe(pids[0])
    for (const statuses of told) expect(statuses.slice(-3)).toEqual(['failed', 'starting', 'ready'])
  })
})

describe.each(['stdio', 'http'] as const)('threads on one server over %s', (transport) => {
  let echo: HttpEcho
  let home: TempHome
  let reeve: Reeve
  beforeAll(async () => {
    echo = await startHttpEcho()
    home = new TempHome(transport === 'stdio' ? stdioServer('notes', 'echo.mjs') : httpServer('notes', echo.url))
    reeve = await home.open()
  })
  afterAll(async () => {
    await reeve.close()
    home[Symbol.dispose]()
    await echo[Symbol.asyncDispose]()
  })

  it('are each asked and told what their own calls cause, however they overlap', async () => {
    const names = Array.from({ length: 8 }, (_, number) => `client${number}`)
    const clients = await Promise.all(names.map((name) => AskingThread.start(reeve, 'notes', name)))
    for (const { thread } of clients) await pidOf(thread)
    const made = await interleave(clients, 25, { atOnce: 3 })
    expect(verdict(clients.map(({ witness }) => witness))).toEqual(unmixed(made))
    expect(new Set(await Promise.all(clients.map(({ thread }) => pidOf(thread)))).size).toBe(1)
    if (transport === 'http') expect(await echo.sessions()).toEqual({ opened: 1, open: 1 })
    await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()))
  })

  it('hear of resources that they subscribed to themselves', async () => {
    const heard: string[][] = [[], [], []]
    const threads = await Promise.all(
      heard.map((list) =>
        reeve.startThread({
          ...SHARED,
          onEvent: (event) => {
            if (event.type === 'notification') list.push(String(event.notification.params?.uri))
          },
        }),
      ),
    )
    const [first, second] = threads as [Thread, Thread, Thread]
    const uri = 'echo://greeting'
    await first.resources.subscribe({ server: 'notes', uri })
    await second.resources.subscribe({ server: 'notes', uri })
    await first.callTool({ server: 'notes', tool: 'touch', arguments: { uri } })
    await eventually(() => expect(heard).toEqual([[uri], [uri], []]))
    await first.resources.unsubscribe({ server: 'notes', uri })
    await first.callTool({ server: 'notes', tool: 'touch', arguments: { uri } })
    await eventually(() => expect(heard).toEqual([[uri], [uri, uri], []]))
    await Promise.all(threads.map((thread) => thread.close()))
  })
})
