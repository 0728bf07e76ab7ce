import { describe, expect, it } from 'vitest'
import type { ProcessRow } from './rows.js'
import { provenTree } from './tree.js'

const row = (pid: number, start: number, rest: Partial<ProcessRow> = {}): ProcessRow => ({
  pid,
  start,
  parent: 1,
  group: 500,
  session: 500,
  zombie: false,
  ...rest,
})
const init = row(1, 0, { parent: 0, group: 1, session: 1 })
const stranger = row(900, 50, { group: 900, session: 900 })
const recorded = { leader: { pid: 500, start: 100 }, members: [] }
const pids = (rows: readonly ProcessRow[]) => rows.map((one) => one.pid).sort((a, b) => a - b)

describe('provenTree', () => {
  it('takes the leader, its session and everything below, and no one else', () => {
    const rows = [
      init,
      stranger,
      row(500, 100),
      row(501, 110, { parent: 500 }),
      row(502, 120, { group: 502 }),
      row(600, 130, { parent: 501, group: 600, session: 600 }),
      row(601, 140, { parent: 600, group: 600, session: 600 }),
    ]
    expect(pids(provenTree(rows, recorded))).toEqual([500, 501, 502, 600, 601])
  })

  it('takes nothing when the number of the leader was given to another process', () => {
    const rows = [init, row(500, 777), row(501, 778, { parent: 500 })]
    expect(provenTree(rows, recorded)).toEqual([])
  })

  it('takes nothing of a session that only carries the number of a dead leader', () => {
    expect(provenTree([init, row(501, 110), row(502, 120)], recorded)).toEqual([])
  })

  it('takes the whole session of a dead leader while one recorded member stands in it', () => {
    const rows = [init, stranger, row(501, 110), row(502, 120)]
    expect(pids(provenTree(rows, { ...recorded, members: [{ pid: 501, start: 110 }] }))).toEqual([501, 502])
  })

  it('does not trust a recorded member whose number was given to another process', () => {
    const rows = [init, row(501, 999), row(502, 120)]
    expect(provenTree(rows, { ...recorded, members: [{ pid: 501, start: 110 }] })).toEqual([])
  })

  it('lets a zombie leader vouch for its session', () => {
    const rows = [init, row(500, 100, { zombie: true }), row(501, 110)]
    expect(pids(provenTree(rows, recorded))).toEqual([500, 501])
  })

  it('follows parent links where there are no groups, but not to a process older than its parent', () => {
    const none = { group: null, session: null }
    const rows = [
      row(500, 100, none),
      row(501, 110, { ...none, parent: 500 }),
      row(502, 90, { ...none, parent: 500 }),
      row(503, 130, { ...none, parent: 501 }),
    ]
    expect(pids(provenTree(rows, recorded))).toEqual([500, 501, 503])
  })
})
