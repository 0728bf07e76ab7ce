import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ListedItem, pageAt } from './pages.js'

const item = (name: string, size = 10): ListedItem => ({ name, wire: { name }, size })
const many = (count: number, size?: number) => Array.from({ length: count }, (_, index) => item(`n${index}`, size))
const walk = (items: readonly ListedItem[]) => {
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const page = pageAt(items, cursor)
    seen.push(...page.items.map(({ name }) => name))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return seen
}

describe('pageAt', () => {
  it('gives every item once, in order, whatever the sizes', () => {
    const sizes = fc.array(fc.oneof(fc.constant(10), fc.integer({ min: 0, max: 9_000_000 })), { maxLength: 60 })
    fc.assert(
      fc.property(sizes, (list) => {
        const items = list.map((size, index) => item(`n${index}`, size))
        expect(walk(items)).toEqual(items.map(({ name }) => name))
      }),
    )
  })

  it('ends a page by number or by size, and gives one that is too large alone a page', () => {
    expect(pageAt(many(5000), undefined).items).toHaveLength(2000)
    expect(pageAt(many(10, 1024 * 1024), undefined).items).toHaveLength(4)
    expect(pageAt(many(3, 9_000_000), undefined).items).toHaveLength(1)
    expect(pageAt([], undefined)).toEqual({ items: [] })
    expect(pageAt(many(2000), undefined)).not.toHaveProperty('nextCursor')
  })

  it('goes on behind the same item when others came and went', () => {
    const before = many(4000)
    const cursor = pageAt(before, undefined).nextCursor
    const after = [item('new'), ...before.slice(500)]
    expect(pageAt(after, cursor).items[0]?.name).toBe('n2000')
  })

  it('goes on at the same place when that very item is gone', () => {
    const before = many(4000)
    const cursor = pageAt(before, undefined).nextCursor
    const after = before.filter(({ name }) => name !== 'n1999')
    expect(pageAt(after, cursor).items[0]?.name).toBe('n2001')
    expect(pageAt(many(3), cursor)).toEqual({ items: [] })
  })

  it('refuses every text that it did not give out', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json().map((text) => Buffer.from(text).toString('base64url')),
        ),
        (cursor) => {
          try {
            pageAt(many(3), cursor)
          } catch (error) {
            expect(error).toMatchObject({ rpcCode: -32602 })
          }
        },
      ),
    )
    expect(() => pageAt(many(3), 'x')).toThrow('Invalid cursor')
  })
})
