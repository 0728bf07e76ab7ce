import { describe, expect, it } from 'vitest'
import { ManualTimers } from '../../../test/fixtures/http/manual-timers.js'
import { AuthRequiredError, HttpStatusError, type ReeveError, TransportClosedError } from '../../errors.js'
import { isRepeatable, isTransient, retryAfterMs, withRetries } from './retries.js'

const status = (code: number, retryAfter?: string) =>
  new HttpStatusError(code, `HTTP ${code}`, { data: retryAfter === undefined ? {} : { retryAfter } })
const lost = (sent: boolean, reason = 'reset') => new TransportClosedError('lost', { sent, data: { reason } })

/** Runs attempts that fail with these errors in turn and then succeed; gives the pauses and the outcome. */
async function run(repeatable: boolean, errors: ReeveError[], signal = new AbortController().signal) {
  const timers = new ManualTimers()
  const pauses: number[] = []
  let attempts = 0
  let settled = false
  const outcome = withRetries(repeatable, timers, signal, async () => {
    const error = errors[attempts]
    attempts += 1
    if (error !== undefined) throw error
    return 'done'
  }).then(
    (value) => value,
    (error: unknown) => error,
  )
  void outcome.then(() => {
    settled = true
  })
  for (;;) {
    await new Promise(setImmediate)
    if (settled) return { pauses, attempts, outcome: await outcome }
    const [next] = timers.pending()
    if (next === undefined) throw new Error('it hangs')
    pauses.push(next)
    timers.advance(next)
  }
}

describe('sending again', () => {
  it.each([408, 425, 429, 500, 502, 503, 504])('happens twice after HTTP %s to what may be repeated', async (code) => {
    expect(await run(true, [status(code), status(code)])).toEqual({
      pauses: [250, 1000],
      attempts: 3,
      outcome: 'done',
    })
    const error = status(code)
    expect(await run(true, [error, error, error])).toMatchObject({ attempts: 3, outcome: error })
    expect(await run(false, [error])).toMatchObject({ attempts: 1, outcome: error })
  })

  it.each([400, 401, 404, 405, 501, 505])('does not happen after HTTP %s', async (code) => {
    expect(await run(true, [status(code)])).toMatchObject({ attempts: 1 })
  })

  it.each([
    ['a lost connection, repeatable', true, lost(true), 2],
    ['a lost connection, not repeatable', false, lost(true), 1],
    ['a connection that never was, not repeatable', false, lost(false, 'refused'), 2],
    ['a certificate', true, lost(false, 'tls'), 1],
    ['a wish for authorization', true, new AuthRequiredError('no'), 1],
  ])('after %s: %s', async (_what, repeatable, error, attempts) => {
    expect(await run(repeatable, [error])).toMatchObject({ attempts })
  })

  it('waits as long as the server asks, but not longer than a startup takes', async () => {
    expect(await run(true, [status(429, '2')])).toMatchObject({ pauses: [2000], attempts: 2 })
    expect(await run(true, [status(503, '0')])).toMatchObject({ pauses: [250], attempts: 2 })
    expect(await run(true, [status(429, '3600')])).toMatchObject({ pauses: [], attempts: 1 })
  })

  it('ends with the deadline, in the middle of a pause', async () => {
    const timers = new ManualTimers()
    const deadline = new AbortController()
    const outcome = withRetries(true, timers, deadline.signal, async () => {
      throw status(503)
    }).catch((error: unknown) => error)
    await timers.waitingFor(250)
    deadline.abort()
    expect(await outcome).toMatchObject({ code: 'cancelled' })
    expect(timers.pending()).toEqual([])
  })
})

it.each([
  ['2', 2000],
  [' 2 ', 2000],
  ['Mon, 30 Nov 2026 00:00:10 GMT', 10_000],
  ['Mon, 30 Nov 2020 00:00:00 GMT', 0],
  ['soon', 0],
  ['-5', 0],
  [undefined, 0],
])('Retry-After %j is %s ms', (field, expected) => {
  expect(retryAfterMs(field, Date.parse('Mon, 30 Nov 2026 00:00:00 GMT'))).toBe(expected)
})

it.each([
  ['initialize', true],
  ['notifications/initialized', true],
  ['tools/list', true],
  ['tools/call', false],
  ['resources/read', false],
  ['ping', false],
])('%s may be repeated: %s', (method, repeatable) => {
  expect(isRepeatable({ jsonrpc: '2.0', method })).toBe(repeatable)
  expect(isTransient(200)).toBe(false)
})
