import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { captureRun } from '../../../test/captured-cli.js'
import { AUDIT_RECORD } from '../../../test/fixtures/audit-record.js'
import type { AuditRecord } from '../../authority/index.js'
import { SqliteAudit } from '../../store/audit.js'
import { openStore } from '../../store/index.js'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'reeve-audit-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const begin = (signal: AbortSignal, ...args: string[]) =>
  captureRun(['audit', ...args], { env: { HOME: home, REEVE_HOME: home }, cwd: home, signal })

async function audit(...args: string[]) {
  const { code, stdout, stderr } = await begin(new AbortController().signal, ...args).ended
  return {
    code,
    stdout,
    stderr,
    lines: () =>
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
  }
}

const RECORD: AuditRecord = {
  ...AUDIT_RECORD,
  at: Date.parse('2026-05-01T12:00:00Z'),
  durationMs: 12.34,
  decidedBy: 'user',
  argumentBytes: 12,
  resultBytes: 345,
}

function record(...records: Partial<AuditRecord>[]): void {
  using store = openStore(join(home, 'state.sqlite'))
  store.audit.append(
    records.map((one) => ({ ...RECORD, ...one })),
    'now',
  )
}

describe('reeve audit', () => {
  it('shows a call a row', async () => {
    record({}, { environment: null, decision: 'rejected', transport: 'unsent', errorCode: 'approval_required' })
    const { code, stdout } = await audit()
    expect(code).toBe(0)
    const [titles, first, second] = stdout.split('\n').map((line) => line.trim().split(/ {2,}/))
    expect(titles).toEqual(['TIME', 'SERVER', 'ENVIRONMENT', 'TOOL', 'DECISION', 'MS', 'IN', 'OUT', 'OUTCOME'])
    expect(first).toEqual([
      '2026-05-01T12:00:00.000Z',
      'notes',
      'devbox',
      'add',
      'run (user)',
      '12.3',
      '12',
      '345',
      'ok',
    ])
    expect(second?.slice(2, 5)).toEqual(['-', 'add', 'rejected (user)'])
    expect(second?.at(-1)).toBe('refused (approval_required)')
  })

  it('gives a JSON object a line', async () => {
    record({ arguments: '{"text":"x"}' }, { rpc: 'error', outcome: null, errorCode: 'rpc_error', rpcCode: -32602 })
    const { lines } = await audit('--json')
    expect(lines()).toMatchObject([
      {
        id: 1024,
        at: '2026-05-01T12:00:00.000Z',
        server: 'notes',
        environment_id: 'devbox',
        outcome: 'ok',
        arguments: { text: 'x' },
      },
      { id: 1025, outcome: 'rpc_error', rpc_code: -32602 },
    ])
  })

  it('filters', async () => {
    record(
      { callId: 'a' },
      { callId: 'b', server: 'mail' },
      { callId: 'c', environment: null },
      { callId: 'd', tool: 'wipe', outcome: 'error' },
      { callId: 'e', at: Date.now() },
    )
    const found = async (...args: string[]) => (await audit('--json', ...args)).lines().map(({ call }) => call)
    expect(await found('--server', 'mail')).toEqual(['b'])
    expect(await found('--no-env')).toEqual(['c'])
    expect(await found('--env', 'devbox', '--tool', 'wipe')).toEqual(['d'])
    expect(await found('--outcome', 'tool_error')).toEqual(['d'])
    expect(await found('--since', '1h')).toEqual(['e'])
    expect(await found('--since', '2026-01-01')).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(await found('--limit', '2')).toEqual(['d', 'e'])
    record(
      { callId: 'f', decision: 'rejected', decidedBy: 'hook' },
      { callId: 'g', decision: 'cancelled', decidedBy: 'reviewer', threadId: 'other' },
    )
    expect(await found('--decision', 'rejected')).toEqual(['f'])
    expect(await found('--decided-by', 'reviewer')).toEqual(['g'])
    expect(await found('--thread', 'other')).toEqual(['g'])
  })

  it('lets nobody move the cursor', async () => {
    record({ tool: 'a\u001b[2Jb', server: 'x\ny' })
    expect((await audit()).stdout).toContain('x y')
    expect((await audit()).stdout).not.toContain('\u001b')
  })

  it.each([
    [['--outcome', 'tool_eror'], "Did you mean 'tool_error'?"],
    [['--since', 'yesterday'], '--since takes a time'],
    [['--decision', 'runs'], "Did you mean 'run'?"],
    [['--decided-by', 'users'], "Did you mean 'user'?"],
    [['--limit', '-1'], '--limit takes a number'],
  ])('refuses %j', async (args, text) => {
    expect(await audit(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(text) })
  })

  it('says so when there is nothing', async () => {
    expect(await audit()).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('nothing is recorded') })
  })

  it('goes on with what comes, by the same filter, until it is stopped', async () => {
    record({ callId: 'before' })
    const abort = new AbortController()
    const { text, ended } = begin(abort.signal, '--json', '--follow', '--server', 'notes')
    await expect.poll(() => text.stdout, { timeout: 10_000 }).toContain('before')
    record({ callId: 'other', server: 'mail' }, { callId: 'after' })
    await expect.poll(() => text.stdout, { timeout: 10_000 }).toContain('after')
    abort.abort()
    expect(await ended).toMatchObject({ code: 0 })
    expect(text.stdout).not.toContain('other')
  })

  it('passes over no record that is written while it begins to follow', async () => {
    record({ callId: 'before', server: 'mail' })
    const asIs = SqliteAudit.prototype.query
    const query = vi.spyOn(SqliteAudit.prototype, 'query')
    let isWritten = false
    query.mockImplementation(function (this: SqliteAudit, filter) {
      const found = asIs.call(this, filter)
      if (!isWritten && filter.server !== undefined) record({ callId: 'meanwhile' })
      isWritten ||= filter.server !== undefined
      return found
    })
    const abort = new AbortController()
    const { text, ended } = begin(abort.signal, '--json', '--follow', '--server', 'notes')
    try {
      await expect.poll(() => text.stdout, { timeout: 10_000 }).toContain('meanwhile')
    } finally {
      abort.abort()
      await ended
      query.mockRestore()
    }
  })
})
