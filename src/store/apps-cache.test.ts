import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Inventory } from '../connections/index.js'
import type { ReeveError } from '../errors.js'
import { FileAppsCache } from './apps-cache.js'

let home = ''
let warnings: ReeveError[] = []
let clock = 1

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'reeve-apps-'))
  warnings = []
})
afterEach(() => rm(home, { recursive: true, force: true }))

const open = () => new FileAppsCache({ home, onwarning: (warning) => warnings.push(warning), now: () => clock++ })
const key = (account: string, mode = 'off') => ({ digest: Buffer.from(account + mode).toString('hex'), account })
const offering = (...names: string[]): Inventory => ({
  protocolVersion: '2025-06-18',
  serverInfo: { name: 'apps', version: '2' },
  capabilities: { tools: {} },
  instructions: 'Use them.',
  tools: names.map((name) => ({ name })),
})
const names = (inventory: Inventory | undefined) => inventory?.tools.map(({ name }) => name)
const folder = (kind: string) => join(home, 'cache', kind)

describe('the cache of hosted apps', () => {
  it('gives a fetch that was overtaken what came of the later one, and the file too has that', async () => {
    const cache = open()
    const entry = cache.activate({}, key('a'))
    const [early, late] = [entry.begin(), entry.begin()]
    expect(names(entry.publish(late, offering('new')))).toEqual(['new'])
    expect(names(entry.publish(early, offering('old')))).toEqual(['new'])
    expect(names(entry.publish(late, offering('twice')))).toEqual(['new'])
    await cache.settled()
    expect(names(open().activate({}, key('a')).get()?.inventory)).toEqual(['new'])
    expect(warnings).toEqual([])
  })

  it('keeps what another process began to fetch later', async () => {
    const [first, second] = [open(), open()]
    const [a, b] = [first.activate({}, key('a')), second.activate({}, key('a'))]
    const early = a.begin()
    b.publish(b.begin(), offering('new'))
    await second.settled()
    a.publish(early, offering('old'))
    await first.settled()
    expect(names(a.get()?.inventory)).toEqual(['old'])
    expect(names(open().activate({}, key('a')).get()?.inventory)).toEqual(['new'])
  })

  it('is never found half written, however many write at once', async () => {
    const caches = Array.from({ length: 8 }, open)
    for (const [n, cache] of caches.entries()) {
      const entry = cache.activate({}, key('a'))
      for (let round = 0; round < 5; round += 1)
        entry.publish(entry.begin(), offering(...Array.from({ length: 500 }, (_, tool) => `t-${n}-${round}-${tool}`)))
    }
    const seen = new Set<number | undefined>()
    const done = Promise.all(caches.map((cache) => cache.settled()))
    for (let look = 0; look < 50; look += 1) {
      seen.add(open().activate({}, key('a')).get()?.inventory.tools.length)
      await new Promise(setImmediate)
    }
    await done
    seen.add(open().activate({}, key('a')).get()?.inventory.tools.length)
    seen.delete(undefined)
    expect([...seen]).toEqual([500])
    expect(warnings).toEqual([])
    expect((await readdir(folder('codex_apps_tools'))).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  it('has one account of an owner at a time, in every mode of it', async () => {
    const cache = open()
    const owner = {}
    const [off, dual] = [cache.activate(owner, key('a')), cache.activate(owner, key('a', 'dual'))]
    off.publish(off.begin(), offering('mine'))
    expect(dual.get()).toBeUndefined()
    expect(names(off.get()?.inventory)).toEqual(['mine'])
    const ticket = off.begin()
    cache.activate(owner, key('b'))
    expect(off.get()).toBeUndefined()
    expect(off.publish(ticket, offering('late'))).toBeUndefined()
    expect(cache.activate(owner, key('b')).get()).toBeUndefined()
    await cache.settled()
  })

  it('leaves an entry to whoever else has it', async () => {
    const cache = open()
    const [one, other] = [{}, {}]
    const shared = cache.activate(one, key('a'))
    expect(cache.activate(other, key('a'))).toBe(shared)
    shared.publish(shared.begin(), offering('mine'))
    cache.activate(one, key('b'))
    expect(names(shared.get()?.inventory)).toEqual(['mine'])
    await cache.settled()
  })

  it('holds so many accounts in memory and no more, and finds the others again in their files', async () => {
    const cache = open()
    const first = cache.activate({}, key('first'))
    first.publish(first.begin(), offering('t'))
    for (let n = 0; n < 40; n += 1) cache.activate({}, key(`account-${n}`))
    await cache.settled()
    const again = cache.activate({}, key('first'))
    expect(again).not.toBe(first)
    expect(names(again.get()?.inventory)).toEqual(['t'])
    expect(names(first.get()?.inventory)).toEqual(['t'])
  })

  it('has two files that don’t need each other, for their owner alone', async () => {
    const cache = open()
    const entry = cache.activate({}, key('a'))
    entry.publish(entry.begin(), offering('t'))
    await cache.settled()
    const [name = ''] = await readdir(folder('codex_apps_server_info'))
    expect(JSON.parse(await readFile(join(folder('codex_apps_server_info'), name), 'utf8'))).toMatchObject({
      schema_version: 1,
    })
    expect(open().activate({}, key('a')).get()?.inventory).toEqual(offering('t'))
    await writeFile(join(folder('codex_apps_server_info'), name), 'nothing of ours')
    expect(open().activate({}, key('a')).get()?.inventory).toMatchObject({
      serverInfo: { name: 'codex_apps' },
      tools: [{ name: 't' }],
    })
    expect(warnings.map(({ code }) => code)).toEqual(['apps_cache_unreadable'])
  })

  it('is read once, and not when it is nested beyond all measure', async () => {
    const cache = open()
    const entry = cache.activate({}, key('a'))
    entry.publish(entry.begin(), offering('t'))
    await cache.settled()
    const again = open()
    const owner = {}
    expect(again.activate(owner, key('a')).get()).toBeDefined()
    const file = join(folder('codex_apps_tools'), `${key('a').digest}.json`)
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
    await writeFile(file, `{"schema_version":5,"fetched_at":1,"tools":[{"name":"t","x":${deep}}]}`)
    expect(names(again.activate(owner, key('a')).get()?.inventory)).toEqual(['t'])
    expect(open().activate({}, key('a')).get()).toBeUndefined()
    expect(warnings.map(({ code }) => code)).toEqual(['apps_cache_unreadable'])
  })
})
