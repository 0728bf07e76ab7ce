import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { vectorCases } from '../../../test/vectors/cases.js'
import { OperationTimeoutError, type ReeveError, StartupFailedError, TransportClosedError } from '../../errors.js'
import { serverKey } from '../../identity/index.js'
import { type Asked, failed, unavailable } from './failures.js'

const LOST = { method: 'resources/list', key: serverKey('notes', 'envb') }
const LATE = { method: 'resources/read', key: serverKey('hang', 'enva'), uri: 'hang://x' }

/** The conditions of statuses.json that are about resources. */
const CONDITIONS: Record<string, readonly [Asked, ReeveError]> = {
  'connection lost, resource list': [LOST, new TransportClosedError('Transport closed: it was killed', { sent: true })],
  'resource read timeout': [LATE, new OperationTimeoutError('resources/read', 300_000)],
}
const FailureText = z.object({ kind: z.literal('failureText'), condition: z.string() })

describe('what a model is told of a failure', () => {
  for (const { name, input, expected } of vectorCases('statuses.json')) {
    const parsed = FailureText.safeParse(input)
    const condition = parsed.success ? CONDITIONS[parsed.data.condition] : undefined
    if (condition === undefined) continue
    it(name, () => {
      expect({ text: failed(...condition).message }).toEqual(expected)
    })
  }

  it('names why a server did not start, also when that shows only at the request', () => {
    const error = new StartupFailedError('display text', { data: { reason: 'no such program' } })
    for (const told of [unavailable(LOST, error), failed(LOST, error)]) {
      expect(told).toMatchObject({
        code: 'server_unavailable',
        message: 'resources/list failed: failed to get client: MCP startup failed: no such program',
        key: LOST.key,
        cause: error,
      })
    }
  })
})
