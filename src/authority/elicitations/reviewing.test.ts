import { describe, expect, it } from 'vitest'
import { serverKey } from '../../identity/index.js'
import { presetProfile } from '../../permissions/index.js'
import type { JsonObject } from '../../protocol/index.js'
import type { ReviewRequest } from '../reviewer/contract.js'
import { type ReviewingTurn, reviewOfTurn } from './reviewing.js'

const restricted = presetProfile('workspace-write', { cwd: '/w' })
const META = { codex_approval_kind: 'mcp_tool_call', codex_request_type: 'approval_request', tool_name: 'sub' }
const EMPTY = { message: '?', requestedSchema: { type: 'object', properties: {} } }
const turn = (some: Partial<ReviewingTurn> = {}): ReviewingTurn => ({
  threadId: 'thread',
  policy: 'on-request',
  reviewer: 'auto_review',
  permissionsOf: () => restricted,
  primaryEnvironment: 'local',
  ...some,
})

function answered(params: JsonObject, now: ReviewingTurn | undefined, said: unknown = { outcome: 'allow' }) {
  const requests: ReviewRequest[] = []
  const review = reviewOfTurn({
    turn: () => now,
    reviewer: {
      review: async (request) => {
        requests.push(request)
        return said
      },
    },
    settings: { compatibility: false },
  })
  const elicitation = { key: serverKey('notes', 'enva'), requestId: 'r-9', params, turnId: 'turn' }
  return { requests, answer: review.answer(elicitation, new AbortController().signal) }
}

describe('the review of what servers ask', () => {
  it('has nothing to say outside a turn', async () => {
    expect(await answered({ ...EMPTY, _meta: META }, undefined).answer).toBeUndefined()
  })

  it('declines where no authority was captured', async () => {
    const none = turn({ permissionsOf: () => undefined })
    expect(await answered({ ...EMPTY, _meta: META }, none).answer).toEqual({ action: 'decline' })
    expect(await answered(EMPTY, none).answer).toEqual({ action: 'decline' })
  })

  it('names the request that it is about, and that it is sensitive', async () => {
    const { requests, answer } = answered({ ...EMPTY, _meta: { ...META, codex_sensitive_action: true } }, turn())
    await answer
    expect(requests).toMatchObject([{ targetItemId: 'mcp_elicitation:notes:r-9', synchronous: true }])
  })

  it.each([
    ['a blank tool name', { ...EMPTY, _meta: { ...META, tool_name: ' ' } }],
    ['a schema that asks for something', { ...EMPTY, requestedSchema: { properties: { a: {} } }, _meta: META }],
    ['parameters that are a list', { ...EMPTY, _meta: { ...META, tool_params: [] } }],
    ['another mode', { mode: 'url', message: 'Open', url: 'https://x.example', _meta: META }],
  ])('declines an approval request with %s unseen', async (_what, params) => {
    const { requests, answer } = answered(params, turn())
    expect(await answer).toEqual({ action: 'decline', _meta: { approvals_reviewer: 'auto_review' } })
    expect(requests).toEqual([])
  })

  it('answers by how the review ended', async () => {
    const denied = await answered({ ...EMPTY, _meta: META }, turn(), { outcome: 'deny', rationale: 'r' }).answer
    expect(denied).toMatchObject({ action: 'decline', _meta: { approvals_reviewer: 'auto_review' } })
    const slow = reviewOfTurn({
      turn: () => turn(),
      reviewer: { review: () => new Promise(() => {}) },
      settings: { compatibility: false, timeoutMs: 1 },
    })
    const elicitation = { key: serverKey('n'), requestId: 1, params: { ...EMPTY, _meta: META }, turnId: null }
    expect(await slow.answer(elicitation, new AbortController().signal)).toMatchObject({
      action: 'decline',
      _meta: { message: expect.stringContaining('in time') },
    })
    const abort = new AbortController()
    abort.abort()
    expect(await slow.answer(elicitation, abort.signal)).toEqual({
      action: 'cancel',
      _meta: { approvals_reviewer: 'auto_review' },
    })
  })
})
