import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LockableKeychain } from '../../../test/fixtures/auth/lockable-keychain.js'
import type { StoredCredential } from './credential.js'
import { FileCredentialStore, SEALED_CREDENTIALS_FILE } from './file-store.js'
import { HomeCredentialStore, type StoreMode } from './home-store.js'

let home: string
let keychain: LockableKeychain
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'reeve-home-store-'))
  keychain = new LockableKeychain()
})
afterEach(() => rm(home, { recursive: true, force: true }))

/** As another process has it. */
const storeOf = (mode: StoreMode, warnings: unknown[] = []) =>
  new HomeCredentialStore(home, { mode, keychain, onwarning: (warning) => warnings.push(warning) })
/** The same, by who can wait for the keychain. */
const opened = async (mode: StoreMode) => {
  const store = storeOf(mode)
  await store.prepare()
  return store
}
const fileOf = () => new FileCredentialStore(home)

const credential = (over: Partial<StoredCredential> = {}): StoredCredential => ({
  server: 'guarded',
  environment: 'local',
  url: 'https://mcp.example/mcp',
  principal: 'user',
  issuer: 'https://as.example',
  loginId: 'login-1',
  loggedInAt: 1000,
  client: { id: 'client-1', method: 'none', kind: 'registered' },
  tokenEndpoint: 'https://as.example/token',
  grant: 'authorization_code',
  accessToken: 'access-1',
  refreshToken: 'refresh-1',
  scopes: [],
  ...over,
})

describe('logins that a keychain seals', () => {
  it('come back in other processes as they were, and stand in no file to be read', async () => {
    const [mine, other] = [storeOf('keyring'), storeOf('keyring')]
    expect(other.find(credential())).toBeUndefined()
    await mine.save(credential())
    await other.prepare()
    expect(other.find(credential())).toEqual(credential())
    expect(await other.replace(credential(), credential({ accessToken: 'access-2' }))).toBe(true)
    await mine.prepare()
    expect(mine.find(credential())?.accessToken).toBe('access-2')
    const text = await readFile(join(home, SEALED_CREDENTIALS_FILE), 'utf8')
    for (const hidden of ['access-', 'refresh-1', 'client-1', 'guarded']) expect(text).not.toContain(hidden)
    expect(text).not.toContain([...keychain.secrets.values()][0])
  })

  it('ask the keychain once a process, however often they are read', async () => {
    await storeOf('keyring').save(credential())
    const store = storeOf('keyring')
    await store.choose('keyring')
    const before = keychain.asked
    for (let n = 0; n < 100; n += 1) store.find(credential())
    await storeOf('keyring').replace(credential(), credential({ accessToken: 'access-2' }))
    store.find(credential())
    expect(keychain.asked).toBe(before + 1)
  })

  it('have one key when many log in at once', async () => {
    const names = Array.from({ length: 12 }, (_, n) => `server-${n}`)
    await Promise.all(names.map((server) => storeOf('keyring').save(credential({ server }))))
    expect((await opened('keyring')).all()).toHaveLength(names.length)
  })

  it('are damaged where a byte of the file is another one', async () => {
    await storeOf('keyring').save(credential())
    const file = join(home, SEALED_CREDENTIALS_FILE)
    const { sealed, ...rest } = JSON.parse(await readFile(file, 'utf8'))
    const bytes = Buffer.from(sealed, 'base64')
    bytes[40] = (bytes[40] ?? 0) ^ 1
    await writeFile(file, JSON.stringify({ ...rest, sealed: bytes.toString('base64') }))
    const damaged = await opened('keyring')
    expect(() => damaged.all()).toThrow(expect.objectContaining({ code: 'credentials_invalid', place: file }))
  })

  it('take the entry of the file away with a login, and a logout takes both', async () => {
    await fileOf().save(credential({ accessToken: 'old' }))
    await fileOf().save(credential({ server: 'other' }))
    const store = await opened('keyring')
    expect(store.all()).toEqual([])
    await store.save(credential())
    expect(fileOf().all()).toMatchObject([{ server: 'other' }])
    expect(await store.remove(() => true)).toHaveLength(2)
    expect(fileOf().all()).toEqual([])
    expect((await opened('keyring')).all()).toEqual([])
  })
})

describe('logins where a keychain is used if there is one', () => {
  it('are those of the keychain, else of the file', async () => {
    await fileOf().save(credential({ server: 'in-file' }))
    await storeOf('keyring').save(credential())
    const store = await opened('auto')
    expect(store.all().map(({ server }) => server)).toEqual(['guarded', 'in-file'])
    expect(store.all()).toBe(store.all())
    expect(store.find(credential({ server: 'in-file' }))?.accessToken).toBe('access-1')
  })

  it('go to the file when the keychain is locked, with a warning', async () => {
    keychain.isLocked = true
    const { warnings } = await storeOf('auto').save(credential())
    expect(warnings).toMatchObject([{ code: 'keychain_unavailable' }])
    expect(fileOf().find(credential())).toEqual(credential())
  })

  it('stay where they were found: a keychain that locks itself is an error, and no older login is used', async () => {
    const store = storeOf('auto')
    await store.save(credential({ accessToken: 'access-2', loggedInAt: 2000 }))
    await fileOf().save(credential())
    expect(store.find(credential())?.accessToken).toBe('access-2')
    keychain.isLocked = true
    const other = storeOf('keyring')
    expect(() => other.find(credential())).toThrow(expect.objectContaining({ code: 'keychain_unavailable' }))
    // What this process reads it can go on with; what it can't read, it doesn't look for elsewhere.
    await writeFile(join(home, SEALED_CREDENTIALS_FILE), JSON.stringify({ version: 1, sealed: 'A'.repeat(80) }))
    expect(() => store.find(credential())).toThrow(expect.objectContaining({ code: 'keychain_unavailable' }))
    await expect(store.replace(credential({ accessToken: 'access-2' }), credential())).rejects.toThrow()
    expect(fileOf().find(credential())?.accessToken).toBe('access-1')
  })

  it('are refreshed in the file that they were found in, when the keychain is there again', async () => {
    keychain.isLocked = true
    const warnings: unknown[] = []
    const store = storeOf('auto', warnings)
    await store.save(credential())
    keychain.isLocked = false
    await storeOf('keyring').save(credential({ server: 'other' }))
    expect(await store.replace(credential(), credential({ accessToken: 'access-2' }))).toBe(true)
    expect(fileOf().find(credential())?.accessToken).toBe('access-2')
    expect((await opened('keyring')).all()).toMatchObject([{ server: 'other' }])
  })

  it('are followed to the keychain when another process logs in there', async () => {
    await fileOf().save(credential())
    const store = storeOf('auto')
    expect(store.find(credential())?.loginId).toBe('login-1')
    await storeOf('auto').save(credential({ loginId: 'login-2', loggedInAt: 2000 }))
    await store.prepare()
    expect(store.find(credential())?.loginId).toBe('login-2')
  })

  it('are not forgotten by halves: a logout fails while the keychain is locked', async () => {
    await storeOf('auto').save(credential())
    await fileOf().save(credential({ server: 'in-file' }))
    keychain.isLocked = true
    await expect(storeOf('auto').remove(() => true)).rejects.toMatchObject({ code: 'keychain_unavailable' })
    expect(fileOf().all()).toHaveLength(1)
    const warnings: unknown[] = []
    expect(await storeOf('file', warnings).remove(() => true)).toHaveLength(1)
    expect(warnings).toMatchObject([{ code: 'keychain_unavailable' }])
  })

  it.each<StoreMode>(['keyring', 'auto'])(
    'are not read while the keychain asks its user, nor elsewhere: %s',
    async (mode) => {
      await fileOf().save(credential({ accessToken: 'older' }))
      await storeOf('keyring').save(credential({ server: 'other' }))
      let unlock: () => void = () => undefined
      keychain.unlocking = new Promise((resolve) => {
        unlock = resolve
      })
      const store = storeOf(mode)
      const asked = keychain.asked
      for (let n = 0; n < 3; n += 1)
        expect(() => store.find(credential({ server: 'other' }))).toThrow(
          expect.objectContaining({ code: 'keychain_unavailable', data: { pending: true } }),
        )
      const prepared = store.prepare()
      unlock()
      await prepared
      expect(store.find(credential({ server: 'other' }))).toBeDefined()
      expect(keychain.asked).toBe(asked + 1)
    },
  )

  it('have one mode for the life of a process', async () => {
    const store = new HomeCredentialStore(home, { keychain })
    expect(await store.choose('file')).toBe(true)
    expect(await store.choose('keyring')).toBe(false)
    await store.save(credential())
    expect(fileOf().all()).toHaveLength(1)
  })
})
