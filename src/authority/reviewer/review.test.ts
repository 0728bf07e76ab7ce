import { describe, expect, it } from 'vitest'
import { HOSTED_APPS_NAME, serverKey } from '../../identity/index.js'
import { presetProfile } from '../../permissions/index.js'
import type { JsonObject } from '../../protocol/index.js'
import { type Reviewer, type ReviewRequest, readVerdict } from './contract.js'
import { plannedAction, reportedAction } from './planned-action.js'
import { reviewCall } from './review.js'

const permissions = presetProfile('workspace-write', { cwd: '/w' })
const subject = {
  call: { key: serverKey('notes', 'enva'), tool: 'wipe' },
  targetItemId: 'call_1',
  threadId: 'thread',
  turnId: null,
  permissions,
  primaryEnvironment: 'local',
}
const open = () => new AbortController().signal

/** A review by a reviewer, with what was told of it. */
async function reviewed(reviewer: Reviewer, settings: { timeoutMs?: number } = {}, signal = open()) {
  const told: { readonly method: string; readonly params: JsonObject }[] = []
  const report = (method: string, params: JsonObject) => told.push({ method, params })
  const outcome = await reviewCall(reviewer, subject, { compatibility: false, report, ...settings }, signal)
  return { outcome, told }
}

describe('a review', () => {
  it('goes by the owner of the server, and says where the call goes', async () => {
    const requests: ReviewRequest[] = []
    await reviewed({
      review: async (request) => {
        requests.push(request)
        return { outcome: 'allow' }
      },
    })
    expect(requests).toMatchObject([{ contextEnvironment: 'enva', permissions, action: { environment_id: 'enva' } }])
  })

  it('denies without a verdict that can be read', async () => {
    for (const said of [undefined, null, 'allow', { outcome: 'ALLOW' }, { risk_level: 'low' }, ['allow']]) {
      const { outcome } = await reviewed({ review: async () => said })
      expect(outcome).toMatchObject({ status: 'denied' })
    }
  })

  it('ends when its time is over, and tells the reviewer and the host', async () => {
    let stopped = false
    const review: Reviewer['review'] = (_request, stop) =>
      new Promise(() => {
        stop.addEventListener('abort', () => {
          stopped = true
        })
      })
    const { outcome, told } = await reviewed({ review }, { timeoutMs: 1 })
    expect(outcome).toEqual({ status: 'timedOut' })
    expect(stopped).toBe(true)
    expect(told.map(({ method }) => method)).toEqual([
      'item/autoApprovalReview/started',
      'guardianWarning',
      'item/autoApprovalReview/completed',
    ])
    expect(told.at(-1)?.params).toMatchObject({ review: { status: 'timedOut', riskLevel: null } })
  })

  it('is aborted with its caller', async () => {
    const abort = new AbortController()
    const review = () => {
      abort.abort()
      return new Promise(() => {})
    }
    expect((await reviewed({ review }, {}, abort.signal)).outcome).toEqual({ status: 'aborted' })
    expect((await reviewed({ review }, {}, abort.signal)).outcome).toEqual({ status: 'aborted' })
  })

  it('fails with a reviewer that throws, at once or later, and is told to have ended', async () => {
    const told: JsonObject[] = []
    const report = (_method: string, params: JsonObject) => told.push(params)
    for (const review of [
      () => Promise.reject(new Error('broken')),
      () => {
        throw new Error('broken')
      },
    ]) {
      await expect(reviewCall({ review }, subject, { compatibility: false, report }, open())).rejects.toThrow('broken')
      expect(told.at(-1)).toMatchObject({ review: { status: 'aborted' } })
    }
  })
})

it('reads of a verdict what is in the schema, and leaves the rest', () => {
  const said = { outcome: 'deny', risk_level: 'extreme', user_authorization: 'high', rationale: 7, extra: 1 }
  const read = { outcome: 'deny', riskLevel: null, userAuthorization: 'high', rationale: null }
  expect(readVerdict(said)).toEqual(read)
})

it('shows a connector for the hosted apps alone', () => {
  const connector = { id: 'c', name: 'Calendar', description: 'Meets' }
  const apps = { key: serverKey(HOSTED_APPS_NAME), tool: 'add', title: 'Add', connector }
  expect(Object.keys(plannedAction(apps, { compatibility: true }))).toEqual([
    'connector_description',
    'connector_id',
    'connector_name',
    'server',
    'tool',
    'tool_name',
    'tool_title',
  ])
  const spoofed = { ...apps, key: serverKey('notes') }
  expect(plannedAction(spoofed, { compatibility: true })).not.toHaveProperty('connector_id')
  expect(reportedAction(spoofed, { compatibility: true })).toMatchObject({ connectorId: null, toolTitle: 'Add' })
})
