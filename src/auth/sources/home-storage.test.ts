import { access, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LockableKeychain } from '../../../test/fixtures/auth/lockable-keychain.js'
import { FileAuthStorage } from './file-storage.js'
import { type AuthStorageMode, authStorage } from './home-storage.js'

let folder: string
let keychain: LockableKeychain
let warnings: unknown[]
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-session-'))
  keychain = new LockableKeychain()
  warnings = []
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const storageOf = (mode: AuthStorageMode) =>
  authStorage(folder, mode, { keychain, onwarning: (warning) => warnings.push(warning) })
const session = (token: string) => ({ tokens: { access_token: token } })
const fileOf = () => new FileAuthStorage(folder)

describe('a first-party login in the keychain', () => {
  it('comes back in another process, takes the file away, and stands in none to be read', async () => {
    await fileOf().save(session('old'))
    const storage = storageOf('keyring')
    expect(await storage.load()).toBeNull()
    await storage.save(session('secret-token'))
    expect(await storageOf('keyring').load()).toEqual(session('secret-token'))
    expect(await readFile(storage.place, 'utf8')).not.toContain('secret-token')
    await expect(access(fileOf().place)).rejects.toMatchObject({ code: 'ENOENT' })
    await storage.remove()
    expect(await storageOf('keyring').load()).toBeNull()
  })

  it('is an error while the keychain is locked, and goes nowhere else', async () => {
    await storageOf('keyring').save(session('first'))
    keychain.isLocked = true
    const storage = storageOf('keyring')
    await expect(storage.load()).rejects.toMatchObject({ code: 'keychain_unavailable' })
    await expect(storage.save(session('second'))).rejects.toMatchObject({ code: 'keychain_unavailable' })
    expect(await fileOf().load()).toBeNull()
  })

  it('is one of the file with "auto" while it is locked, and stays there for this process', async () => {
    keychain.isLocked = true
    const storage = storageOf('auto')
    await storage.save(session('first'))
    expect(warnings).toMatchObject([{ code: 'keychain_unavailable' }])
    keychain.isLocked = false
    expect(await storage.load()).toEqual(session('first'))
    await storage.save(session('refreshed'))
    expect(await fileOf().load()).toEqual(session('refreshed'))
  })

  it('is not looked for in the file once it was found in the keychain', async () => {
    await storageOf('keyring').save(session('first'))
    const storage = storageOf('auto')
    await storage.load()
    await fileOf().save(session('older'))
    keychain.isLocked = true
    await expect(storage.save(session('second'))).rejects.toMatchObject({ code: 'keychain_unavailable' })
    expect(await storage.load()).toEqual(session('first'))
    expect(await fileOf().load()).toEqual(session('older'))
  })

  it('lives and dies with the process where nothing is to be kept', async () => {
    await storageOf('ephemeral').save(session('first'))
    expect(await storageOf('ephemeral').load()).toBeNull()
  })
})
