import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ANSWER_LABELS, readAnswer } from './answer.js'

const QUESTION = 'mcp_tool_call_approval_c1'

describe('an answer', () => {
  it.each([
    [
      { action: 'accept', _meta: { persist: 'session' } },
      { kind: 'allowed', persist: 'session' },
    ],
    [
      { action: 'accept', _meta: { persist: 'always' }, content: {} },
      { kind: 'allowed', persist: 'always' },
    ],
    [
      { action: 'accept', _meta: { persist: 'forever' } },
      { kind: 'allowed', persist: null },
    ],
    [
      { action: 'accept', content: { [QUESTION]: ANSWER_LABELS.session } },
      { kind: 'allowed', persist: 'session' },
    ],
    [
      { action: 'accept', content: { [QUESTION]: [ANSWER_LABELS.always] } },
      { kind: 'allowed', persist: 'always' },
    ],
    [
      { action: 'accept', content: { other: 'Cancel' } },
      { kind: 'allowed', persist: null },
    ],
    [{ answers: { [QUESTION]: { answers: [ANSWER_LABELS.once] } } }, { kind: 'allowed', persist: null }],
  ])('%j allows', (said, wanted) => {
    expect(readAnswer(said, 'c1')).toEqual(wanted)
  })

  it.each([
    { action: 'cancel' },
    { action: 'ACCEPT' },
    { action: ['accept'] },
    { action: 'accept', content: { [QUESTION]: 'Cancel' } },
    { action: 'accept', content: { [QUESTION]: 'Sure' } },
    { answers: { [QUESTION]: { answers: ['Allow', 'Cancel'] } } },
    { answers: { mcp_tool_call_approval_c2: { answers: ['Allow'] } } },
    { answers: null },
    {},
    [],
    'accept',
    null,
    undefined,
  ])('%j cancels', (said) => {
    expect(readAnswer(said, 'c1')).toMatchObject({ kind: 'cancelled', text: 'user cancelled MCP tool call' })
  })

  it('allows nothing without saying so', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (said) => {
        const text = JSON.stringify(said)
        if (readAnswer(said, 'c1').kind === 'allowed') expect(text).toMatch(/accept|Allow/)
      }),
      { numRuns: 2000 },
    )
  })
})
