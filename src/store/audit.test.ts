import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { AUDIT_RECORD } from '../../test/fixtures/audit-record.js'
import { eachStateFile } from '../../test/fixtures/state-file.js'
import { SqliteAudit } from './audit.js'
import { openDatabase } from './database.js'
import { openStore } from './index.js'

let file: string
eachStateFile((path) => {
  file = path
})

describe('the records of calls', () => {
  it.each(['now', 'soon'] as const)('are there, whole and in order, after the file was closed (%s)', (durability) => {
    {
      using store = openStore(file)
      store.audit.append([AUDIT_RECORD, { ...AUDIT_RECORD, callId: 'second', turnId: 'turn' }], durability)
      store.audit.append([{ ...AUDIT_RECORD, callId: 'third' }], durability)
    }
    using store = openStore(file)
    expect(store.audit.query({ limit: 10 })).toEqual([
      { ...AUDIT_RECORD, id: 1024 },
      { ...AUDIT_RECORD, callId: 'second', turnId: 'turn', id: 1025 },
      { ...AUDIT_RECORD, callId: 'third', id: 2048 },
    ])
  })

  it('are found by server, environment, tool, time and outcome, the newest of them', () => {
    using store = openStore(file)
    const { audit } = store
    audit.append(
      [
        AUDIT_RECORD,
        { ...AUDIT_RECORD, environment: null, callId: 'shared', at: 2000 },
        { ...AUDIT_RECORD, server: "no'tes", outcome: 'error', callId: 'quoted' },
        { ...AUDIT_RECORD, tool: 'wipe', transport: 'unsent', rpc: null, outcome: null, callId: 'refused' },
        { ...AUDIT_RECORD, transport: 'failed', rpc: null, outcome: null, callId: 'lost' },
        { ...AUDIT_RECORD, rpc: 'error', outcome: null, callId: 'rpc' },
      ],
      'soon',
    )
    const found = (filter: object) => audit.query({ limit: 10, ...filter }).map(({ callId }) => callId)
    expect(found({ server: "no'tes" })).toEqual(['quoted'])
    expect(found({ environment: null })).toEqual(['shared'])
    expect(found({ environment: 'devbox', tool: 'wipe' })).toEqual(['refused'])
    expect(found({ since: 1500 })).toEqual(['shared'])
    expect(found({ outcome: 'ok' })).toEqual(['call', 'shared'])
    expect(found({ outcome: 'tool_error' })).toEqual(['quoted'])
    expect(found({ outcome: 'refused' })).toEqual(['refused'])
    expect(found({ outcome: 'transport_error' })).toEqual(['lost'])
    expect(found({ outcome: 'rpc_error' })).toEqual(['rpc'])
    expect(found({ afterId: 1027 })).toEqual(['lost', 'rpc'])
    expect(found({ limit: 2 })).toEqual(['lost', 'rpc'])
  })

  it('go by age, then by size, the oldest first', () => {
    using store = openStore(file)
    const { audit } = store
    const result = 'x'.repeat(1000)
    for (let batch = 0; batch < 10; batch++)
      audit.append(
        Array.from({ length: 500 }, (_, index) => ({ ...AUDIT_RECORD, at: 1000 + batch * 500 + index, result })),
        'soon',
      )
    const before = audit.size()
    audit.prune({ before: 1500, maxBytes: before })
    expect(audit.query({ limit: 1_000_000 })).toHaveLength(4500)
    audit.prune({ before: 0, maxBytes: Math.floor(before / 2) })
    expect(audit.size()).toBeLessThanOrEqual(before / 2)
    const left = audit.query({ limit: 1_000_000 })
    expect(left.length).toBeGreaterThan(1000)
    expect(left.at(-1)?.at).toBe(5999)
    audit.append([AUDIT_RECORD], 'soon')
    expect(audit.query({ limit: 1 })[0]?.id).toBe(11 * 1024)
  })

  it('are all written or none, and it is said when they can’t be', () => {
    const { connection } = openDatabase(file)
    const audit = new SqliteAudit(connection)
    const broken = { ...AUDIT_RECORD, at: Number.NaN }
    expect(() => audit.append([AUDIT_RECORD, broken], 'soon')).toThrow(
      expect.objectContaining({ code: 'state_not_written' }),
    )
    expect(audit.query({ limit: 10 })).toEqual([])
    audit.append([AUDIT_RECORD], 'soon')
    expect(audit.query({ limit: 10 })).toHaveLength(1)
    connection.close()
  })

  it('leave everything else in the file as durable as it was', () => {
    const { connection } = openDatabase(file)
    const audit = new SqliteAudit(connection)
    const level = () => (connection.prepare('PRAGMA synchronous').get() as { synchronous: number }).synchronous
    expect(level()).toBe(2)
    audit.append([AUDIT_RECORD], 'soon')
    expect(level()).toBe(2)
    expect(() => audit.append([{ ...AUDIT_RECORD, at: Number.NaN }], 'soon')).toThrow()
    expect(level()).toBe(2)
    connection.close()
  })

  it('tell whether they outlive the process', () => {
    using store = openStore(file)
    expect(store.audit.isDurable).toBe(true)
    using unwritable = openStore(join('/dev/null', 'state.sqlite'))
    expect(unwritable.audit.isDurable).toBe(false)
  })
})
