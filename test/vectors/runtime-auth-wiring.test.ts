import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { systemClock } from '../../src/auth/index.js'
import { sessionOf } from '../../src/reeve.js'
import { json } from '../standins/backend-model.js'
import { HUB, HUB_PATH, schemes, startBackendRuntime } from '../standins/backend-runtime.js'
import { isWording, Record, runnable, titleOf, wantedOf } from './runtime-auth-cases.js'

const MESSAGE = 'runtime registration rejected (403 Forbidden, Some(Unknown))'
const REFUSED = json(403, { error: { code: 'no' } })
const call = { ...HUB, tool: 't', arguments: {} }
const reasonOf = (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error)

/** What the failure of a registration comes to, where a whole runtime meets it. */
const OPERATIONS: ReadonlyMap<string, () => Promise<{ text: string; plainBearerFallback: boolean }>> = new Map([
  [
    'mcp startup',
    async () => {
      await using world = await startBackendRuntime({ mode: 'dual_header' })
      world.backend.model.registrationReplies = [REFUSED]
      const thread = await world.thread()
      const error = z.instanceof(Error).parse(await reasonOf(thread.callTool(call)))
      const text = error.message.replace(/^MCP client for `hub` failed to start: /, '')
      return { text, plainBearerFallback: schemes(world.sent()).includes('Bearer') }
    },
  ],
  [
    'live mcp operation',
    async () => {
      let later = 0
      const clock = { ...systemClock, wall: () => Date.now() + later }
      await using world = await startBackendRuntime({ mode: 'dual_header', account: null, firstParty: { clock } })
      const { model } = world.backend
      const exp = Math.floor(Date.now() / 1000) + 1000
      await world.reeve.auth?.login(sessionOf(model.issue({ account: 'acct-1', user: 'user-1', exp })))
      const thread = await world.thread()
      await thread.callTool(call)
      later = 900_000
      model.registrationReplies = [REFUSED]
      await reasonOf(thread.callTool(call))
      const before = world.sent().length
      const error = z.instanceof(Error).parse(await reasonOf(thread.callTool(call)))
      const afterwards = world.sent().slice(before)
      return { text: error.message, plainBearerFallback: afterwards.some(({ method }) => method === 'POST') }
    },
  ],
])

describe('registration failures, through a whole runtime', () => {
  for (const one of runnable('registrationFailure').filter(isWording)) {
    const { operation } = z.looseObject({ operation: z.string() }).parse(one.input)
    it(titleOf(one), async () => {
      const wanted = Record.parse(wantedOf(one))
      const got = await OPERATIONS.get(operation)?.()
      expect(got).toEqual({ ...wanted, text: String(wanted.text).replace('<message>', MESSAGE) })
    })
  }
})

describe('a redirected end of the handshake, through a whole runtime', () => {
  for (const one of runnable('redirects').filter(({ name }) => name.includes('notifications/initialized'))) {
    const wanted = Record.parse(wantedOf(one))
    if (wanted.handshakes === undefined) continue
    it.each(['dual_header', 'assertion_only'] as const)(`${titleOf(one)}: %s`, async (mode) => {
      await using world = await startBackendRuntime({ mode })
      const redirect = { status: 307, headers: { location: HUB_PATH } }
      world.backend.model.rpcReplies.set('notifications/initialized', [redirect])
      const thread = await world.thread()
      const error = await reasonOf(thread.callTool(call))
      expect(error).toMatchObject({ code: 'startup_failed', data: { code: wanted.errorCode } })
      expect(world.sent('initialize')).toHaveLength(z.number().parse(wanted.handshakes))
      expect(world.backend.model.violations).toEqual([])
    })
  }
})
