import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { eventually, fixture, isRunning, pidsIn } from '../../test/fixtures/stdio/running.js'
import { Journal, type JournalRecord, parseRecord } from './journal.js'
import { reapOrphans } from './orphans.js'
import type { ProcessIdentity } from './processes/rows.js'
import { processTable } from './processes/table.js'

const table = processTable(process.platform)
const QUICK = { termGraceMs: 100 }
let home: string

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'reeve-orphans-'))
  await mkdir(join(home, 'run'))
})
afterEach(() => rm(home, { recursive: true, force: true }))

const journal = async () => (await readdir(join(home, 'run'))).sort()

/** A process that has ended: its number and start will never come again. */
async function deadOwner(): Promise<ProcessIdentity> {
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'])
  await once(child, 'spawn')
  const owner = await identity(child.pid ?? 0)
  child.kill('SIGKILL')
  await once(child, 'close')
  return owner
}

async function identity(pid: number): Promise<ProcessIdentity> {
  const row = (await table.rows()).find((one) => one.pid === pid)
  if (row === undefined) throw new Error(`no process ${pid}`)
  return { pid, start: row.start }
}

/** Starts a session of its own whose members are up: the leader first. */
async function startTree(...args: string[]): Promise<{ child: ChildProcess; pids: number[]; leader: ProcessIdentity }> {
  const child = spawn(process.execPath, [fixture('stubborn.mjs'), ...args], { detached: true })
  let text = ''
  child.stderr.on('data', (chunk) => {
    text += chunk
  })
  onTestFinished(() => {
    for (const pid of pidsIn(text).filter(isRunning)) process.kill(pid, 'SIGKILL')
  })
  const lines = args.includes('--grandchild') && !args.includes('--quiet') ? 2 : 1
  await eventually(() => expect(text.match(/^pids /gm)).toHaveLength(lines))
  return { child, pids: [...new Set(pidsIn(text))], leader: await identity(child.pid ?? 0) }
}

async function write(record: Partial<JournalRecord>, name?: string): Promise<string> {
  const owner = record.owner ?? (await deadOwner())
  const leader = record.leader ?? { pid: 4_000_000, start: 1 }
  const whole = { version: 1, place: table.place, owner, leader, members: [], label: 'notes', ...record }
  const file = name ?? `${owner.pid}-${owner.start}-${leader.pid}.json`
  await writeFile(join(home, 'run', file), JSON.stringify(whole))
  return file
}

describe.skipIf(process.platform === 'win32')('reapOrphans', () => {
  it('finds nothing in a home that was never used', async () => {
    const report = await reapOrphans(join(home, 'never'))
    expect(report).toEqual({ reaped: [], left: [], problems: [] })
  })

  it('kills what a dead Reeve left, stubborn grandchildren and other sessions below included', async () => {
    const inside = await startTree('--grandchild')
    const outside = await startTree('--grandchild', '--detached')
    await write({ leader: inside.leader, label: 'inside' })
    await write({ leader: outside.leader, label: 'outside' })
    const report = await reapOrphans(home, QUICK)
    expect([...inside.pids, ...outside.pids].filter(isRunning)).toEqual([])
    expect(report.reaped.map(({ label, pids }) => [label, [...pids].sort()]).sort()).toEqual([
      ['inside', inside.pids.sort()],
      ['outside', outside.pids.sort()],
    ])
    expect(report.left).toEqual([])
    expect(await journal()).toEqual([])
  })

  it('leaves what belongs to a Reeve that is alive, this one or another', async () => {
    const tree = await startTree()
    const other = await startTree()
    const mine = await write({ owner: await identity(process.pid), leader: tree.leader })
    const others = await write({ owner: other.leader, leader: tree.leader })
    expect(await reapOrphans(home, QUICK)).toEqual({ reaped: [], left: [], problems: [] })
    expect(tree.pids.filter(isRunning)).toEqual(tree.pids)
    expect(await journal()).toEqual([mine, others].sort())
  })

  it('never kills an innocent process that got the number of a leader', async () => {
    const innocent = await startTree('--grandchild')
    await write({ leader: { ...innocent.leader, start: innocent.leader.start - 1 } })
    expect(await reapOrphans(home, QUICK)).toEqual({ reaped: [], left: [], problems: [] })
    expect(innocent.pids.filter(isRunning)).toEqual(innocent.pids)
    expect(await journal()).toEqual([])
  })

  it('takes a dead owner for dead although its number is in use again', async () => {
    const tree = await startTree()
    const bystander = await startTree()
    const owner = { pid: bystander.leader.pid, start: bystander.leader.start - 1 }
    await write({ owner, leader: tree.leader })
    expect((await reapOrphans(home, QUICK)).reaped).toHaveLength(1)
    expect(tree.pids.filter(isRunning)).toEqual([])
    expect(bystander.pids.filter(isRunning)).toEqual(bystander.pids)
  })

  it.skipIf(process.platform !== 'linux')(
    'ends the session of a dead leader when a recorded member vouches',
    async () => {
      const { child, pids, leader } = await startTree('--grandchild', '--leave')
      const below = pids.find((pid) => pid !== leader.pid) ?? 0
      const members = [await identity(below)]
      child.stdin?.end()
      await once(child, 'exit')
      await write({ leader, members })
      const report = await reapOrphans(home, QUICK)
      expect(report.reaped).toEqual([{ label: 'notes', leader: leader.pid, pids: [below] }])
      expect(isRunning(below)).toBe(false)
    },
  )

  it.skipIf(process.platform !== 'linux')(
    'leaves the session of a dead leader when nobody vouches, and says so',
    async () => {
      const { child, pids, leader } = await startTree('--grandchild', '--leave')
      const below = pids.find((pid) => pid !== leader.pid) ?? 0
      child.stdin?.end()
      await once(child, 'exit')
      const file = await write({ leader })
      const report = await reapOrphans(home, QUICK)
      expect(report.left).toEqual([{ label: 'notes', leader: leader.pid, pids: [below], reason: 'unproven' }])
      expect(isRunning(below)).toBe(true)
      expect(await journal()).toEqual([file])
    },
  )

  it('judges nothing that was written in another boot, container or format, until it is a month old', async () => {
    const tree = await startTree()
    const elsewhere = await write({ place: 'linux 0000 pid:[1]', leader: tree.leader }, '5-5-5.json')
    const broken = '7-7-7.json'
    await writeFile(join(home, 'run', broken), '{"version":1,"pla')
    const draft = '8-8-8.json.tmp'
    await writeFile(join(home, 'run', draft), '')
    await writeFile(join(home, 'run', 'README'), 'not ours')
    const month = new Date(Date.now() - 31 * 24 * 3600 * 1000)
    expect(await reapOrphans(home, QUICK)).toEqual({ reaped: [], left: [], problems: [] })
    expect(await journal()).toEqual([elsewhere, broken, draft, 'README'].sort())
    for (const name of [elsewhere, broken, draft, 'README']) await utimes(join(home, 'run', name), month, month)
    await reapOrphans(home, QUICK)
    expect(await journal()).toEqual(['README'])
    expect(tree.pids.filter(isRunning)).toEqual(tree.pids)
  })

  it('reports what it cannot read, and reaps the rest', async () => {
    await mkdir(join(home, 'run', '9-9-9.json'))
    const tree = await startTree()
    await write({ leader: tree.leader })
    const report = await reapOrphans(home, QUICK)
    expect(report.problems).toHaveLength(1)
    expect(report.reaped).toHaveLength(1)
  })

  it('may run in several processes at once', async () => {
    const tree = await startTree('--grandchild')
    await write({ leader: tree.leader })
    const reports = await Promise.all([1, 2, 3].map(() => reapOrphans(home, QUICK)))
    expect(tree.pids.filter(isRunning)).toEqual([])
    expect(reports.flatMap((report) => [...report.left, ...report.problems])).toEqual([])
    expect(await journal()).toEqual([])
  })
})

describe('parseRecord', () => {
  const good = {
    version: 1,
    place: 'here',
    owner: { pid: 1, start: 1 },
    leader: { pid: 2, start: 0 },
    members: [],
    label: 'notes',
  }

  it('takes what the journal writes', () => {
    expect(parseRecord(JSON.stringify(good))).toEqual(good)
  })

  it.each([
    ['pid 0, our own group', { leader: { pid: 0, start: 1 } }],
    ['pid 1', { leader: { pid: 1, start: 1 } }],
    ['pid -1, everybody', { leader: { pid: -1, start: 1 } }],
    ['a negative member', { members: [{ pid: -5, start: 1 }] }],
    ['a pid that is text', { leader: { pid: '77', start: 1 } }],
    ['a leader without a start', { leader: { pid: 77 } }],
    ['another version', { version: 2 }],
    ['no label', { label: undefined }],
  ])('refuses %s', (_, change) => {
    expect(parseRecord(JSON.stringify({ ...good, ...change }))).toBeUndefined()
  })

  it('refuses text that is no record', () => {
    for (const text of ['', 'null', '[]', '7', '{', '"x"']) expect(parseRecord(text)).toBeUndefined()
  })
})

describe.skipIf(process.platform !== 'linux')('Journal', () => {
  it('writes an entry whole, with the leader and its start, before it returns', async () => {
    const tree = await startTree()
    const entry = (await Journal.open(home, table)).add(tree.leader.pid, 'notes (environment "a/b")')
    const [name = ''] = await journal()
    const record = parseRecord(await readFile(join(home, 'run', name), 'utf8'))
    expect(record).toMatchObject({
      leader: tree.leader,
      owner: { pid: process.pid },
      label: 'notes (environment "a/b")',
    })
    entry.remove()
    expect(await journal()).toEqual([])
  })

  it('writes nothing any more once the entry was removed', async () => {
    const tree = await startTree()
    const entry = (await Journal.open(home, table)).add(tree.leader.pid, 'notes')
    entry.remove()
    entry.note([{ pid: 77, start: 1 }])
    entry.begin(tree.leader)
    expect(await journal()).toEqual([])
  })
})
