import { chmodSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { keptIn } from './state-keeping.js'

let home: string
let folder: string
const faults: Error[] = []
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'reeve-states-'))
  folder = join(home, 'run')
  faults.length = 0
})
afterEach(() => rm(home, { recursive: true, force: true }))

/** As another process would. */
const keeping = (ttlMs = 60_000) => keptIn(folder, { ttlMs, onFault: (error) => faults.push(error) })
const keyFile = () => join(folder, 'request-state.key')
const used = () => readdirSync(join(folder, 'request-states')).sort()

describe('what makes request states outlive a process', () => {
  it('is a key that only the user can read, the same for all processes of a folder', () => {
    const key = keeping().key()
    expect([key.length, keeping().key().equals(key)]).toEqual([32, true])
    chmodSync(keyFile(), 0o644)
    expect(keeping().key().equals(key)).toBe(true)
    expect(statSync(keyFile()).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).toEqual(['request-state.key'])
    expect(faults).toEqual([])
  })

  it('is made anew when the file holds none', () => {
    const key = keeping().key()
    for (const text of ['', 'short', `${key.toString('base64url')}A`, '\u0000'.repeat(100_000)]) {
      writeFileSync(keyFile(), text)
      const next = keeping().key()
      expect([next.length, next.equals(key), keeping().key().equals(next)]).toEqual([32, false, true])
    }
    expect(faults).toEqual([])
  })

  it('is the use of each state, once among all processes, unless nothing came of it', () => {
    const [one, two] = [keeping(), keeping()]
    expect([one.use('a'), two.use('a'), one.use('a'), two.use('b')]).toEqual([true, false, false, true])
    one.giveBack('a')
    expect([two.use('a'), one.use('a')]).toEqual([true, false])
  })

  it('is forgotten when it has expired', async () => {
    const before = keeping()
    for (const id of ['old', 'new']) before.use(id)
    const past = Date.now() / 1000 - 61
    utimesSync(join(folder, 'request-states', 'old'), past, past)
    keeping().use('newest')
    await vi.waitFor(() => expect(used()).toEqual(['new', 'newest']))
    expect(faults).toEqual([])
  })

  it('is no more than a process where the folder is none, which is told', () => {
    writeFileSync(folder, 'a file')
    const one = keeping()
    expect([one.key().equals(one.key()), one.use('a')]).toEqual([true, true])
    expect(faults.map(({ message }) => message)).toContainEqual(expect.stringContaining(folder))
  })
})
