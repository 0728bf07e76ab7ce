import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AUDIT_RECORD } from '../../test/fixtures/audit-record.js'
import { approvalCall } from '../../test/fixtures/authority/approval-call.js'
import { Approver, approvalsOf, LOCAL_PRINCIPAL } from '../authority/index.js'
import { openStore } from './index.js'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'reeve-principals-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const ANN = `oauth-${'a'.repeat(48)}`
const BOB = `oauth-${'b'.repeat(48)}`

describe('what is kept for several principals', () => {
  it('holds no approval of one for another, after a restart neither', async () => {
    const file = join(home, 'state.sqlite')
    const call = approvalCall({ tool: 'wipe' })
    {
      using store = openStore(file)
      const approver = new Approver({ durable: approvalsOf(store.approvals, ANN) })
      approver.remember(
        await approver.decide(call, { user: async () => ({ action: 'accept', _meta: { persist: 'always' } }) }),
      )
    }
    using store = openStore(file)
    const decided = (principal?: string) =>
      new Approver({ durable: approvalsOf(store.approvals, principal) }).decide(call, {})
    expect(await decided(ANN)).toMatchObject({ outcome: 'run', by: 'durable_memory' })
    for (const principal of [BOB, LOCAL_PRINCIPAL, undefined])
      expect(await decided(principal)).toMatchObject({ outcome: 'rejected', by: 'nobody' })
    const [kept] = store.approvals.list()
    expect(kept?.principal).toBe(ANN)
    if (kept === undefined) throw new TypeError('nothing is kept')
    store.approvals.put({ ...kept, principal: BOB })
    store.approvals.put({ ...kept, principal: LOCAL_PRINCIPAL })
    expect(
      store.approvals
        .list()
        .map(({ principal }) => principal)
        .sort(),
    ).toEqual([ANN, BOB, undefined])
    expect(store.approvals.revoke(kept.subject, ANN)).toBe(true)
    expect(await decided(ANN)).toMatchObject({ outcome: 'rejected' })
    expect(await decided(BOB)).toMatchObject({ outcome: 'run' })
    expect(await decided()).toMatchObject({ outcome: 'run' })
    expect(approvalsOf(store.approvals, BOB).list()).toHaveLength(1)
  })

  it('tells records of one from those of another', () => {
    using store = openStore(join(home, 'state.sqlite'))
    const of = (principal: string | null, tool: string) => ({ ...AUDIT_RECORD, principal, tool })
    store.audit.append([of(ANN, 'a'), of('owner', 'b'), of(BOB, 'c'), of(null, 'old')], 'now')
    const found = (principal: string) => store.audit.query({ principal, limit: 9 }).map(({ tool }) => tool)
    expect(found(ANN)).toEqual(['a'])
    expect(found(BOB)).toEqual(['c'])
    expect(found('owner')).toEqual(['b', 'old'])
  })
})
