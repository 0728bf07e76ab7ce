import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ApprovalRules, HINTS, MODES, PLACES, type RuledCall } from '../../fixtures/authority/approval-rules.js'
import { ApprovalWorld } from '../../fixtures/authority/approval-world.js'

/** How many sequences; `npm run show authority` runs a thousand, or what this says. */
const RUNS = Number(process.env.REEVE_APPROVAL_SEQUENCES ?? 150)

const Tool = { place: fc.constantFrom(...PLACES), mode: fc.constantFrom(...MODES), hints: fc.constantFrom(...HINTS) }
const Call: fc.Arbitrary<RuledCall> = fc.record({
  ...Tool,
  policy: fc.constantFrom('on-request', 'on-request', 'untrusted', 'never'),
  from: fc.constantFrom('person', 'person', 'person', 'nobody'),
  answer: fc.constantFrom('once', 'session', 'always', 'always', 'decline', 'cancel', 'garbage'),
  reviewer: fc.constantFrom('none', 'none', 'none', 'allows', 'denies', 'throws'),
  strict: fc.constantFrom(false, false, false, false, false, true),
})
const Version = fc.integer({ min: 0, max: 2 })
const done = <Name extends string>(name: Name) => fc.constant(name)

const Event = fc.oneof(
  { weight: 400, arbitrary: fc.record({ do: done('call'), call: Call }) },
  // What was asked about before is asked about again.
  { weight: 400, arbitrary: fc.record({ do: done('again'), answer: fc.constantFrom('decline' as const) }) },
  { weight: 8, arbitrary: fc.record({ do: done('define'), place: Tool.place, version: Version }) },
  { weight: 4, arbitrary: fc.record({ do: done('define_meanwhile'), call: Call, version: Version }) },
  { weight: 2, arbitrary: fc.record({ do: done('command'), place: Tool.place, version: Version }) },
  { weight: 1, arbitrary: fc.record({ do: done('restart') }) },
  { weight: 4, arbitrary: fc.record({ do: done('talk_anew') }) },
  { weight: 60, arbitrary: fc.record({ do: done('revoke'), tool: fc.record(Tool) }) },
  { weight: 60, arbitrary: fc.record({ do: done('allow'), tool: fc.record(Tool) }) },
)

let world: ApprovalWorld
beforeAll(async () => {
  world = await ApprovalWorld.open()
  await world.converse()
})
afterAll(() => world[Symbol.asyncDispose]())

it(
  `runs no call without a matching decision, through real threads and servers: ${RUNS} sequences`,
  async () => {
    const rules = new ApprovalRules()
    const versions = new Map<string | null, number>()
    const counts = new Map<string, number>()
    const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1)

    async function make(call: RuledCall): Promise<void> {
      const { ran, code } = await world.call(call)
      const wanted = rules.runs(call)
      count(ran ? 'carried out' : 'refused')
      expect({ call, ran, code }).toMatchObject({ call, ran: wanted })
      expect(ran).toBe(code === undefined)
    }

    await fc.assert(
      fc.asyncProperty(fc.array(Event, { minLength: 1, maxLength: 8 }), async (events) => {
        count('sequences')
        let last: RuledCall | undefined
        for (const event of events) {
          count(event.do)
          switch (event.do) {
            case 'call':
              last = event.call
              await make(event.call)
              break
            case 'again':
              // Only what is remembered lets it through.
              if (last) await make({ ...last, answer: event.answer, reviewer: 'none', strict: false })
              break
            case 'define':
              versions.set(event.place, event.version)
              await world.define(event.place, event.version)
              rules.changed('definition', event.place, event.version)
              break
            case 'define_meanwhile': {
              const { place } = event.call
              const isChange = (versions.get(place) ?? 0) !== event.version
              versions.set(place, event.version)
              if (!isChange) break
              const outcome = await world.call(event.call, () => world.define(place, event.version))
              rules.changed('definition', place, event.version)
              expect(outcome.ran).toBe(false)
              break
            }
            case 'command':
              await world.command(event.place, event.version)
              rules.changed('command', event.place, event.version)
              break
            case 'restart':
              await world.restart()
              await world.converse()
              rules.newSession()
              break
            case 'talk_anew':
              await world.converse()
              rules.newSession()
              break
            case 'revoke':
              world.revoke(event.tool)
              rules.forgets(event.tool)
              break
            case 'allow':
              await world.allow(event.tool)
              rules.allowed(event.tool)
          }
        }
        expect(world.remembered).toBe(rules.kept.size)
      }),
      // What was remembered, and how things are, goes on from one sequence to the next.
      { numRuns: RUNS, endOnFailure: true },
    )
    if (process.env.REEVE_APPROVAL_SEQUENCES !== undefined)
      process.stdout.write(`${JSON.stringify(Object.fromEntries(counts))}\n`)
    expect(counts.get('sequences')).toBeGreaterThanOrEqual(RUNS)
  },
  Math.max(60_000, RUNS * 1_000),
)
