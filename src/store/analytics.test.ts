import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eachStateFile } from '../../test/fixtures/state-file.js'
import { SqliteAnalytics } from './analytics.js'
import { openDatabase } from './database.js'
import { openStore } from './index.js'

const A = { actor: 'a', binding: 'account-1 off' }
const MOST = { count: 100, bytes: 1_000_000 }

let file: string
eachStateFile((path) => {
  file = path
})

describe('the queue of analytics events', () => {
  it('gives events in their order, also after the file was closed, until they are removed', () => {
    {
      using store = openStore(file)
      for (const event of ['1', '2', '3']) store.analytics.put(A, event, { now: 1, heldUntil: 10 })
    }
    using store = openStore(file)
    const taken = store.analytics.take(A, MOST, { now: 2, heldUntil: 10 })
    expect(taken.map(({ event }) => event)).toEqual(['1', '2', '3'])
    store.analytics.remove(taken.slice(0, 2).map(({ id }) => id))
    expect(store.analytics.take(A, MOST, { now: 2, heldUntil: 10 }).map(({ event }) => event)).toEqual(['3'])
  })

  it('gives an event to nobody with another binding, and to another actor only once its own is gone', () => {
    using store = openStore(file)
    const { analytics } = store
    analytics.put(A, 'mine', { now: 0, heldUntil: 100 })
    const other = { ...A, actor: 'b' }
    expect(analytics.take(other, MOST, { now: 99, heldUntil: 199 })).toEqual([])
    expect(analytics.take({ ...other, binding: 'account-2 off' }, MOST, { now: 101, heldUntil: 201 })).toEqual([])
    expect(analytics.take(other, MOST, { now: 101, heldUntil: 201 })).toHaveLength(1)
    expect(analytics.take(A, MOST, { now: 102, heldUntil: 202 })).toEqual([])
  })

  it('takes no more than fits, and at least one', () => {
    using store = openStore(file)
    const { analytics } = store
    for (const event of ['x'.repeat(50), 'y'.repeat(50), 'z']) analytics.put(A, event, { now: 0, heldUntil: 1 })
    expect(analytics.take(A, { count: 9, bytes: 10 }, { now: 0, heldUntil: 1 })).toHaveLength(1)
    expect(analytics.take(A, { count: 9, bytes: 100 }, { now: 0, heldUntil: 1 })).toHaveLength(2)
    expect(analytics.take(A, { count: 1, bytes: 1000 }, { now: 0, heldUntil: 1 })).toHaveLength(1)
  })

  it('drops what failed too often, and what is too old', () => {
    using store = openStore(file)
    const { analytics } = store
    analytics.put(A, 'one', { now: 0, heldUntil: 1 })
    const ids = analytics.take(A, MOST, { now: 0, heldUntil: 1 }).map(({ id }) => id)
    expect(analytics.failed(ids, 2)).toBe(0)
    expect(analytics.take(A, MOST, { now: 0, heldUntil: 1 })).toMatchObject([{ attempts: 1 }])
    expect(analytics.failed(ids, 2)).toBe(1)
    analytics.put(A, 'old', { now: 0, heldUntil: 1 })
    expect(analytics.take(A, MOST, { now: 8 * 24 * 3600 * 1000, heldUntil: 1 })).toEqual([])
    expect(analytics.count()).toBe(0)
  })

  it('stays within its limits of events and bytes, whatever comes, and keeps the newest', () => {
    const limits = { maxRows: 20, maxBytes: 2_000, maxAgeMs: 1_000 }
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 200 }), (sizes) => {
        const { connection } = openDatabase(':memory:')
        const queue = new SqliteAnalytics(connection, limits)
        for (const [at, size] of sizes.entries()) queue.put(A, String(at).padEnd(size, '.'), { now: 0, heldUntil: 1 })
        const kept = queue.take(A, { count: 1_000, bytes: 1_000_000 }, { now: 0, heldUntil: 1 })
        connection.close()
        expect(kept.length).toBeLessThanOrEqual(20)
        expect(kept.at(-1)?.event.startsWith(String(sizes.length - 1))).toBe(true)
      }),
      { numRuns: 30 },
    )
  })

  it('says so when it can not be written', () => {
    const { connection } = openDatabase(file)
    const queue = new SqliteAnalytics(connection)
    connection.exec('DROP TABLE analytics')
    expect(() => queue.put(A, 'x', { now: 0, heldUntil: 1 })).toThrowError(
      expect.objectContaining({ code: 'state_not_written' }),
    )
    connection.close()
  })
})
