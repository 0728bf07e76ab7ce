import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../protocol/index.js'
import { LISTS, listAllPages, type SendList } from './listing.js'

/** Answers page after page, by the cursor asked for. */
function pages(answer: (page: number, cursor: unknown) => JsonObject): SendList & { asked: JsonObject[] } {
  const asked: JsonObject[] = []
  const send = async (_method: string, params: JsonObject) => {
    asked.push(params)
    return answer(asked.length, params.cursor)
  }
  return Object.assign(send, { asked })
}

const list = (send: SendList) => listAllPages(send, LISTS.tools)

describe('a listing', () => {
  it('takes all pages, in order, with the metadata of the first', async () => {
    const send = pages((page) => ({
      tools: [{ name: `t${page}` }],
      _meta: { page },
      ...(page < 3 && { nextCursor: `after-${page}` }),
    }))
    expect(await list(send)).toEqual({
      items: [{ name: 't1' }, { name: 't2' }, { name: 't3' }],
      members: { _meta: { page: 1 } },
    })
    expect(send.asked).toEqual([{}, { cursor: 'after-1' }, { cursor: 'after-2' }])
  })

  it.each([[null], ['']])('takes the cursor %j for the end', async (nextCursor) => {
    expect((await list(pages(() => ({ tools: [], nextCursor })))).items).toEqual([])
  })

  it('reads 100 pages and not one more', async () => {
    const upTo = (last: number) => pages((page) => ({ tools: [], ...(page < last && { nextCursor: `after-${page}` }) }))
    expect((await list(upTo(100))).items).toEqual([])
    const tooMany = upTo(101)
    await expect(list(tooMany)).rejects.toMatchObject({
      code: 'limit_exceeded',
      message: 'pages of tools/list exceeds the limit of 100',
      place: 'tools/list',
    })
    expect(tooMany.asked).toHaveLength(100)
  })

  it('takes 2,048 items and not one more', async () => {
    const items = (count: number) => pages(() => ({ tools: Array.from({ length: count }, () => ({})) }))
    expect((await list(items(2048))).items).toHaveLength(2048)
    await expect(list(items(2049))).rejects.toMatchObject({ message: 'items of tools/list exceeds the limit of 2048' })
  })

  it('takes a cursor of 64 KiB and not one byte more', async () => {
    const cursor = (text: string) => pages((page) => ({ tools: [], ...(page === 1 && { nextCursor: text }) }))
    expect((await list(cursor('é'.repeat(32 * 1024)))).items).toEqual([])
    await expect(list(cursor(`${'é'.repeat(32 * 1024)}.`))).rejects.toMatchObject({ code: 'limit_exceeded' })
  })

  it.each<[string, (page: number) => JsonObject, string]>([
    ['the same cursor twice', () => ({ tools: [], nextCursor: 'again' }), 'gave the same cursor twice'],
    ['two cursors in turn', (page) => ({ tools: [], nextCursor: String(page % 2) }), 'gave the same cursor twice'],
    ['a cursor that is no text', () => ({ tools: [], nextCursor: 7 }), 'gave a cursor that is no text'],
    ['no items', () => ({}), "answered without 'tools'"],
    ['items that are no list', () => ({ tools: { a: 1 } }), "answered without 'tools'"],
  ])('fails over %s', async (_what, answer, message) => {
    await expect(list(pages(answer))).rejects.toMatchObject({
      code: 'protocol_violation',
      message: `tools/list ${message}`,
    })
  })
})
