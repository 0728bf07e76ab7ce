import { describe, expect, it } from 'vitest'
import { serverKey } from '../../identity/index.js'
import { ElicitationRouter, type SurfacedElicitation } from './router.js'

const A = serverKey('notes', 'enva')
const B = serverKey('notes', 'envb')
const params = { message: '?' }

function listening() {
  const asked: SurfacedElicitation[] = []
  const router = new ElicitationRouter((question) => asked.push(question))
  return { asked, router }
}

describe('questions that wait', () => {
  it('have ids of their own, and are answered by server and id', async () => {
    const { asked, router } = listening()
    const [a, b] = [router.ask({ key: A, turnId: null, params }), router.ask({ key: B, turnId: null, params })]
    expect(asked.map(({ id }) => id)).toEqual([a.id, b.id])
    expect(a.id).not.toBe(b.id)
    expect(() => router.resolve(B, a.id, { action: 'accept' })).toThrow(/not found/)
    router.resolve(B, b.id, { action: 'decline' })
    router.resolve(A, a.id, { action: 'accept' })
    expect(await Promise.all([a.answer, b.answer])).toEqual([{ action: 'accept' }, { action: 'decline' }])
    expect(() => router.resolve(A, a.id, { action: 'accept' })).toThrow(
      expect.objectContaining({ code: 'unknown_elicitation' }),
    )
  })

  it('can be dropped one by one', async () => {
    const { router } = listening()
    const [a, b] = [router.ask({ key: A, turnId: null, params }), router.ask({ key: A, turnId: null, params })]
    a.drop()
    a.drop()
    await expect(a.answer).rejects.toMatchObject({ code: 'cancelled' })
    expect(() => router.resolve(A, a.id, {})).toThrow(/not found/)
    router.resolve(A, b.id, { action: 'accept' })
    b.drop()
    expect(await b.answer).toEqual({ action: 'accept' })
    expect(router.waiting).toBe(0)
  })

  it('fail at once when nobody listens any more, and none is left', async () => {
    const { router } = listening()
    const waiting = router.ask({ key: A, turnId: null, params })
    router.close()
    await expect(waiting.answer).rejects.toMatchObject({ code: 'closed' })
    expect(router.waiting).toBe(0)
    expect(() => router.ask({ key: A, turnId: null, params })).toThrow(expect.objectContaining({ code: 'closed' }))
  })

  it('leave nothing behind when the listener throws', () => {
    const router = new ElicitationRouter(() => {
      throw new Error('no room')
    })
    expect(() => router.ask({ key: A, turnId: null, params })).toThrow('no room')
    expect(router.waiting).toBe(0)
  })
})
