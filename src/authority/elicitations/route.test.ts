import { describe, expect, it } from 'vitest'
import { serverKey } from '../../identity/index.js'
import { type ApprovalPolicy, presetProfile } from '../../permissions/index.js'
import type { JsonObject, JsonValue } from '../../protocol/index.js'
import type { Elicitation, ElicitationAuthority } from './authority.js'
import { routeElicitation } from './route.js'

const full = presetProfile('danger-full-access', { cwd: '/w' })
const restricted = presetProfile('workspace-write', { cwd: '/w' })
const authority = (some: Partial<ElicitationAuthority> = {}): ElicitationAuthority => ({
  policy: 'on-request',
  permissionsOf: () => restricted,
  declinesAll: false,
  formsReachUser: false,
  ...some,
})
const question = (params: JsonObject, rest: Partial<Elicitation> = {}): Elicitation => ({
  key: serverKey('notes', 'enva'),
  requestId: 1,
  params,
  turnId: null,
  ...rest,
})
const EMPTY = { message: '?', requestedSchema: { type: 'object', properties: {} } }
const FILLED = { message: '?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } }
const DECLINED = { to: 'answer', answer: { action: 'decline' } }
const fixed = { to: 'answer', answer: { action: 'decline', _meta: { message: expect.stringContaining('failed') } } }
const noQuestions: ApprovalPolicy = {
  granular: {
    sandbox_approval: true,
    rules: true,
    skill_approval: true,
    request_permissions: true,
    mcp_elicitations: false,
  },
}

describe('a question', () => {
  it('is declined where all are, where it suggests a tool, and where no profile governs its server', () => {
    expect(routeElicitation(question(EMPTY), authority({ declinesAll: true }))).toMatchObject(DECLINED)
    const suggestion = question({ ...EMPTY, _meta: { codex_approval_kind: 'tool_suggestion' } })
    expect(routeElicitation(suggestion, authority())).toEqual({ ...DECLINED, reason: 'tool_suggestion' })
    expect(routeElicitation(question(EMPTY), undefined)).toEqual({ ...DECLINED, reason: 'no_authority' })
    const none = authority({ permissionsOf: () => undefined, policy: 'never' })
    expect(routeElicitation(question(EMPTY), none)).toEqual({ ...DECLINED, reason: 'no_authority' })
  })

  it('is judged by the profile of its own server', () => {
    const mixed = authority({
      policy: 'never',
      permissionsOf: ({ environment }) => (environment === 'enva' ? full : restricted),
    })
    expect(routeElicitation(question(EMPTY), mixed)).toMatchObject({ answer: { action: 'accept', content: {} } })
    const other = question(EMPTY, { key: serverKey('notes', 'envb') })
    expect(routeElicitation(other, mixed)).toMatchObject(DECLINED)
  })

  it('goes on when it does not ask for a strict review, and is not believed when it asks strangely', () => {
    const strict = (value: unknown) =>
      question(JSON.parse(JSON.stringify({ ...EMPTY, _meta: { codex_strict_auto_review: value } })))
    expect(routeElicitation(strict(false), authority())).toEqual({ to: 'review' })
    for (const value of ['true', 1, null, {}]) expect(routeElicitation(strict(value), authority())).toMatchObject(fixed)
    expect(routeElicitation(strict(true), authority({ policy: 'never' }))).toEqual({ to: 'strict_review' })
    expect(routeElicitation(strict(true), authority({ policy: noQuestions }))).toMatchObject(fixed)
  })

  it('is accepted by itself in mode approve, whatever the policy, if it asks for nothing', () => {
    const approved = { toolMode: 'approve' } as const
    const accepted = { to: 'answer', answer: { action: 'accept', content: {} }, reason: 'auto_approved' }
    for (const policy of ['on-request', 'never', noQuestions] as const)
      expect(routeElicitation(question(EMPTY, approved), authority({ policy }))).toEqual(accepted)
    expect(routeElicitation(question(FILLED, approved), authority())).toEqual({ to: 'review' })
    const opaque = question({ ...EMPTY, mode: 'openai/form' }, approved)
    expect(routeElicitation(opaque, authority())).toEqual({ to: 'review' })
    const url = question({ mode: 'url', message: 'Open', url: 'https://x.example', elicitationId: 'e' }, approved)
    expect(routeElicitation(url, authority())).toEqual({ to: 'review' })
  })

  it.each<JsonValue>([
    { type: 'object', properties: [] },
    { type: 'object', properties: 'none' },
    { type: 'object', required: ['password'] },
    'anything',
    null,
  ])('is not taken to ask for nothing by the schema %j', (requestedSchema) => {
    const strange = question({ message: '?', requestedSchema }, { toolMode: 'approve' })
    expect(routeElicitation(strange, authority())).toEqual({ to: 'review' })
  })

  it('reaches a person past the reviewer where a host with full access has one at hand', () => {
    const open = authority({ policy: 'never', permissionsOf: () => full, formsReachUser: true })
    expect(routeElicitation(question(FILLED), open)).toEqual({ to: 'user' })
    expect(routeElicitation(question({ ...FILLED, mode: 'openaiForm' }), open)).toEqual({ to: 'user' })
    expect(routeElicitation(question({ ...FILLED, _meta: { other: 1 } }), open)).toEqual({ to: 'user' })
    const approval = question({ ...FILLED, _meta: { codex_approval_kind: 'mcp_tool_call' } })
    expect(routeElicitation(approval, open)).toMatchObject(DECLINED)
    expect(routeElicitation(question(FILLED), authority({ formsReachUser: true }))).toEqual({ to: 'review' })
  })

  it('has no say by a prototype of its _meta', () => {
    const params = JSON.parse('{"message":"?","_meta":{"__proto__":{"codex_strict_auto_review":true}}}')
    expect(routeElicitation(question(params), authority())).toEqual({ to: 'review' })
  })
})
