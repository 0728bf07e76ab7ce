import { describe, expect, it } from 'vitest'
import { approvalCall, KeptApprovals } from '../../../test/fixtures/authority/approval-call.js'
import { HOSTED_APPS_NAME } from '../../identity/index.js'
import { type ApprovalCall, Approver, subjectOf } from './approver.js'
import { bindingOf } from './binding.js'

const never = new Promise<never>(() => {})

/** A person who says always the same, and counts. */
function person(persist?: string) {
  const asked: string[] = []
  const user = async ({ tool }: { readonly tool: string }) => {
    asked.push(tool)
    return { action: 'accept', ...(persist !== undefined && { _meta: { persist } }) }
  }
  return { asked, user }
}

/** Decides and, as the call is made, remembers. */
async function made(approver: Approver, call: ApprovalCall, user: ReturnType<typeof person>['user']) {
  const decision = await approver.decide(call, { user })
  approver.remember(decision)
  return decision
}

describe('what was allowed for the session', () => {
  it('is remembered once the call is made, and not before', async () => {
    const { asked, user } = person('session')
    const approver = new Approver()
    await approver.decide(approvalCall(), { user })
    await made(approver, approvalCall(), user)
    expect(await made(approver, approvalCall(), user)).toMatchObject({ outcome: 'run', by: 'session_memory' })
    expect(asked).toHaveLength(2)
  })

  it.each([
    ['the description', approvalCall({ definition: { name: 'tool', description: 'now sends mail' } })],
    ['the schema', approvalCall({ definition: { name: 'tool', inputSchema: { type: 'object' } } })],
    ['the command', approvalCall({ command: 'other' })],
    ['the environment', approvalCall({ environment: 'enva' })],
    ['the plugin', approvalCall({ pluginId: 'other@market' })],
    ['the tool', approvalCall({ tool: 'other' })],
  ])('asks again when %s differs', async (_what, other) => {
    const { asked, user } = person('session')
    const approver = new Approver()
    await made(approver, approvalCall(), user)
    await made(approver, other, user)
    expect(asked).toHaveLength(2)
  })

  it('counts in no mode that asks every time', async () => {
    const { asked, user } = person('session')
    const approver = new Approver()
    await made(approver, approvalCall(), user)
    await made(approver, approvalCall({ mode: 'prompt' }), user)
    await made(approver, approvalCall({ managedMode: 'writes' }), user)
    expect(asked).toHaveLength(3)
  })

  it('does not outlive its approver', async () => {
    const { asked, user } = person('session')
    const durable = new KeptApprovals()
    await made(new Approver({ durable }), approvalCall(), user)
    await made(new Approver({ durable }), approvalCall(), user)
    expect(asked).toHaveLength(2)
    expect(durable.list()).toEqual([])
  })

  it('is kept of a hosted app that says which one it is, by connector and link', async () => {
    const app = (id: string, linkId: string) =>
      approvalCall({ name: HOSTED_APPS_NAME, command: 'apps', connector: { id, linkId } })
    const { asked, user } = person('session')
    const approver = new Approver()
    for (const call of [app('a', '1'), app('a', '1'), app('a', '2'), app('b', '1')]) await made(approver, call, user)
    expect(asked).toHaveLength(3)
    const nameless = approvalCall({ name: HOSTED_APPS_NAME })
    await made(approver, nameless, user)
    await made(approver, nameless, user)
    expect(asked).toHaveLength(5)
  })
})

describe('what was allowed for good', () => {
  it('holds in the next conversation, for servers of environments too', async () => {
    const { asked, user } = person('always')
    const durable = new KeptApprovals()
    for (const environment of [null, 'enva', 'envb']) {
      await made(new Approver({ durable }), approvalCall({ environment }), user)
      const again = await made(new Approver({ durable }), approvalCall({ environment }), user)
      expect(again).toMatchObject({ by: 'durable_memory' })
    }
    expect(asked).toHaveLength(3)
    expect(durable.list()).toHaveLength(3)
  })

  it('asks again when the command or the definition of then has changed, and when it was revoked', async () => {
    const { asked, user } = person('always')
    const durable = new KeptApprovals()
    await made(new Approver({ durable }), approvalCall(), user)
    await made(new Approver({ durable }), approvalCall({ command: 'other' }), user)
    await made(new Approver({ durable }), approvalCall(), user)
    expect(asked).toHaveLength(3)
    expect(durable.revoke(subjectOf(approvalCall()))).toBe(true)
    await made(new Approver({ durable }), approvalCall(), user)
    expect(asked).toHaveLength(4)
  })

  it('ends in a conversation that goes on when it is revoked elsewhere', async () => {
    const { asked, user } = person('always')
    const durable = new KeptApprovals()
    const approver = new Approver({ durable })
    await made(approver, approvalCall(), user)
    durable.revoke(subjectOf(approvalCall()))
    await made(approver, approvalCall(), user)
    expect(asked).toHaveLength(2)
  })

  it('counts no more when it is revoked while a hook runs', async () => {
    const durable = new KeptApprovals()
    const approver = new Approver({ durable })
    await made(approver, approvalCall(), person('always').user)
    const hooks = async () => {
      durable.revoke(subjectOf(approvalCall()))
      return { kind: 'none' } as const
    }
    expect(await approver.decide(approvalCall(), { hooks })).toMatchObject({ outcome: 'rejected', by: 'nobody' })
  })

  it('holds for the session when it cannot be kept, and says why', async () => {
    class Full extends KeptApprovals {
      override put(): void {
        throw new Error('disk full')
      }
    }
    const { asked, user } = person('always')
    const approver = new Approver({ durable: new Full() })
    const decision = await approver.decide(approvalCall(), { user })
    expect(approver.remember(decision)).toMatchObject({ remembered: 'session', problem: new Error('disk full') })
    await made(approver, approvalCall(), user)
    expect(asked).toHaveLength(1)
  })

  it('is offered for nothing where there is nothing that lasts', async () => {
    const offered: unknown[] = []
    await new Approver().decide(approvalCall(), { user: async ({ offers }) => offered.push(offers) })
    expect(offered).toEqual([['session']])
  })
})

describe('an operator, where nobody can be asked', () => {
  const given = (call: ApprovalCall) => {
    const durable = new KeptApprovals()
    const binding = bindingOf(call.endpoint, call.definition)
    durable.put({ subject: subjectOf(call), binding, origin: 'operator', givenAt: 1 })
    return new Approver({ durable })
  }

  it('has given the answer beforehand, in every mode', async () => {
    for (const mode of ['auto', 'prompt', 'writes'] as const) {
      const call = approvalCall({ mode })
      expect(await given(call).decide(call, {})).toMatchObject({ outcome: 'run' })
    }
  })

  it('has given none for what has changed, nor against what is managed', async () => {
    const call = approvalCall({ mode: 'prompt' })
    const changed = approvalCall({ mode: 'prompt', definition: { name: 'tool', description: 'new' } })
    expect(await given(call).decide(changed, {})).toMatchObject({ outcome: 'rejected', by: 'nobody' })
    const managed = approvalCall({ mode: 'prompt', managedMode: 'prompt' })
    expect(await given(call).decide(managed, {})).toMatchObject({ outcome: 'rejected', by: 'nobody' })
  })

  it('does not speak for a person who can be asked each time', async () => {
    const call = approvalCall({ mode: 'prompt' })
    const { asked, user } = person()
    await given(call).decide(call, { user })
    expect(asked).toHaveLength(1)
  })
})

describe('those who are asked', () => {
  it('have a bound, after which the call is refused and they are told', async () => {
    let told = false
    const approver = new Approver({ answerTimeoutMs: 1 })
    const decision = await approver.decide(approvalCall(), {
      user: (_prompt, stop) => {
        stop.addEventListener('abort', () => {
          told = true
        })
        return never
      },
    })
    expect(decision).toMatchObject({ outcome: 'rejected', by: 'nobody' })
    expect(told).toBe(true)
  })

  it('fail the call when they throw', async () => {
    const fails = () => Promise.reject(new Error('gone'))
    const approver = new Approver()
    await expect(approver.decide(approvalCall(), { user: fails })).rejects.toThrow('gone')
    await expect(approver.decide(approvalCall(), { hooks: fails })).rejects.toThrow('gone')
    const reviewed = approvalCall({ reviewer: 'auto_review' })
    await expect(approver.decide(reviewed, { reviewer: { review: fails } })).rejects.toThrow('gone')
  })

  it('are left when the caller leaves', async () => {
    const abort = new AbortController()
    const user = () => {
      abort.abort()
      return never
    }
    await expect(new Approver().decide(approvalCall(), { user }, abort.signal)).rejects.toMatchObject({
      code: 'cancelled',
    })
    await expect(new Approver().decide(approvalCall(), {}, abort.signal)).rejects.toMatchObject({ code: 'cancelled' })
  })

  it('are hooks first, whose denial is told in their words', async () => {
    const { asked, user } = person()
    const hooks = async () => ({ kind: 'deny', message: 'not on Fridays' }) as const
    expect(await new Approver().decide(approvalCall(), { hooks, user })).toMatchObject({
      outcome: 'rejected',
      by: 'hook',
      text: 'not on Fridays',
    })
    const allowed = await new Approver().decide(approvalCall(), { hooks: async () => ({ kind: 'allow' }), user })
    expect(allowed).toEqual({ outcome: 'run', by: 'hook', grant: null })
    expect(asked).toEqual([])
  })

  it('are a reviewer in a strict turn, also in mode approve; without one nothing runs', async () => {
    const call = approvalCall({ mode: 'approve', strictReview: true })
    const reviewer = { review: async () => ({ outcome: 'deny', rationale: 'because' }) }
    expect(await new Approver().decide(call, { reviewer })).toMatchObject({ outcome: 'rejected', by: 'reviewer' })
    expect(await new Approver().decide(call, {})).toMatchObject({ outcome: 'rejected', by: 'nobody' })
  })

  it('leave nothing behind when it was a reviewer or a hook that allowed', async () => {
    const durable = new KeptApprovals()
    const approver = new Approver({ durable })
    const reviewer = { review: async () => ({ outcome: 'allow' }) }
    const decision = await approver.decide(approvalCall({ reviewer: 'auto_review' }), { reviewer })
    expect(decision).toEqual({ outcome: 'run', by: 'reviewer', grant: null })
    approver.remember(decision)
    expect(await approver.decide(approvalCall(), {})).toMatchObject({ outcome: 'rejected', by: 'nobody' })
  })
})
