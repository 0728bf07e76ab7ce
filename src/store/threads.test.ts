import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ThreadRecord } from '../threads/index.js'
import { openDatabase } from './database.js'
import { openStore } from './index.js'
import { SqliteThreads } from './threads.js'

let file: string
let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'reeve-store-'))
  file = join(home, 'state.sqlite')
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const RECORD: ThreadRecord = {
  environments: [
    {
      id: 'b',
      cwd: '/srv',
      workspaceRoots: ['/srv', '/data'],
      permissions: { type: 'managed', network: 'restricted' },
    },
    { id: 'local', cwd: '/work', workspaceRoots: ['/work'] },
  ],
  capabilityRoots: [{ id: 'notes', environment: 'b', path: '/opt/plugins/notes' }],
}

describe('the memory of threads', () => {
  it('gives back what was selected, in order, after the file was closed and opened again', () => {
    {
      using store = openStore(file)
      store.threads.put('t', RECORD)
    }
    using store = openStore(file)
    expect(store.threads.get('t')).toEqual(RECORD)
    expect(store.threads.get('other')).toBeUndefined()
  })

  it('replaces what was selected before, and forgets', () => {
    using store = openStore(file)
    store.threads.put('t', RECORD)
    store.threads.put('t', { environments: [], capabilityRoots: [] })
    expect(store.threads.get('t')).toEqual({ environments: [], capabilityRoots: [] })
    store.threads.forget('t')
    expect(store.threads.get('t')).toBeUndefined()
  })

  it('keeps the ten thousand that were written to last', () => {
    const { connection } = openDatabase(file)
    let time = 0
    const threads = new SqliteThreads(connection, () => time++)
    connection.exec('BEGIN')
    for (let index = 0; index < 9_999; index++)
      connection.prepare('INSERT INTO threads VALUES (?, ?, ?)').run(`t${index}`, '{}', time++)
    threads.put('kept', RECORD)
    threads.put('one more', RECORD)
    connection.exec('COMMIT')
    const count = connection.prepare('SELECT count(*) AS count FROM threads').get() as { count: number }
    expect(count.count).toBe(10_000)
    expect(threads.get('kept')).toEqual(RECORD)
    connection.close()
  })

  it.each([
    'not JSON',
    'null',
    '{}',
    '{"environments":[{}],"capabilityRoots":[]}',
    '{"environments":[{"id":"a","cwd":"/","workspaceRoots":[1]}],"capabilityRoots":[]}',
    '{"environments":[{"id":"a","cwd":"/","workspaceRoots":[],"permissions":"all"}],"capabilityRoots":[]}',
    '{"environments":[],"capabilityRoots":[{"id":"x"}]}',
  ])('counts a row that somebody else wrote as absent: %s', (record) => {
    const { connection } = openDatabase(file)
    connection.prepare('INSERT INTO threads VALUES (?, ?, ?)').run('t', record, 1)
    expect(new SqliteThreads(connection).get('t')).toBeUndefined()
    connection.close()
  })

  it('says so when it can’t write', () => {
    const { connection } = openDatabase(file)
    const threads = new SqliteThreads(connection)
    connection.exec('DROP TABLE threads')
    expect(() => threads.put('t', RECORD)).toThrow(expect.objectContaining({ code: 'state_not_written' }))
    connection.close()
  })
})
