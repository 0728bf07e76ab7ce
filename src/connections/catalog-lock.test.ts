import { describe, expect, it } from 'vitest'
import { ManualTimers, settle } from '../../test/fixtures/connections/manual-timers.js'
import { CatalogLock } from './catalog-lock.js'

describe('the lock of a catalog', () => {
  it('lets calls run side by side, and a publication only alone', async () => {
    const lock = new CatalogLock(new ManualTimers())
    const [one, two] = await Promise.all([lock.read(), lock.read()])
    let published = false
    const publication = lock.write(() => {
      published = true
    }, 1000)
    one.release()
    await settle()
    expect(published).toBe(false)
    two.release()
    await publication
    expect(published).toBe(true)
  })

  it('serves in the order of arrival, so that neither side starves', async () => {
    const lock = new CatalogLock(new ManualTimers())
    const order: string[] = []
    const running = await lock.read()
    const publication = lock.write(() => order.push('publication'), 1000)
    const later = lock.read().then((lease) => {
      order.push('call')
      return lease
    })
    const second = lock.write(() => order.push('second publication'), 1000)
    await settle()
    expect(order).toEqual([])
    running.release()
    ;(await later).release()
    await Promise.all([publication, second])
    expect(order).toEqual(['publication', 'call', 'second publication'])
  })

  it('does not make a publication wait for ever, nor the calls behind it', async () => {
    const timers = new ManualTimers()
    const lock = new CatalogLock(timers)
    const running = await lock.read()
    let published = false
    void lock.write(() => {
      published = true
    }, 1000)
    let served = false
    void lock.read().then(() => {
      served = true
    })
    await timers.advance(999)
    expect([published, served]).toEqual([false, false])
    await timers.advance(1)
    expect([published, served]).toEqual([true, true])
    running.release()
  })

  it('counts a lease once, however often it is released', async () => {
    const lock = new CatalogLock(new ManualTimers())
    const [one, two] = await Promise.all([lock.read(), lock.read()])
    one.release()
    one.release()
    let published = false
    void lock.write(() => {
      published = true
    }, 1000)
    await settle()
    expect(published).toBe(false)
    two.release()
    await settle()
    expect(published).toBe(true)
  })

  it('forgets a call that gives up in the queue', async () => {
    const lock = new CatalogLock(new ManualTimers())
    const running = await lock.read()
    const publication = lock.write(() => {}, 60_000)
    const abort = new AbortController()
    const given = lock.read(abort.signal)
    abort.abort()
    await expect(given).rejects.toMatchObject({ code: 'cancelled' })
    running.release()
    await publication
    await expect(lock.read(abort.signal)).rejects.toMatchObject({ code: 'cancelled' })
  })
})
