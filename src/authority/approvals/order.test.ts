import { describe, expect, it } from 'vitest'
import { presetProfile } from '../../permissions/index.js'
import { type CallFacts, nextStep, routesToReviewer } from './order.js'

const hints = { readOnly: undefined, destructive: undefined, openWorld: undefined }
const facts = (some: Partial<CallFacts>): CallFacts => ({
  strictReview: false,
  policy: 'on-request',
  permissions: presetProfile('workspace-write', { cwd: '/w' }),
  mode: 'auto',
  hints,
  remembered: null,
  hook: { kind: 'none' },
  reviewer: 'user',
  ...some,
})
const full = presetProfile('danger-full-access', { cwd: '/w' })

describe('the order of decisions', () => {
  it('reviews everything in a strict turn, whatever would skip it', () => {
    const skips: Partial<CallFacts> = {
      strictReview: true,
      mode: 'approve',
      policy: 'never',
      permissions: full,
      remembered: 'session',
      hook: { kind: 'allow' },
    }
    expect(nextStep(facts(skips))).toEqual({ do: 'review', strict: true })
  })

  it('runs under never and full access in every mode, and asks in no other case of never', () => {
    for (const mode of ['auto', 'prompt', 'writes', 'approve'] as const)
      expect(nextStep(facts({ policy: 'never', permissions: full, mode }))).toEqual({ do: 'run', by: 'full_access' })
    expect(nextStep(facts({ policy: 'never' }))).toMatchObject({ do: 'reject', by: 'policy' })
    expect(nextStep(facts({ permissions: full, mode: 'prompt' }))).toEqual({ do: 'ask_user' })
  })

  it('hears hooks before anything that was remembered, and a denial of theirs above all', () => {
    expect(nextStep(facts({ remembered: 'session', hook: { kind: 'unasked' } }))).toEqual({ do: 'ask_hooks' })
    const deny = { kind: 'deny', message: 'no' } as const
    expect(nextStep(facts({ remembered: 'always', hook: deny }))).toEqual({ do: 'reject', by: 'hook', text: 'no' })
    expect(nextStep(facts({ remembered: 'always' }))).toEqual({ do: 'run', by: 'durable_memory' })
    expect(nextStep(facts({ remembered: 'session', hook: { kind: 'allow' } }))).toMatchObject({ by: 'session_memory' })
  })

  it('asks no hook about a call that needs no approval', () => {
    expect(nextStep(facts({ mode: 'approve', hook: { kind: 'unasked' } }))).toEqual({ do: 'run', by: 'mode' })
  })

  it('takes the word of a hook before the reviewer, the policy and the user', () => {
    const allow = { kind: 'allow' } as const
    expect(nextStep(facts({ hook: allow, reviewer: 'auto_review' }))).toEqual({ do: 'run', by: 'hook' })
    expect(nextStep(facts({ hook: allow, policy: 'never' }))).toEqual({ do: 'run', by: 'hook' })
  })

  it('goes to the reviewer on request, not under untrusted nor never', () => {
    const granular = {
      sandbox_approval: true,
      rules: true,
      skill_approval: true,
      request_permissions: true,
      mcp_elicitations: false,
    }
    expect(nextStep(facts({ reviewer: 'auto_review' }))).toEqual({ do: 'review', strict: false })
    expect(routesToReviewer({ granular }, 'auto_review')).toBe(true)
    expect(nextStep(facts({ reviewer: 'auto_review', policy: 'untrusted' }))).toEqual({ do: 'ask_user' })
    expect(nextStep(facts({ reviewer: 'auto_review', policy: 'never' }))).toMatchObject({ do: 'reject' })
  })
})
