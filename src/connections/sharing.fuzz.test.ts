import { describe, expect, it } from 'vitest'
import { settle } from '../../test/fixtures/connections/manual-timers.js'
import type { Script, ScriptedServer } from '../../test/fixtures/connections/scripted-server.js'
import { stdioServer } from '../../test/fixtures/connections/servers.js'
import { type Holder, SharingHarness } from '../../test/fixtures/connections/sharing-harness.js'
import type { JsonObject } from '../protocol/index.js'

/** The same run each time: a failure can be repeated. (mulberry32) */
function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return (((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * below
  }
}

/** Says and asks what belongs to its call, and stops when that is cancelled. */
const CHATTY: Record<string, Script> = {
  'tools/call': async ({ arguments: args }, { id, server }): Promise<JsonObject> => {
    const { by, rounds } = args as { by: string; rounds: number }
    for (let round = 0; round < rounds && !isCancelled(server, id); round += 1) {
      await server.notify('notifications/message', { level: 'info', data: by })
      const answer = await server.ask('elicitation/create', { message: by })
      if ('result' in answer && answer.result.by !== by.split(' ')[0]) return { crossed: by }
    }
    return { did: by }
  },
}

function isCancelled(server: ScriptedServer, id: unknown): boolean {
  return server.received.some(
    (message) =>
      'method' in message && message.method === 'notifications/cancelled' && message.params?.requestId === id,
  )
}

/** Sessions come, call, give up and go, and now and then the server crashes. Everything ends, and nothing is mixed up. */
async function live(seed: number) {
  const below = random(seed)
  const pick = <T>(items: readonly T[]): T | undefined => items[Math.floor(below(items.length))]
  const harness = new SharingHarness(stdioServer('s'), { script: CHATTY, idleMs: below(2) < 1 ? 0 : 1_000 })
  const strange: unknown[] = []
  const open: Holder[] = []
  const ever: Holder[] = []
  const calls: Promise<unknown>[] = []
  const comes = async () => {
    let isThere = false
    const coming = harness.holder(`h${ever.length}`).finally(() => {
      isThere = true
    })
    await settle()
    // What crashed before anybody listened to it ends with its time alone.
    while (!isThere) await harness.timers.advance(1_000)
    const holder = await coming
    open.push(holder)
    ever.push(holder)
  }
  await comes()
  for (let step = 0; step < 150; step += 1) {
    const holder = pick(open)
    const what = below(100)
    if (holder === undefined || what < 8) await comes()
    else if (what < 14) {
      open.splice(open.indexOf(holder), 1)
      calls.push(holder.manager.close())
    } else if (what < 16) await harness.opened.at(-1)?.crash()
    else if (what < 30) await harness.timers.advance(below(400))
    else {
      const leaving = new AbortController()
      const by = `${holder.name} ${step}`
      const call = holder.call({ by, rounds: Math.floor(below(4)) }, { signal: leaving.signal })
      calls.push(
        call
          .then(
            (result) => 'did' in result && result.did === by,
            (error: unknown) => error,
          )
          .then((outcome) => {
            if (outcome !== true && !(outcome instanceof Error)) strange.push([by, outcome])
          }),
      )
      if (below(10) < 2) setImmediate(() => leaving.abort())
      if (below(10) < 5) await settle()
    }
  }
  for (let turn = 0; turn < 20; turn += 1) await harness.timers.advance(1_000)
  await Promise.all(calls)
  for (const holder of ever) {
    const foreign = [...holder.heard, ...holder.asked.map(({ params }) => String((params as JsonObject).message))]
    strange.push(...foreign.filter((text) => !text.startsWith(`${holder.name} `)))
  }
  await Promise.all(open.map(({ manager }) => manager.close()))
  for (let turn = 0; turn < 3; turn += 1) await harness.timers.advance(1_000)
  return { strange, running: harness.opened.filter(({ closed }) => !closed).length }
}

describe('sessions that come and go', () => {
  it('end with nothing mixed up and nothing left, whatever is called, given up or crashes', async () => {
    for (let seed = 1; seed <= 25; seed += 1) {
      expect([seed, await live(seed)]).toEqual([seed, { strange: [], running: 0 }])
    }
  })
})
