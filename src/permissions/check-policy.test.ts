import { describe, expect, it } from 'vitest'
import { checkPolicy } from './check-policy.js'

describe('an approval policy', () => {
  it.each([
    undefined,
    null,
    'untrusted',
    'on-request',
    'never',
    { granular: {} },
    { granular: { mcp_elicitations: true, rules: false } },
  ])('can be %j', (policy) => {
    expect(() => checkPolicy(policy, 'approvalPolicy')).not.toThrow()
  })

  it.each([
    'Never',
    'sometimes',
    '',
    3,
    true,
    [],
    {},
    { granular: true },
    { granular: null },
    { granular: { mcp_elicitations: 'yes' } },
    Object.create({ granular: {} }),
  ])('is none, and refused with its place: %j', (policy) => {
    expect(() => checkPolicy(policy, 'approvalPolicy')).toThrow(
      expect.objectContaining({ code: 'invalid_arguments', place: expect.stringMatching(/^approvalPolicy/) }),
    )
  })
})
