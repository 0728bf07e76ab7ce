import { describe, expect, it } from 'vitest'
import { AUDIT_RECORD } from '../../../test/fixtures/audit-record.js'
import type { AuditSettings } from '../../config/index.js'
import {
  ApprovalRequiredError,
  OperationTimeoutError,
  ReeveError,
  RpcError,
  StaleCatalogError,
  TransportClosedError,
} from '../../errors.js'
import { serverKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import type { AuditedFacts } from './audited-call.js'
import { authorityDigest, type DigestedAuthority, sha256 } from './digest.js'
import { AuditLog } from './log.js'
import { WHOLE_CHARACTERS } from './pending-record.js'
import { type AuditRecord, type AuditStore, auditOutcome } from './record.js'

/** A disk that can be full. */
class Disk implements AuditStore {
  isDurable = true
  isFull = false
  readonly records: AuditRecord[] = []
  readonly durabilities: string[] = []
  readonly pruned: object[] = []

  append(records: readonly AuditRecord[], durability: 'now' | 'soon'): void {
    if (this.isFull) throw new ReeveError('state_not_written', 'disk full')
    this.records.push(...records)
    this.durabilities.push(durability)
  }
  query(): never[] {
    return []
  }
  size(): number {
    return 0
  }
  prune(limits: { readonly before: number; readonly maxBytes: number }): void {
    this.pruned.push(limits)
  }
}

const FACTS: AuditedFacts = {
  threadId: 'thread',
  callId: 'call',
  operation: 'tool',
  key: serverKey('notes', 'devbox'),
  executionEnvironment: 'devbox',
  tool: 'add',
  authority: null,
  arguments: { text: 'x' },
}

function made(settings: AuditSettings = {}) {
  const disk = new Disk()
  const warnings: ReeveError[] = []
  const log = new AuditLog(disk, { settings, onwarning: (warning) => warnings.push(warning) })
  return { disk, warnings, log }
}

const answering = (result: JsonObject) => async () => result

describe('the record of a call', () => {
  it('has digests and sizes of what was sent and received, and none of its content', async () => {
    const { disk, log } = made()
    const result = await log.track(FACTS, async (call) => {
      call.decided('run', 'user')
      call.sending()
      return { content: [{ type: 'text', text: 'ä' }] }
    })
    result.content.push({ type: 'text', text: 'of the caller' })
    log.close()
    const text = '{"content":[{"type":"text","text":"ä"}]}'
    expect(disk.records).toEqual([
      {
        ...AUDIT_RECORD,
        at: expect.any(Number),
        durationMs: expect.any(Number),
        authority: null,
        decidedBy: 'user',
        argumentBytes: 12,
        resultBytes: Buffer.byteLength(text),
        argumentDigest: sha256('{"text":"x"}'),
        resultDigest: sha256(text),
      },
    ])
  })

  it.each([
    ['refused', false, new ApprovalRequiredError(serverKey('notes'), 'add', 'no'), { errorCode: 'approval_required' }],
    ['refused', true, new StaleCatalogError(serverKey('notes'), 'add'), { errorCode: 'stale_catalog' }],
    ['refused', true, new TransportClosedError('gone', { sent: false }), { transport: 'unsent' }],
    ['transport_error', true, new TransportClosedError('gone', { sent: true }), { transport: 'failed', rpc: null }],
    ['transport_error', true, new OperationTimeoutError('tools/call', 1000), { errorCode: 'timeout' }],
    ['transport_error', true, new TypeError('a defect'), { errorCode: 'internal' }],
    [
      'rpc_error',
      true,
      new RpcError(-32602, 'said by a server'),
      { transport: 'answered', rpc: 'error', rpcCode: -32602 },
    ],
  ] as const)('says %s (sent: %s) of %o', async (outcome, isSent, error, facts) => {
    const { disk, log } = made()
    const call = log.track(FACTS, async (one) => {
      if (isSent) one.sending()
      throw error
    })
    await expect(call).rejects.toBe(error)
    log.close()
    const [record] = disk.records
    if (record === undefined) throw new Error('nothing was recorded')
    expect(record).toMatchObject({ outcome: null, resultDigest: null, resultBytes: null, ...facts })
    expect(auditOutcome(record)).toBe(outcome)
    expect(JSON.stringify(record)).not.toContain('said by a server')
  })

  it('tells a tool that failed from one that did not', async () => {
    const { disk, log } = made()
    await log.track(FACTS, answering({ content: [], isError: true }))
    log.close()
    expect(disk.records.map(auditOutcome)).toEqual(['tool_error'])
  })

  it('keeps what was sent where that is asked for, without what looks like a secret', async () => {
    const { disk, log } = made({ arguments: 'whole' })
    const args = {
      text: 'x',
      api_key: 'abc',
      nested: [{ url: 'https://u:p@h/?token=abc', note: 'ghp_abcdefghijklmnop1234' }],
    }
    await log.track({ ...FACTS, arguments: args }, answering({ content: [] }))
    await log.track({ ...FACTS, arguments: { text: 'x'.repeat(WHOLE_CHARACTERS) } }, answering({}))
    log.close()
    expect(JSON.parse(disk.records[0]?.arguments ?? '')).toEqual({
      text: 'x',
      api_key: '*****',
      nested: [{ url: 'https://*****@h/?token=*****', note: '*****' }],
    })
    expect(disk.records[0]?.argumentDigest).toBe(sha256(JSON.stringify(args)))
    expect(disk.records[1]).toMatchObject({ arguments: null, argumentDigest: expect.any(String) })
  })

  it('masks hostile text in bounded time', async () => {
    const { disk, log } = made({ arguments: 'whole' })
    const texts = ['?'.repeat(900_000), `a://${'?'.repeat(900_000)}`, `a://${'/'.repeat(4000)}`]
    for (const text of texts) await log.track({ ...FACTS, arguments: { text } }, answering({}))
    log.close()
    expect(disk.records.map(({ arguments: given }) => given)).toEqual(texts.map((text) => JSON.stringify({ text })))
  })

  it('has the arguments as they were sent, whatever their owner does with them meanwhile', async () => {
    const { disk, log } = made()
    const args: JsonObject = { text: 'x' }
    await log.track({ ...FACTS, arguments: args }, async (call) => {
      call.sending()
      args.text = 'changed'
      return {}
    })
    log.close()
    expect(disk.records[0]?.argumentDigest).toBe(sha256('{"text":"x"}'))
  })

  it('has the arguments that hooks made', async () => {
    const { disk, log } = made()
    await log.track(FACTS, async (call) => {
      call.rewritten({ text: 'y' })
      return {}
    })
    log.close()
    expect(disk.records[0]?.argumentDigest).toBe(sha256('{"text":"y"}'))
  })
})

describe('mode on', () => {
  it('writes in batches, soon, and the last one at the end for good', async () => {
    const { disk, log } = made()
    await Promise.all(Array.from({ length: 1200 }, () => log.track(FACTS, answering({}))))
    expect(disk.durabilities).toEqual(['soon', 'soon'])
    expect(log.waiting).toBe(200)
    log.close()
    expect(disk.durabilities).toEqual(['soon', 'soon', 'now'])
    expect(disk.records).toHaveLength(1200)
  })

  it('has never more than a batch waiting, however calls are spread over turns', async () => {
    const { log } = made()
    let most = 0
    for (const calls of [300, 150, 300, 499]) {
      await Promise.all(Array.from({ length: calls }, () => log.track(FACTS, answering({}))))
      most = Math.max(most, log.waiting)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(most).toBeLessThan(500)
    log.close()
  })

  it('writes by itself when no more come', async () => {
    const { disk, log } = made()
    await log.track(FACTS, answering({}))
    await expect.poll(() => disk.records.length, { timeout: 10_000 }).toBe(1)
  })

  it('fails no call when it can’t write, says so once, and writes it all when it can', async () => {
    const { disk, warnings, log } = made()
    disk.isFull = true
    await log.track(FACTS, answering({}))
    log.flush()
    await log.track(FACTS, answering({}))
    log.flush()
    expect(warnings).toMatchObject([{ code: 'audit_not_written', message: expect.stringContaining('disk full') }])
    disk.isFull = false
    log.close()
    expect(disk.records).toHaveLength(2)
  })

  it('holds a bounded number, and counts what it gave up', async () => {
    const { disk, warnings, log } = made()
    disk.isFull = true
    for (let index = 0; index < 10_600; index++) await log.track({ ...FACTS, callId: `${index}` }, answering({}))
    log.flush()
    expect(log.waiting).toBe(10_000)
    expect(warnings.at(-1)?.message).toMatch(/\d+ records were given up/)
    disk.isFull = false
    log.close()
    expect(disk.records.at(-1)?.callId).toBe('10599')
  })

  it('holds texts in bounded room, and the digests of all', async () => {
    const { disk, log } = made({ arguments: 'whole' })
    disk.isFull = true
    const text = 'x'.repeat(900_000)
    for (let index = 0; index < 80; index++)
      await log.track({ ...FACTS, arguments: { text: text + index } }, answering({}))
    log.flush()
    disk.isFull = false
    log.close()
    const held = disk.records.reduce((sum, record) => sum + (record.arguments?.length ?? 0), 0)
    expect(held).toBeLessThanOrEqual(64 * 1024 * 1024)
    expect(disk.records.at(-1)?.arguments).toContain('x79')
    expect(new Set(disk.records.map(({ argumentDigest }) => argumentDigest)).size).toBe(80)
  })

  it('writes at once what ends after it was closed', async () => {
    const { disk, log } = made()
    log.close()
    await log.track(FACTS, answering({}))
    expect(disk.records).toHaveLength(1)
  })

  it('removes what is too old or too much', async () => {
    const { disk, log } = made({ keepDays: 2, maxMb: 3 })
    await log.track(FACTS, answering({}))
    log.close()
    const [limits] = disk.pruned
    expect(limits).toMatchObject({ maxBytes: 3 * 1024 * 1024 })
  })
})

describe('mode strict', () => {
  it('hands a result over once it is written', async () => {
    const { disk, log } = made({ mode: 'strict' })
    await log.track(FACTS, answering({}))
    expect(disk.durabilities).toEqual(['now'])
    expect(disk.records).toHaveLength(1)
  })

  it('withholds a result that can’t be recorded, and calls nothing until it can', async () => {
    const { disk, log } = made({ mode: 'strict' })
    disk.isFull = true
    let calls = 0
    const call = () =>
      log.track(FACTS, async () => {
        calls += 1
        return {}
      })
    await expect(call()).rejects.toMatchObject({ code: 'audit_not_written', data: { sent: true } })
    await expect(call()).rejects.toMatchObject({ code: 'audit_not_written', data: { sent: false } })
    expect(calls).toBe(1)
    disk.isFull = false
    await call()
    expect(disk.records).toHaveLength(2)
  })

  it('lets results that come together wait for the disk together, and fail together', async () => {
    const { disk, log } = made({ mode: 'strict' })
    const together = () => Promise.allSettled(Array.from({ length: 64 }, () => log.track(FACTS, answering({}))))
    expect(new Set((await together()).map(({ status }) => status))).toEqual(new Set(['fulfilled']))
    expect(disk.durabilities).toEqual(['now'])
    disk.isFull = true
    const failed = await together()
    expect(failed.every((one) => one.status === 'rejected' && one.reason.code === 'audit_not_written')).toBe(true)
    disk.isFull = false
    log.close()
    expect(disk.records).toHaveLength(128)
  })

  it('hands over what still waits when it is closed', async () => {
    const { disk, log } = made({ mode: 'strict' })
    const call = log.track(FACTS, answering({}))
    await Promise.resolve()
    await Promise.resolve()
    log.close()
    await call
    expect(disk.durabilities).toEqual(['now'])
  })

  it('calls nothing where nothing outlives the process', async () => {
    const { disk, log } = made({ mode: 'strict' })
    disk.isDurable = false
    await expect(log.track(FACTS, answering({}))).rejects.toMatchObject({ code: 'audit_not_written' })
    expect(disk.records).toEqual([])
  })
})

it('digests an authority by all of what it allows, and by what decides about its calls', () => {
  const authority: DigestedAuthority = {
    key: serverKey('notes'),
    executionEnvironment: 'local',
    profile: { type: 'disabled' },
    cwd: '/w',
    workspaceRoots: ['/w'],
    policy: 'on-request',
    approval: 'auto',
    reviewer: 'user',
    strictReview: false,
    catalogRevision: 1,
  }
  const digest = authorityDigest(authority)
  expect(authorityDigest({ ...authority })).toBe(digest)
  const others: Partial<DigestedAuthority>[] = [
    { key: serverKey('notes', 'a') },
    { executionEnvironment: 'a' },
    { profile: null },
    { cwd: '/x' },
    { workspaceRoots: [] },
    { policy: 'never' },
    { policy: null },
    { approval: 'approve' },
    { reviewer: 'auto_review' },
    { strictReview: true },
    { catalogRevision: 2 },
    { catalogRevision: null },
  ]
  const digests = others.map((other) => authorityDigest({ ...authority, ...other }))
  expect(new Set([digest, ...digests]).size).toBe(others.length + 1)
})
