import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase } from './database.js'
import { SqliteEras } from './eras.js'
import { openStore } from './index.js'
import { MIGRATIONS } from './migrations.js'

let file: string
let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'reeve-store-'))
  file = join(home, 'state.sqlite')
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const MODERN = { era: 'modern', protocolVersion: '2026-07-28' } as const
const LEGACY = { era: 'legacy', protocolVersion: '2025-06-18' } as const

describe('the era memory', () => {
  it('gives back what was found and when, after the file was closed and opened again', () => {
    {
      const { connection } = openDatabase(file)
      new SqliteEras(connection, () => 1234).put('launch', 'notes', MODERN)
      connection.close()
    }
    using store = openStore(file)
    expect(store.eras.get('launch')).toEqual({ ...MODERN, foundAt: 1234 })
    expect(store.eras.get('other')).toBeUndefined()
  })

  it('replaces what was found before, with its date, and forgets', () => {
    using store = openStore(file)
    store.eras.put('launch', 'notes', LEGACY)
    store.eras.put('launch', 'notes', MODERN)
    expect(store.eras.get('launch')).toMatchObject(MODERN)
    store.eras.forget('launch')
    expect(store.eras.get('launch')).toBeUndefined()
  })

  it('keeps the newest thousand', () => {
    const { connection } = openDatabase(file)
    let time = 0
    const eras = new SqliteEras(connection, () => time++)
    connection.exec('BEGIN')
    for (let index = 0; index < 1003; index++) eras.put(`d${index}`, 'notes', LEGACY)
    connection.exec('COMMIT')
    expect(eras.get('d2')).toBeUndefined()
    expect(eras.get('d3')).toBeDefined()
    connection.close()
  })

  it('comes into a database of before, beside what is there', () => {
    const before = new Database(file)
    before.exec(MIGRATIONS[0] ?? '')
    before.exec('PRAGMA user_version = 1')
    before.exec(`INSERT INTO inventories VALUES ('digest', 'notes', '{"tools":[]}', 1)`)
    before.close()
    using store = openStore(file)
    expect(store.warnings).toEqual([])
    store.eras.put('launch', 'notes', LEGACY)
    expect(store.eras.get('launch')).toMatchObject(LEGACY)
    expect(store.inventories.get('digest')?.inventory.tools).toEqual([])
  })

  it('counts a row that somebody else wrote as absent', () => {
    const { connection } = openDatabase(file)
    connection.exec(`INSERT INTO eras VALUES ('launch', 'notes', 'stone age', '1', 1)`)
    expect(new SqliteEras(connection).get('launch')).toBeUndefined()
    connection.close()
  })
})
