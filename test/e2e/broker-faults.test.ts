import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/protocol/index.js'
import { BrokerHome } from './broker/home.js'
import type { StdioClient } from './broker/stdio-client.js'
import { buildCli } from './built-cli.js'

let home: BrokerHome
beforeAll(buildCli)
beforeEach(async () => {
  home = await BrokerHome.make()
})
afterEach(() => home[Symbol.asyncDispose]())

const CLIENTS = 3
const ROUNDS = 8
const REQUESTS = 12

/** A mix of requests; every call says something that is said once in the whole test. */
function ask(
  client: StdioClient,
  of: string,
  index: number,
): { readonly id: number; readonly call: string | undefined } {
  if (index % 3 === 1) return { id: client.begin('resources/read', { uri: 'echo://greeting' }), call: undefined }
  if (index % 3 === 2) return { id: client.begin('tools/list'), call: undefined }
  const call = `${of}-${index}`
  return { id: client.begin('tools/call', { name: 'notes__echo', arguments: { message: call } }), call }
}

const timesIn = (text: string, part: string) => text.split(`"${part}"`).length - 1

describe('brokers that end at any moment', () => {
  it('cost no client an answer: reads are answered, and each call is carried out once or refused', async () => {
    const clients = Array.from({ length: CLIENTS }, () => home.client())
    await Promise.all(clients.map((client) => client.open()))
    for (let round = 0; round < ROUNDS; round += 1) {
      const asked = clients.flatMap((client, who) =>
        Array.from({ length: REQUESTS }, (_, index) => ({ client, ...ask(client, `${round}-${who}`, index) })),
      )
      // By turns in the middle of the answers, before them, and in order.
      const [broker] = home.brokers()
      if (round % 3 === 0) await clients[0]?.answerTo(asked[3]?.id ?? 0)
      if (broker !== undefined && round % 3 !== 2) process.kill(broker, 'SIGKILL')
      if (round % 3 === 2) await home.reeve(['broker', 'stop'])

      for (const { client, id, call } of asked) {
        const answer = await client.answerTo(id)
        const carriedOut = call === undefined ? 0 : timesIn(home.recorded('notes'), call)
        if (call === undefined) expect(answer).toHaveProperty('result')
        else if (answer.error === undefined) expect(carriedOut).toBe(1)
        else {
          expect(answer.error).toMatchObject({ data: { code: 'broker_lost' } })
          expect(carriedOut).toBeLessThanOrEqual(1)
        }
      }
    }
    for (const client of clients) {
      const ids = client.heard.filter((message: JsonObject) => message.method === undefined).map(({ id }) => id)
      expect(new Set(ids).size).toBe(ids.length)
    }
    expect(home.brokers().length).toBeLessThan(2)
  })
})
