import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { AUDIT_RECORD } from '../../test/fixtures/audit-record.js'
import { eachStateFile } from '../../test/fixtures/state-file.js'
import { AuditLog, type AuditRecord } from '../authority/index.js'
import type { ReeveError } from '../errors.js'
import { serverKey } from '../identity/index.js'
import { SqliteAudit } from './audit.js'
import { openDatabase } from './database.js'
import { openStore } from './index.js'

let file: string
eachStateFile((path) => {
  file = path
})

/** Numbered records, some of each kind. */
function batch(from: number, count: number): readonly AuditRecord[] {
  return Array.from({ length: count }, (_, index) => {
    const number = from + index
    return {
      ...AUDIT_RECORD,
      callId: String(number),
      at: 1000 + number,
      tool: number % 2 === 0 ? 'add' : 'wipe',
      threadId: `thread-${number % 10}`,
      outcome: number % 1000 === 7 ? ('error' as const) : ('ok' as const),
      argumentDigest: `sha256:${'a'.repeat(64)}`,
      resultDigest: `sha256:${'b'.repeat(64)}`,
    }
  })
}

const FACTS = {
  threadId: 'thread',
  callId: 'call',
  operation: 'tool' as const,
  key: serverKey('notes'),
  executionEnvironment: 'local',
  tool: 'add',
  authority: null,
  arguments: { text: 'x' },
}

/** A hundred thousand with REEVE_AUDIT_ROWS=100000. */
const ROWS = Number(process.env.REEVE_AUDIT_ROWS ?? 20_000)

describe('many records', () => {
  it('are found among all others, in little room', () => {
    using store = openStore(file)
    for (let from = 0; from < ROWS; from += 500) store.audit.append(batch(from, 500), 'soon')
    const numbers = (filter: object, limit = 1_000_000) =>
      store.audit.query({ limit, ...filter }).map(({ callId }) => Number(callId))
    const all = numbers({})
    expect(all).toHaveLength(ROWS)
    expect(all.every((number, index) => number === index)).toBe(true)
    expect(numbers({ outcome: 'tool_error' })).toHaveLength(ROWS / 1000)
    expect(numbers({ tool: 'wipe', threadId: 'thread-3' })).toHaveLength(ROWS / 10)
    expect(numbers({ threadId: 'thread-4' }, 2)).toEqual([ROWS - 16, ROWS - 6])
    expect(numbers({ since: 1000 + ROWS - 2 })).toEqual([ROWS - 2, ROWS - 1])
    expect(store.audit.size() / ROWS).toBeLessThan(300)
  })

  it('are all seen by whoever follows, and once, while others write and old ones go', () => {
    using writer = openStore(file)
    using second = openStore(file)
    using reader = openStore(file)
    const seen: number[] = []
    let afterId = -1
    for (let round = 0; round < 60; round++) {
      writer.audit.append(batch(round * 200, 100), 'soon')
      second.audit.append(batch(round * 200 + 100, 100), 'now')
      if (round % 5 === 4) writer.audit.prune({ before: 0, maxBytes: Math.floor(writer.audit.size() / 2) })
      const found = reader.audit.query({ afterId, limit: 1_000_000 })
      afterId = found.at(-1)?.id ?? afterId
      seen.push(...found.map(({ callId }) => Number(callId)))
    }
    // What was removed before anybody looked is gone; what was left came in order and never twice.
    expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b))
    const left = reader.audit.query({ limit: 1_000_000 }).map(({ callId }) => Number(callId))
    expect(left.every((number) => seen.includes(number))).toBe(true)
    expect(seen.at(-1)).toBe(60 * 200 - 1)
    expect(seen.length).toBeGreaterThan(60 * 200 * 0.9)
  })

  it('make room again in time: the oldest go, by size', async () => {
    using store = openStore(file)
    const log = new AuditLog(store.audit, { settings: { maxMb: 1, arguments: 'whole' } })
    const text = 'x'.repeat(1000)
    for (let index = 0; index < 3000; index++)
      await log.track({ ...FACTS, callId: String(index), arguments: { text } }, async () => ({}))
    log.close()
    expect(store.audit.size()).toBeLessThanOrEqual(1024 * 1024)
    expect(store.audit.query({ limit: 1 })[0]?.callId).toBe('2999')
  })
})

describe('faults', () => {
  it('of a full disk end no call, are told, and lose nothing once there is room', async () => {
    const { connection } = openDatabase(file)
    const pages = (most: number) => connection.exec(`PRAGMA max_page_count = ${most}`)
    const audit = new SqliteAudit(connection)
    const warnings: ReeveError[] = []
    const settings = { arguments: 'whole' as const }
    const log = new AuditLog(audit, { settings, onwarning: (warning) => warnings.push(warning) })
    pages(1)
    for (let index = 0; index < 3; index++) {
      const text = 'x'.repeat(100_000)
      await log.track({ ...FACTS, callId: String(index), arguments: { text } }, async () => ({}))
      log.flush()
    }
    expect(warnings).toMatchObject([{ code: 'audit_not_written', message: expect.stringContaining('full') }])
    expect(audit.query({ limit: 10 })).toEqual([])
    pages(1_000_000)
    log.close()
    expect(audit.query({ limit: 10 }).map(({ callId }) => callId)).toEqual(['0', '1', '2'])
    connection.close()
  })

  it('of another process that holds the file keep the records until it lets go', async () => {
    using store = openStore(file)
    const { connection: other } = openDatabase(file)
    const warnings: ReeveError[] = []
    const log = new AuditLog(store.audit, { settings: {}, onwarning: (warning) => warnings.push(warning) })
    other.exec('BEGIN IMMEDIATE')
    await log.track(FACTS, async () => ({}))
    log.flush()
    expect(log.waiting).toBe(1)
    expect(warnings).toMatchObject([{ code: 'audit_not_written', message: expect.stringContaining('locked') }])
    other.exec('ROLLBACK')
    other.close()
    log.close()
    expect(store.audit.query({ limit: 10 })).toHaveLength(1)
  })

  it('of a file that was damaged are named, when it is read and when it is written', () => {
    {
      using store = openStore(file)
      for (let from = 0; from < 5000; from += 500) store.audit.append(batch(from, 500), 'now')
    }
    const { connection } = openDatabase(file)
    connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    connection.close()
    spoil(file)
    using store = openStore(file)
    expect(() => store.audit.query({ limit: 1_000_000 })).toThrow(expect.objectContaining({ code: 'state_not_read' }))
    expect(() => store.audit.append(batch(0, 1), 'now')).toThrow(expect.objectContaining({ code: 'state_not_written' }))
  })

  it('of single rows hide no others', () => {
    using store = openStore(file)
    store.audit.append(batch(0, 2), 'now')
    const { connection } = openDatabase(file)
    for (const text of ['', '{}', '[[],[[0]]]', '[[[]],[[0],["x"],[9]]]', '[1,2]', '[[1],[2]]'])
      connection.prepare('INSERT INTO audit (last_at, records, bytes) VALUES (?, ?, ?)').run([9999, text, 1])
    connection.close()
    store.audit.append(batch(2, 1), 'now')
    const calls = store.audit.query({ limit: 100, server: 'notes' }).map(({ callId }) => callId)
    expect(calls).toEqual(['0', '1', '2'])
    expect(() => store.audit.query({ limit: 100 })).not.toThrow()
  })
})

/** Everything behind the first pages, which hold the schema. */
function spoil(path: string): void {
  const from = 12 * 4096
  const handle = openSync(path, 'r+')
  try {
    writeSync(handle, Buffer.alloc(statSync(path).size - from, 0xa5), 0, undefined, from)
  } finally {
    closeSync(handle)
  }
}
