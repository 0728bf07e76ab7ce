import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { approvalCall } from '../../test/fixtures/authority/approval-call.js'
import { Approver, bindingOf, type RememberedApproval, subjectOf } from '../authority/index.js'
import { SqliteApprovals } from './approvals.js'
import { openDatabase } from './database.js'
import { openStore } from './index.js'
import { MIGRATIONS } from './migrations.js'

let home: string
let file: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'reeve-approvals-'))
  file = join(home, 'state.sqlite')
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const always = async () => ({ action: 'accept', _meta: { persist: 'always' } })
const approval = (parts: Parameters<typeof approvalCall>[0] = {}, givenAt = 1): RememberedApproval => {
  const call = approvalCall(parts)
  return { subject: subjectOf(call), binding: bindingOf(call.endpoint, call.definition), origin: 'operator', givenAt }
}

describe('approvals that outlive their conversation', () => {
  it('are 150 after a restart, each for its own tool, and none for one that has changed', async () => {
    const calls = Array.from({ length: 150 }, (_, index) =>
      approvalCall({
        name: `server-${index % 7}`,
        environment: [null, 'enva', 'envb'][index % 3] ?? null,
        pluginId: index % 2 === 0 ? null : `plugin-${index % 5}`,
        tool: `tool-${index}`,
      }),
    )
    {
      using store = openStore(file)
      const approver = new Approver({ durable: store.approvals })
      for (const call of calls) {
        const decision = await approver.decide(call, { user: always })
        expect(approver.remember(decision)).toEqual({ remembered: 'always' })
      }
    }
    using store = openStore(file)
    const approver = new Approver({ durable: store.approvals })
    expect(store.approvals.list()).toHaveLength(150)
    for (const call of calls) {
      expect(await approver.decide(call, {})).toMatchObject({ outcome: 'run', by: 'durable_memory' })
      const redefined = { ...call, definition: { ...call.definition, description: 'changed' } }
      expect(await approver.decide(redefined, {})).toMatchObject({ outcome: 'rejected', by: 'nobody' })
      const moved = { ...call, endpoint: { ...call.endpoint, environmentId: 'elsewhere' } }
      expect(await approver.decide(moved, {})).toMatchObject({ outcome: 'rejected', by: 'nobody' })
    }
  })

  it('are replaced, listed oldest first, and revoked for every process that has the file open', () => {
    using first = openStore(file)
    using second = openStore(file)
    first.approvals.put(approval({ tool: 'b' }, 2))
    second.approvals.put(approval({ tool: 'a' }, 1))
    second.approvals.put(approval({ tool: 'a', command: 'other' }, 3))
    expect(first.approvals.list()).toEqual([approval({ tool: 'b' }, 2), approval({ tool: 'a', command: 'other' }, 3)])
    expect(first.approvals.revoke(approval({ tool: 'b' }).subject)).toBe(true)
    expect(first.approvals.revoke(approval({ tool: 'b' }).subject)).toBe(false)
    expect(second.approvals.get(approval({ tool: 'b' }).subject)).toBeUndefined()
  })

  it('are told apart by names that look alike', () => {
    using store = openStore(file)
    store.approvals.put(approval({ name: '["enva","notes"]' }))
    expect(store.approvals.get(approval({ name: 'notes', environment: 'enva' }).subject)).toBeUndefined()
    store.approvals.put(approval({ name: '__proto__', tool: 'constructor' }))
    expect(store.approvals.get(approval({ name: '__proto__', tool: 'constructor' }).subject)).toBeDefined()
    store.approvals.put(approval({ tool: 'a\0b \ud800' }))
    expect(store.approvals.get(approval({ tool: 'a' }).subject)).toBeUndefined()
    expect(store.approvals.get(approval({ tool: 'a\0c' }).subject)).toBeUndefined()
  })

  it('are not taken where nothing is on disk', () => {
    writeFileSync(file, '')
    using store = openStore(join(file, 'below', 'state.sqlite'))
    expect(store.warnings).toMatchObject([{ code: 'state_unavailable' }])
    expect(() => store.approvals.put(approval())).toThrow(
      expect.objectContaining({ code: 'state_not_written', key: approval().subject.key }),
    )
    expect(store.approvals.list()).toEqual([])
  })

  it('count as absent when somebody else wrote them', () => {
    const { connection } = openDatabase(file)
    const approvals = new SqliteApprovals(connection)
    approvals.put(approval())
    connection.exec(`UPDATE approvals SET tool = 'wipe'`)
    expect(approvals.get(approval().subject)).toBeUndefined()
    connection.exec(`UPDATE approvals SET tool = 'tool', origin = 'nobody'`)
    expect(approvals.get(approval().subject)).toBeUndefined()
    expect(approvals.list()).toEqual([])
    connection.close()
  })

  it('come into a database of before', () => {
    const before = new Database(file)
    before.exec(MIGRATIONS.slice(0, 3).join('\n'))
    before.exec('PRAGMA user_version = 3')
    before.close()
    using store = openStore(file)
    expect(store.warnings).toEqual([])
    store.approvals.put(approval())
    expect(store.approvals.list()).toEqual([approval()])
  })
})
