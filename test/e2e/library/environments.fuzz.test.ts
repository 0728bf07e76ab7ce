import fc from 'fast-check'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { ReeveError, type Step, type Thread } from '../../../src/reeve.js'
import { eventually, isRunning } from '../../fixtures/stdio/running.js'
import { notes, notesToml, ThreadWorld } from '../../fixtures/threads/thread-world.js'

const OWNERS = ['enva', 'envb'] as const

/** What may happen to a thread, all at once. */
const Move = fc.oneof(
  fc.record({ is: fc.constant('select' as const), ids: fc.subarray([...OWNERS, 'local']) }),
  fc.record({ is: fc.constant('step' as const), wait: fc.constantFrom('none' as const, 'grace' as const) }),
  fc.record({ is: fc.constant('call' as const), environment: fc.constantFrom(...OWNERS, null, undefined) }),
  fc.record({ is: fc.constant('list' as const) }),
  fc.record({ is: fc.constant('reload' as const) }),
)
type Move = typeof Move extends fc.Arbitrary<infer T> ? T : never

it('answers each request rightly or with a typed error, and is whole afterwards, whatever changes meanwhile', async () => {
  await using world = await ThreadWorld.open({
    executors: OWNERS,
    plugins: OWNERS.map((environment) => ({
      id: environment,
      environment,
      servers: { notes: notes('--as', environment) },
    })),
    config: notesToml('notes', ['--as', 'shared']),
  })
  const pids = new Set<number>()
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(Move, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 4 }),
      async (rounds) => {
        const thread = await world.reeve.startThread({ capabilityRoots: world.roots, graceMs: 50 })
        try {
          for (const round of rounds) await Promise.all(round.map((move) => make(move, thread)))
          await thread.select(world.select(...OWNERS))
          const step = await thread.step({ wait: 'all' })
          for (const environment of [...OWNERS, null])
            expect(await answerer(step, environment)).toBe(environment ?? 'shared')
        } finally {
          await thread.close()
        }
      },
    ),
    { numRuns: 12, endOnFailure: true },
  )
  for (const pid of pids) await eventually(() => expect(isRunning(pid)).toBe(false))

  async function make(move: Move, thread: Thread): Promise<void> {
    try {
      if (move.is === 'select') await thread.select(world.select(...move.ids))
      else if (move.is === 'reload') await world.reeve.reload()
      else if (move.is === 'list') await thread.resources.listAll()
      else if (move.is === 'step') await thread.step({ wait: move.wait })
      else {
        const { environment } = move
        const call = { server: 'notes', tool: 'whoami', ...(environment !== undefined && { environment }) }
        const { as, pid } = saidIn(await thread.callTool(call))
        pids.add(pid)
        expect(as).toBe(environment ?? 'shared')
      }
    } catch (error) {
      if (!(error instanceof ReeveError)) throw error
    }
  }
}, 120_000)

const Said = z.looseObject({ as: z.string(), pid: z.number() })

function saidIn({ content }: Readonly<Record<string, unknown>>) {
  const [{ text }] = z.tuple([z.looseObject({ text: z.string() })]).parse(content)
  return Said.parse(JSON.parse(text))
}

async function answerer(step: Step, environment: string | null): Promise<string> {
  const tool = step.tools.find(({ key, tool: raw }) => key.environment === environment && raw === 'whoami')
  if (tool === undefined) throw new Error(`nothing of ${environment} is offered`)
  return saidIn(await step.call(tool)).as
}
