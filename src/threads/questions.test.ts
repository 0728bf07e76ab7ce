import { describe, expect, it } from 'vitest'
import type { ReviewRequest } from '../authority/index.js'
import type { PermissionAuthority } from '../catalog/index.js'
import type { FromServer } from '../connections/index.js'
import { type ServerKey, serverKey } from '../identity/index.js'
import { type ApprovalPolicy, presetProfile } from '../permissions/index.js'
import type { JsonObject } from '../protocol/index.js'
import type { Profile } from './composition.js'
import { judgedQuestions, type QuestionsHost } from './questions.js'

const EMPTY: JsonObject = { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } }
const FORM: JsonObject = { message: 'Who?', requestedSchema: { type: 'object', properties: { name: {} } } }
const APPROVAL: JsonObject = {
  ...EMPTY,
  _meta: { codex_request_type: 'approval_request', codex_approval_kind: 'mcp_tool_call', tool_name: 'sub' },
}
const open = new AbortController().signal

/** `enva` restricts nothing, `envb` as a workspace does, and nothing governs `envc`. */
function authorityOf({ environment }: ServerKey): PermissionAuthority<Profile> {
  if (environment === 'envc') return { kind: 'none' }
  const preset = environment === 'enva' ? 'danger-full-access' : 'workspace-write'
  const profile = JSON.parse(JSON.stringify(presetProfile(preset, { cwd: '/w' })))
  return { kind: 'environment', environment: environment ?? 'local', profile }
}

type Asked = QuestionsHost['options'] & { readonly approvalPolicy?: ApprovalPolicy | null }

function judged({ approvalPolicy = null, ...options }: Asked = {}) {
  const asked: FromServer[] = []
  const answer = judgedQuestions({
    threadId: 'thread',
    channel: {
      ask: async (request) => {
        asked.push(request)
        return { action: 'accept', content: { name: 'Ada' }, further: 1 }
      },
    },
    primaryEnvironment: () => 'local',
    authorityOf,
    policy: () => approvalPolicy,
    review: { compatibility: false },
    hold: () => () => {},
    options,
  })
  const ask = (environment: string, params: JsonObject, method = 'elicitation/create') =>
    answer({ key: serverKey('notes', environment), method, params, origin: 7 }, open)
  return { asked, ask }
}

describe('what servers ask', () => {
  it('reaches the client as it is without a policy, but for servers that nothing governs', async () => {
    const { asked, ask } = judged({})
    expect(await ask('envb', FORM)).toEqual({ action: 'accept', content: { name: 'Ada' }, further: 1 })
    expect(asked).toMatchObject([{ params: FORM, origin: 7 }])
    expect(await ask('envc', FORM)).toEqual({ action: 'decline' })
    await ask('envc', {}, 'roots/list')
    expect(asked.map(({ method }) => method)).toEqual(['elicitation/create', 'roots/list'])
  })

  it('is declined under never, unless it asks for nothing where nothing is restricted', async () => {
    const { asked, ask } = judged({ approvalPolicy: 'never' })
    expect(await ask('envb', EMPTY)).toEqual({ action: 'decline' })
    expect(await ask('enva', FORM)).toEqual({ action: 'decline' })
    expect(await ask('enva', EMPTY)).toEqual({ action: 'accept', content: {} })
    expect(asked).toEqual([])
    await ask('enva', {}, 'sampling/createMessage')
    expect(asked).toHaveLength(1)
  })

  it('is judged by the reviewer, by the profile of its owner, where it is an approval', async () => {
    const reviews: ReviewRequest[] = []
    const reviewer = {
      review: async (request: ReviewRequest) => {
        reviews.push(request)
        return { outcome: request.key.environment === 'enva' ? 'allow' : 'deny', rationale: 'r' }
      },
    }
    const { asked, ask } = judged({ approvalPolicy: 'on-request', reviewer })
    expect(await ask('enva', APPROVAL)).toMatchObject({
      action: 'accept',
      _meta: { approvals_reviewer: 'auto_review' },
    })
    expect(await ask('envb', APPROVAL)).toMatchObject({ action: 'decline' })
    expect(reviews.map(({ permissions }) => permissions.type)).toEqual(['disabled', 'managed'])
    expect(asked).toEqual([])
    expect(await ask('envb', FORM)).toMatchObject({ action: 'accept' })
  })

  it('is declined where only a review could answer and there is none', async () => {
    const { asked, ask } = judged({ approvalPolicy: 'on-request' })
    const strict = { ...APPROVAL, _meta: { ...(APPROVAL._meta as JsonObject), codex_strict_auto_review: true } }
    expect(await ask('enva', strict)).toMatchObject({ action: 'decline', _meta: { message: expect.any(String) } })
    expect(asked).toEqual([])
  })
})
