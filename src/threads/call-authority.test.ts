import { describe, expect, it } from 'vitest'
import { stdioConfig } from '../../test/fixtures/server-config.js'
import { serverKey } from '../identity/index.js'
import { callAuthority, issuedAuthority, stepApprovals } from './call-authority.js'
import { selectPlaces } from './selection.js'
import { turnOf } from './turn-meta.js'

const places = selectPlaces([{ id: 'box', cwd: '/srv/app', workspaceRoots: ['/srv/app', '/srv/lib'] }], {
  defaultSelection: [],
  cwdOf: () => undefined,
  cwd: '/here',
})
const reviewer = { review: async () => undefined }

describe('what a call is issued with', () => {
  const server = {
    key: serverKey('notes', 'box'),
    config: stdioConfig({}, { environmentId: 'box' }),
    catalogRevision: 3,
  }
  const profile = { type: 'disabled', later: 1 }
  const issued = issuedAuthority(
    server,
    { kind: 'environment', environment: 'box', profile },
    {
      threadId: 'thread',
      turn: turnOf('thread', { metadata: { turn_id: 'turn' } }),
      approvals: stepApprovals({ approvalPolicy: 'untrusted' }),
      places,
      threadCwd: '/here',
    },
  )

  it('is one frozen value, with the profile as it was handed over', () => {
    if (issued === undefined) throw new Error('nothing governs it')
    const authority = callAuthority(issued, 'writes', 'call')
    expect(authority).toEqual({
      key: server.key,
      executionEnvironment: 'box',
      profile,
      cwd: '/srv/app',
      workspaceRoots: ['/srv/app', '/srv/lib'],
      policy: 'untrusted',
      reviewer: 'user',
      strictReview: false,
      approval: 'writes',
      catalogRevision: 3,
      threadId: 'thread',
      turnId: 'turn',
      callId: 'call',
    })
    expect(authority.profile).toBe(profile)
    expect(Object.isFrozen(authority)).toBe(true)
    expect(callAuthority(issued, 'auto').callId).not.toBe(callAuthority(issued, 'auto').callId)
  })
})

it('takes what the turn says of approvals over what the thread says', () => {
  expect(stepApprovals({})).toEqual({ policy: null, reviewer: 'user', strictReview: false })
  expect(stepApprovals({ approvalPolicy: 'never', reviewer })).toMatchObject({
    policy: 'never',
    reviewer: 'auto_review',
  })
  expect(
    stepApprovals({ approvalPolicy: 'never', reviewer }, { policy: 'on-request', reviewer: 'user' }),
  ).toMatchObject({
    policy: 'on-request',
    reviewer: 'user',
  })
  // Nobody is there to review.
  expect(stepApprovals({}, { reviewer: 'auto_review' })).toMatchObject({ reviewer: 'user' })
})
