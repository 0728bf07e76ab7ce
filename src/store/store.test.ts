import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Inventory } from '../connections/index.js'
import { openDatabase } from './database.js'
import { openStore } from './index.js'
import { SqliteInventories } from './inventories.js'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'reeve-store-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const inventory: Inventory = {
  protocolVersion: '2025-11-25',
  serverInfo: { name: 'notes', 'x-vendor': { deep: [1] } },
  capabilities: { tools: {}, unheard: { of: true } },
  tools: [{ name: 'add', inputSchema: { type: 'object', 'x-keyword': null } }],
}

describe('the inventory cache', () => {
  it('gives back every member after the file was closed and opened again', () => {
    {
      using store = openStore(join(home, 'state.sqlite'))
      store.inventories.put('digest', 'notes', inventory)
    }
    using store = openStore(join(home, 'state.sqlite'))
    expect(store.inventories.get('digest')?.inventory).toEqual(inventory)
    expect(store.inventories.get('other')).toBeUndefined()
  })

  it('replaces an entry, forgets one, and is seen by a second process with the file open', () => {
    using first = openStore(join(home, 'state.sqlite'))
    using second = openStore(join(home, 'state.sqlite'))
    first.inventories.put('digest', 'notes', inventory)
    second.inventories.put('digest', 'notes', { ...inventory, tools: [] })
    expect(first.inventories.get('digest')?.inventory.tools).toEqual([])
    second.inventories.forget('digest')
    expect(first.inventories.get('digest')).toBeUndefined()
  })

  it('keeps the newest thousand entries', () => {
    const { connection } = openDatabase(join(home, 'state.sqlite'))
    let time = 0
    const inventories = new SqliteInventories(connection, () => time++)
    connection.exec('BEGIN')
    for (let index = 0; index < 1003; index++) inventories.put(`d${index}`, 'notes', inventory)
    connection.exec('COMMIT')
    expect(inventories.get('d2')).toBeUndefined()
    expect(inventories.get('d3')).toBeDefined()
    connection.close()
  })

  it.skipIf(process.platform === 'win32')('is readable by its owner alone', () => {
    using store = openStore(join(home, 'state.sqlite'))
    store.inventories.put('digest', 'notes', inventory)
    for (const name of readdirSync(home)) expect(statSync(join(home, name)).mode & 0o077, name).toBe(0)
  })

  it('takes a row that is no inventory as absent', () => {
    const { connection } = openDatabase(join(home, 'state.sqlite'))
    const inventories = new SqliteInventories(connection)
    for (const text of ['{half', 'null', '[]', '{"tools":3}']) {
      connection.prepare('INSERT INTO inventories VALUES (?, ?, ?, ?)').run('bad', 'notes', text, 1)
      expect(inventories.get('bad')).toBeUndefined()
      expect(connection.prepare('SELECT count(*) AS n FROM inventories').get()).toMatchObject({ n: 0 })
    }
    connection.close()
  })
})

describe('a state file that is not as it should be', () => {
  it('keeps a damaged file under another name, says so and begins anew', () => {
    const file = join(home, 'state.sqlite')
    writeFileSync(file, 'this is no database, and long enough to be taken for a page of one'.repeat(100))
    using store = openStore(file)
    expect(store.warnings.map((warning) => warning.code)).toEqual(['state_damaged'])
    expect(readdirSync(home).some((name) => name.startsWith('state.sqlite.damaged-'))).toBe(true)
    store.inventories.put('digest', 'notes', inventory)
    expect(store.inventories.get('digest')).toBeDefined()
  })

  it('works in memory, and says so, where the file cannot be opened', () => {
    const file = join(home, 'state.sqlite')
    mkdirSync(file)
    using store = openStore(file)
    expect(store.warnings.map((warning) => warning.code)).toEqual(['state_unavailable'])
    store.inventories.put('digest', 'notes', inventory)
    expect(store.inventories.get('digest')).toBeDefined()
  })

  it('does not touch a file of a newer version', () => {
    const file = join(home, 'state.sqlite')
    const { connection } = openDatabase(file)
    connection.exec('PRAGMA user_version = 99')
    connection.close()
    using store = openStore(file)
    expect(store.warnings[0]?.message).toContain('newer version')
    const again = openDatabase(file)
    expect(again.warnings).toHaveLength(1)
    again.connection.close()
  })
})
