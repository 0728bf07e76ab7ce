import fc from 'fast-check'
import { expect, it } from 'vitest'
import { approvalCall, KeptApprovals } from '../../../test/fixtures/authority/approval-call.js'
import { type ApprovalCall, Approver, subjectOf } from './approver.js'

/** Where a call goes, and how things stand with it. */
const Place = fc.record({
  environment: fc.constantFrom(null, 'enva', 'envb'),
  tool: fc.constantFrom('a', 'b'),
  pluginId: fc.constantFrom(null, 'p@m'),
})
const Answer = fc.constantFrom(...(['once', 'session', 'always', 'decline', 'cancel', 'nobody'] as const))
const Mode = fc.constantFrom(...(['auto', 'auto', 'auto', 'prompt', 'writes', 'approve'] as const))
const Policy = fc.constantFrom(...(['on-request', 'on-request', 'untrusted', 'never'] as const))

const Event = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('call' as const),
      place: Place,
      mode: Mode,
      policy: Policy,
      answer: Answer,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('change_definition' as const), place: Place }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('change_command' as const), environment: Place.map((p) => p.environment) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('change_back' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('revoke' as const), place: Place }) },
)

type Where = Parameters<typeof placeText>[0]

/** The rules in short: what was said of a tool, under which command and definition. */
class Model {
  readonly definitions = new Map<string, number>()
  readonly commands = new Map<string | null, number>()
  readonly kept = new Map<string, string>()
  session = new Map<string, string>()

  stateOf(where: Where): string {
    return `${this.commands.get(where.environment) ?? 0}/${this.definitions.get(placeText(where)) ?? 0}`
  }
  isRemembered(where: Where): boolean {
    const now = this.stateOf(where)
    return this.session.get(placeText(where)) === now || this.kept.get(placeText(where)) === now
  }
  remember(where: Where, persist: 'session' | 'always'): void {
    const memory = persist === 'always' ? this.kept : this.session
    memory.set(placeText(where), this.stateOf(where))
  }
}

function placeText(where: { environment: string | null; tool: string; pluginId: string | null }): string {
  return JSON.stringify([where.environment, where.tool, where.pluginId])
}

/** Who has to say yes to a call, by the model alone. */
function wantedOf(model: Model, where: Where, mode: string, policy: string): 'runs' | 'asks' | 'refused' {
  if (mode === 'approve') return 'runs'
  if (mode === 'auto' && model.isRemembered(where)) return 'runs'
  return policy === 'never' ? 'refused' : 'asks'
}

it('runs no call without a matching decision, in ten thousand sequences of calls, answers and changes', async () => {
  let calls = 0
  await fc.assert(
    fc.asyncProperty(fc.array(Event, { minLength: 1, maxLength: 25 }), async (events) => {
      const model = new Model()
      const durable = new KeptApprovals()
      let approver = new Approver({ durable })
      const callOf = (where: Where): ApprovalCall =>
        approvalCall({
          ...where,
          command: `server-${model.commands.get(where.environment) ?? 0}`,
          definition: { name: where.tool, description: String(model.definitions.get(placeText(where)) ?? 0) },
        })
      for (const event of events) {
        switch (event.do) {
          case 'change_definition': {
            const text = placeText(event.place)
            model.definitions.set(text, (model.definitions.get(text) ?? 0) + 1)
            break
          }
          case 'change_command':
            model.commands.set(event.environment, (model.commands.get(event.environment) ?? 0) + 1)
            break
          case 'change_back':
            model.definitions.clear()
            model.commands.clear()
            break
          case 'restart':
            approver = new Approver({ durable })
            model.session = new Map()
            break
          case 'revoke':
            durable.revoke(subjectOf(callOf(event.place)))
            model.kept.delete(placeText(event.place))
            break
          case 'call': {
            calls += 1
            const { place, mode, policy, answer } = event
            const call = callOf(place)
            const wanted = wantedOf(model, place, mode, policy)
            let asked = false
            const user = async () => {
              asked = true
              if (answer === 'decline' || answer === 'cancel') return { action: answer }
              return { action: 'accept', _meta: { persist: answer } }
            }
            const decision = await approver.decide(
              { ...call, authority: { ...call.authority, policy, approval: mode } },
              answer === 'nobody' ? {} : { user },
            )
            approver.remember(decision)
            const yes = answer === 'once' || answer === 'session' || answer === 'always'
            expect(decision.outcome === 'run').toBe(wanted === 'runs' || (wanted === 'asks' && yes))
            expect(asked).toBe(wanted === 'asks' && answer !== 'nobody')
            if (asked && mode === 'auto' && (answer === 'session' || answer === 'always')) model.remember(place, answer)
          }
        }
      }
      expect(durable.list()).toHaveLength(model.kept.size)
    }),
    { numRuns: 10_000 },
  )
  expect(calls).toBeGreaterThan(10_000)
})
