import { describe, expect, it } from 'vitest'
import { serverKey } from '../../identity/index.js'
import { presetProfile } from '../../permissions/index.js'
import type { JsonObject } from '../../protocol/index.js'
import type { ElicitationAuthority, ElicitationReview } from './authority.js'
import { answerElicitation } from './chain.js'
import { clientRequestParams } from './client-request.js'
import { ElicitationRouter } from './router.js'

const restricted = presetProfile('workspace-write', { cwd: '/w' })
const EMPTY = { message: '?', requestedSchema: { type: 'object', properties: {} } }
const STRICT = { ...EMPTY, _meta: { codex_strict_auto_review: true } }
const key = serverKey('notes')
const question = (params: JsonObject) => ({ key, requestId: 1, params, turnId: null })
const authority = (some: Partial<ElicitationAuthority> = {}): ElicitationAuthority => ({
  policy: 'on-request',
  permissionsOf: () => restricted,
  declinesAll: false,
  formsReachUser: false,
  ...some,
})
const review = (answer: ElicitationReview['answer']) => ({ review: { answer } })
const open = () => new AbortController().signal
const nobody = () => new ElicitationRouter()

/** A client that answers at once. */
function client(answer: JsonObject): ElicitationRouter {
  const router: ElicitationRouter = new ElicitationRouter(({ id }) => router.resolve(key, id, answer))
  return router
}

describe('a strict review', () => {
  const stamped = { approvals_reviewer: 'auto_review' }
  it.each([
    [{ action: 'accept', content: {}, _meta: stamped }],
    [{ action: 'decline', _meta: { ...stamped, message: 'why' } }],
    [{ action: 'cancel', _meta: stamped }],
  ])('takes %j', async (answer) => {
    const reviewed = authority(review(async () => answer))
    expect(await answerElicitation(question(STRICT), reviewed, nobody(), open())).toEqual({ by: 'reviewer', answer })
  })

  it.each([
    [undefined],
    [{ action: 'accept', content: {} }],
    [{ action: 'accept', content: {}, _meta: { approvals_reviewer: 'user' } }],
    [{ action: 'accept', content: {}, _meta: { approvals_reviewer: 'guardian_subagent' } }],
    [{ action: 'accept', content: { a: 1 }, _meta: stamped }],
    [{ action: 'accept', content: null, _meta: stamped }],
    [{ action: 'accept', _meta: stamped }],
    [{ action: 'decline', content: {}, _meta: stamped }],
    [{ action: 'perhaps', _meta: stamped }],
  ])('declines on %j, and asks nobody', async (answer) => {
    const reviewed = authority(review(async () => answer))
    const asked = client({ action: 'accept' })
    expect(await answerElicitation(question(STRICT), reviewed, asked, open())).toMatchObject({
      by: 'automatic',
      answer: { action: 'decline', _meta: { message: expect.any(String) } },
      reason: 'strict_review_failed',
    })
  })

  it('declines without a reviewer, and with one that throws', async () => {
    const failing = authority(review(() => Promise.reject(new Error('broken'))))
    for (const one of [authority(), failing])
      expect(await answerElicitation(question(STRICT), one, client({ action: 'accept' }), open())).toMatchObject({
        reason: 'strict_review_failed',
      })
  })
})

describe('a question', () => {
  it('goes to the client when the reviewer has no answer, and comes back as it was given', async () => {
    const undecided = authority(review(async () => undefined))
    const said = { action: 'accept', content: null, _meta: { persist: 'session' }, further: [1] }
    expect(await answerElicitation(question(EMPTY), undecided, client(said), open())).toEqual({
      by: 'user',
      answer: { action: 'accept', content: {}, _meta: { persist: 'session' }, further: [1] },
    })
    const no = { action: 'decline', content: null, _meta: null }
    const { answer } = await answerElicitation(question(EMPTY), undecided, client(no), open())
    expect(answer).toEqual({ action: 'decline' })
  })

  it('fails with a reviewer that throws, and is declined where nobody listens', async () => {
    const failing = authority(review(() => Promise.reject(new Error('broken'))))
    await expect(answerElicitation(question(EMPTY), failing, nobody(), open())).rejects.toThrow('broken')
    expect(await answerElicitation(question(EMPTY), authority(), nobody(), open())).toMatchObject({
      answer: { action: 'decline' },
      reason: 'no_channel',
    })
  })

  it('holds the turn while it is open, and lets go however it ends', async () => {
    let held = 0
    let begun = 0
    const hold = () => {
      held += 1
      begun += 1
      return () => {
        held -= 1
      }
    }
    const abort = new AbortController()
    const waiting = new ElicitationRouter(() => abort.abort())
    const ends: [Partial<ElicitationAuthority>, ElicitationRouter][] = [
      [{}, client({ action: 'accept' })],
      [{}, nobody()],
      [{}, waiting],
      [
        {},
        new ElicitationRouter(() => {
          throw new Error('no room')
        }),
      ],
      [review(async () => ({ action: 'decline' })), nobody()],
      [review(() => Promise.reject(new Error('broken'))), nobody()],
    ]
    for (const [some, router] of ends) {
      await answerElicitation(question(EMPTY), authority({ ...some, hold }), router, abort.signal).catch(() => {})
      expect(held).toBe(0)
      expect(router.waiting).toBe(0)
    }
    expect(begun).toBe(ends.length)
    await answerElicitation(question(EMPTY), authority({ policy: 'never', hold }), nobody(), open())
    expect(begun).toBe(ends.length)
  })

  it('is declined where there is no authority at all', async () => {
    expect(await answerElicitation(question(EMPTY), undefined, nobody(), open())).toMatchObject({
      answer: { action: 'decline' },
      reason: 'no_authority',
    })
  })

  it('reaches the host under its own name, whatever the server calls itself', () => {
    const params = { ...EMPTY, serverName: 'bank', threadId: 'other', environmentId: 'enva', turnId: 'x', vendor: 1 }
    const told = clientRequestParams({ id: 'e', key: serverKey('notes', 'envb'), turnId: null, params }, 'thread')
    expect(told).toMatchObject({
      serverName: 'notes',
      threadId: 'thread',
      environmentId: 'envb',
      turnId: null,
      vendor: 1,
    })
    expect(Object.keys(told).slice(0, 6)).toEqual([
      'threadId',
      'turnId',
      'serverName',
      'environmentId',
      'mode',
      '_meta',
    ])
  })
})
