import { describe, expect, it, vi } from 'vitest'
import type { ClientProfile } from '../../connections/index.js'
import { ThreadShelf } from './thread-shelf.js'

/** Threads that only know whether they are open. */
function shelf(limits: { threads?: number; threadIdleMs?: number } = {}) {
  const opened: string[] = []
  const closed: string[] = []
  const faults: unknown[] = []
  const state = { failing: false }
  const open = async (principal: string, profile: ClientProfile) => {
    const name = `${principal} ${JSON.stringify(profile)}`
    opened.push(name)
    if (state.failing) throw new Error('no thread')
    return { close: async () => void closed.push(name) }
  }
  const made = new ThreadShelf(open, { threads: 2, threadIdleMs: 1000, ...limits }, (error) => faults.push(error))
  return { shelf: made, opened, closed, faults, state }
}

const profile = (name: string, capabilities = {}) => ({ clientInfo: { name }, capabilities })

describe('the threads of stateless clients', () => {
  it('are shared by all who say the same of themselves, in whatever order', async () => {
    const { shelf: threads, opened } = shelf()
    const [a, b] = await Promise.all([
      threads.lease('ada', { clientInfo: { name: 'c', version: '1' }, capabilities: { x: { a: 1, b: 2 } } }),
      threads.lease('ada', { capabilities: { x: { b: 2, a: 1 } }, clientInfo: { version: '1', name: 'c' } }),
    ])
    expect(a.thread).toBe(b.thread)
    expect(opened).toHaveLength(1)
    const eve = await threads.lease('eve', {
      clientInfo: { name: 'c', version: '1' },
      capabilities: { x: { a: 1, b: 2 } },
    })
    expect(eve.thread).not.toBe(a.thread)
    await threads.close()
  })

  it('are left to others by one who has many', async () => {
    const { shelf: threads, closed } = shelf({ threads: 4 })
    const held = [await threads.lease('ada', profile('a')), await threads.lease('ada', profile('b'))]
    await expect(threads.lease('ada', profile('c'))).rejects.toMatchObject({ code: 'limit_exceeded' })
    const eve = await threads.lease('eve', profile('a'))
    eve.release()
    held[0]?.release()
    await threads.lease('ada', profile('c'))
    await threads.lease('eve', profile('a'))
    await threads.close()
    expect(closed.slice(0, 1)).toEqual([expect.stringContaining('ada')])
    const { shelf: alone } = shelf({ threads: 4 })
    for (const name of ['a', 'b', 'c', 'd']) await alone.lease('owner', profile(name))
    await alone.close()
  })

  it('are closed when they were idle for their time, and not before', async () => {
    vi.useFakeTimers()
    try {
      const { shelf: threads, closed, opened } = shelf()
      const first = await threads.lease('ada', profile('c'))
      const second = await threads.lease('ada', profile('c'))
      first.release()
      first.release()
      await vi.advanceTimersByTimeAsync(5000)
      expect(closed).toEqual([])
      second.release()
      await vi.advanceTimersByTimeAsync(999)
      const third = await threads.lease('ada', profile('c'))
      await vi.advanceTimersByTimeAsync(5000)
      expect(closed).toEqual([])
      third.release()
      await vi.advanceTimersByTimeAsync(1000)
      expect(closed).toHaveLength(1)
      await threads.lease('ada', profile('c'))
      expect(opened).toHaveLength(2)
    } finally {
      vi.useRealTimers()
    }
  })

  it('make room when the longest idle one can go, and are refused when all are in use', async () => {
    const { shelf: threads, closed } = shelf()
    const a = await threads.lease('owner', profile('a'))
    const b = await threads.lease('owner', profile('b'))
    await expect(threads.lease('owner', profile('c'))).rejects.toMatchObject({ code: 'limit_exceeded' })
    b.release()
    a.release()
    await threads.lease('owner', profile('c'))
    await vi.waitFor(() => expect(closed).toEqual([expect.stringContaining('"b"')]))
    await threads.close()
    expect(closed).toHaveLength(3)
    await expect(threads.lease('owner', profile('a'))).rejects.toMatchObject({ code: 'closed' })
  })

  it('are tried again after one could not be opened', async () => {
    const { shelf: threads, opened, state } = shelf()
    state.failing = true
    const attempts = [1, 2].map(() => threads.lease('ada', profile('a')))
    for (const attempt of attempts) await expect(attempt).rejects.toThrow('no thread')
    state.failing = false
    await threads.lease('ada', profile('a'))
    expect(opened).toHaveLength(2)
    await threads.close()
  })
})
