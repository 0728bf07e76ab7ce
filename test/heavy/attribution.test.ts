import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/protocol/index.js'
import type { Reeve } from '../../src/reeve.js'
import { openGateway, TOKEN } from '../e2e/gateway/harness.js'
import { httpServer, stdioServer, TempHome } from '../e2e/library/temp-home.js'
import { interleave, unmixed, verdict } from '../fixtures/sharing/asking.js'
import { AskingThread } from '../fixtures/sharing/asking-thread.js'
import { GatewayClient } from '../fixtures/sharing/gateway-client.js'
import { type HttpEcho, startHttpEcho } from '../fixtures/sharing/http-echo.js'

/** Calls of each client, and milliseconds in which none is begun any more: the machine may have much else to do. */
const CALLS = 1_000
const BUDGET = { threads: 60_000, sessions: 30_000 }
const LEAST = 64 * 50
const NAMES = Array.from({ length: 64 }, (_, number) => `client${number}`)

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)
const pidIn = (result: JsonObject) => JSON.parse(String((result.content as { text: string }[])[0]?.text)).pid

describe.each(['stdio', 'http'] as const)('one server over %s', (transport) => {
  let echo: HttpEcho
  let home: TempHome
  let reeve: Reeve
  beforeEach(async () => {
    echo = await startHttpEcho()
    home = new TempHome(transport === 'stdio' ? stdioServer('notes', 'echo.mjs') : httpServer('notes', echo.url))
    reeve = await home.open()
  })
  afterEach(async () => {
    await reeve.close()
    home[Symbol.dispose]()
    await echo[Symbol.asyncDispose]()
  })

  it('never gives one of 64 threads what is for another', async () => {
    const clients = await Promise.all(NAMES.map((name) => AskingThread.start(reeve, 'notes', name)))
    const pid = async ({ thread }: AskingThread) => pidIn(await thread.callTool({ server: 'notes', tool: 'process' }))
    const pids = new Set<number>()
    // One by one: who has left something behind at a server waits for it.
    for (const client of clients) pids.add(await pid(client))
    const made = await interleave(clients, CALLS, { atOnce: 2, budgetMs: BUDGET.threads })
    for (const client of clients) pids.add(await pid(client))
    expect(verdict(clients.map(({ witness }) => witness))).toEqual(unmixed(made))
    expect(sum(made)).toBeGreaterThan(LEAST)
    expect(pids.size).toBe(1)
    await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()))
  })

  it('never gives one of 64 clients of the gateway what is for another', async () => {
    await using gateway = await openGateway(reeve)
    const clients = await Promise.all(
      NAMES.map((name) => GatewayClient.connect(gateway.url, TOKEN, 'notes__ask', name)),
    )
    const pid = async (client: GatewayClient) => pidIn(await client.callTool('notes__process', {}))
    const pids = new Set<number>()
    for (const client of clients) pids.add(await pid(client))
    const made = await interleave(clients, CALLS, { budgetMs: BUDGET.sessions })
    for (const client of clients) pids.add(await pid(client))
    expect(verdict(clients.map(({ witness }) => witness))).toEqual(unmixed(made))
    expect(sum(made)).toBeGreaterThan(LEAST)
    expect(pids.size).toBe(1)
    expect(gateway.warnings).toEqual([])
    await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()))
  })
})
