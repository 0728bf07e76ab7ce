import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { ReeveError } from '../../src/errors.js'
import { textOf } from '../fixtures/connections/real-servers.js'
import { cuttingProxy } from '../fixtures/executor/cutting-proxy.js'
import { echoOn, PlacedConnections, webOn } from '../fixtures/executor/placed-connections.js'
import { webServer } from '../fixtures/http/web-server.js'
import { buildCli } from './built-cli.js'
import { executorProgram } from './executor-program.js'

beforeAll(buildCli, 300_000)

const CALLS = 1000
const EVERY = 50

describe('a thousand calls over a connection that is cut every fifty', () => {
  it.each([
    ['one at a time', 1],
    ['eight at a time', 8],
  ])('%s: each is answered once or fails with a typed error, none is carried out twice', async (_, inFlight) => {
    await using executor = await executorProgram()
    await using proxy = await cuttingProxy(executor.url)
    await using connections = await PlacedConnections.open({ executors: { far: proxy.url } })
    const record = join(connections.home, 'record')
    const server = echoOn('far', 'notes', ['--record', record])
    const [captured] = await connections.up(server)
    if (captured === undefined) throw new Error('nothing was captured')
    const call = captured.prepareCall('echo')
    const answered: string[] = []
    const failed: { readonly message: string; readonly error: unknown }[] = []
    let next = 0
    let cuts = 0
    const lane = async () => {
      while (next < CALLS) {
        next += 1
        const message = `message ${next}`
        const out = connections.manager.invoke(call, { message }, undefined)
        if (next % EVERY === 0) {
          cuts += 1
          proxy.cut()
        }
        await out.then(
          (result) => answered.push(textOf(result) === message ? message : `${message}: ${textOf(result)}`),
          (error: unknown) => failed.push({ message, error }),
        )
      }
    }
    await Promise.all(Array.from({ length: inFlight }, lane))
    console.log(`${answered.length} answered, ${failed.length} failed with a typed error, over ${cuts} cuts`)

    expect(cuts).toBe(CALLS / EVERY)
    const all = [...answered, ...failed.map(({ message }) => message)]
    expect(new Set(all)).toEqual(new Set(Array.from({ length: CALLS }, (_, index) => `message ${index + 1}`)))
    expect(all).toHaveLength(CALLS)
    expect(failed.filter(({ error }) => !(error instanceof ReeveError))).toEqual([])
    const carriedOut = (await readFile(record, 'utf8'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
      .filter(({ method }) => method === 'tools/call')
      .map(({ params }) => params.arguments.message)
    expect(new Set(carriedOut).size).toBe(carriedOut.length)
    expect(answered.filter((message) => !carriedOut.includes(message))).toEqual([])
  })
})

describe('four hundred calls of an HTTP server through a connection that is cut every fifty', () => {
  it('are each answered or fail with a typed error, and none is made twice', async () => {
    await using executor = await executorProgram()
    await using proxy = await cuttingProxy(executor.url)
    await using web = await webServer()
    await using connections = await PlacedConnections.open({ executors: { far: proxy.url } })
    const [captured] = await connections.up(webOn('far', 'web', { url: web.url }))
    const call = captured?.prepareCall('hello')
    const outcomes: ('answered' | 'failed')[] = []
    for (let n = 1; n <= 400; n += 1) {
      const out = call?.run({ arguments: { message: `message ${n}` } })
      if (n % EVERY === 0) proxy.cut()
      try {
        expect(textOf((await out) ?? {})).toBe('hello')
        outcomes.push('answered')
      } catch (error) {
        expect(error).toBeInstanceOf(ReeveError)
        outcomes.push('failed')
      }
    }
    const count = (what: string): number => outcomes.filter((outcome) => outcome === what).length
    console.log(`${count('answered')} answered, ${count('failed')} failed with a typed error, over ${400 / EVERY} cuts`)
    // A cut costs the call that is out, and no other.
    expect(count('failed')).toBeLessThanOrEqual(400 / EVERY)
    const made = web.requests.flatMap(({ body }) => /"message (\d+)"/.exec(body)?.[1] ?? [])
    expect(new Set(made).size).toBe(made.length)
    expect(made.length).toBeGreaterThanOrEqual(count('answered'))
  })
})
