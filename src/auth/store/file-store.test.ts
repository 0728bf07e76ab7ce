import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { StoredCredential } from './credential.js'
import { FileCredentialStore } from './file-store.js'

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'reeve-credentials-'))
})
afterEach(async () => {
  await chmod(home, 0o700)
  await rm(home, { recursive: true, force: true })
})

const credential = (over: Partial<StoredCredential> = {}): StoredCredential => ({
  server: 'notes',
  environment: 'local',
  url: 'https://notes.example/mcp',
  principal: 'user',
  issuer: 'https://as.example',
  loginId: 'login-1',
  loggedInAt: 1000,
  client: { id: 'client', method: 'none', kind: 'registered', redirectUri: 'http://127.0.0.1:1/callback' },
  tokenEndpoint: 'https://as.example/token',
  grant: 'authorization_code',
  accessToken: 'access-1',
  refreshToken: 'refresh-1',
  expiresAt: 5000,
  scopes: ['read'],
  ...over,
})

describe('the file of logins', () => {
  it('is readable by its owner alone, and read by another process as it was written', async () => {
    await new FileCredentialStore(home).save(credential())
    const { mode } = await stat(join(home, 'credentials.json'))
    expect(mode & 0o777).toBe(0o600)
    expect(new FileCredentialStore(home).all()).toEqual([credential()])
  })

  it('is there when its home was not', async () => {
    const inner = join(home, 'a', 'b')
    await new FileCredentialStore(inner).save(credential())
    expect(new FileCredentialStore(inner).find(credential())?.accessToken).toBe('access-1')
  })

  it('shows what another process wrote at the next read', async () => {
    const [mine, other] = [new FileCredentialStore(home), new FileCredentialStore(home)]
    expect(mine.find(credential())).toBeUndefined()
    await other.save(credential())
    expect(mine.find(credential())?.accessToken).toBe('access-1')
    await other.replace(credential(), credential({ accessToken: 'access-2' }))
    expect(mine.find(credential())?.accessToken).toBe('access-2')
    await other.remove(() => true)
    expect(mine.find(credential())).toBeUndefined()
  })

  it('keeps an entry for each environment, server, URL, issuer and principal', async () => {
    const store = new FileCredentialStore(home)
    const entries = [
      credential(),
      credential({ environment: 'devbox' }),
      credential({ server: '__proto__' }),
      credential({ url: 'https://moved.example/mcp' }),
      credential({ issuer: 'https://other.example', loggedInAt: 2000 }),
      credential({ principal: 'somebody' }),
    ]
    for (const entry of entries) await store.save(entry)
    await store.save(credential({ accessToken: 'access-2' }))
    expect(store.all()).toHaveLength(entries.length)
    expect(store.find(credential())?.issuer).toBe('https://other.example')
    expect(store.find(credential({ server: '__proto__' }))?.server).toBe('__proto__')
    expect(store.find(credential({ server: 'toString' }))).toBeUndefined()
  })

  it('loses nothing when many write at once', async () => {
    const names = Array.from({ length: 12 }, (_, n) => `server-${n}`)
    await Promise.all(names.map((server) => new FileCredentialStore(home).save(credential({ server }))))
    const kept = new FileCredentialStore(home).all().map(({ server }) => server)
    expect([...kept].sort()).toEqual([...names].sort())
  })

  it('replaces only what is there as it was', async () => {
    const store = new FileCredentialStore(home)
    await store.save(credential({ loginId: 'login-2' }))
    expect(await store.replace(credential(), credential({ accessToken: 'late' }))).toBe(false)
    expect(store.find(credential())?.accessToken).toBe('access-1')
  })

  it.each([
    ['no JSON', '{"version":1,"cred'],
    ['another shape', '[]'],
    ['a newer version', '{"version":2,"credentials":[]}'],
    ['an entry without a token', JSON.stringify({ version: 1, credentials: [{ ...credential(), accessToken: 1 }] })],
    ['nothing at all', ''],
  ])('is never taken for empty when it holds %s, and is kept when it is begun anew', async (_what, text) => {
    const file = join(home, 'credentials.json')
    await writeFile(file, text)
    const store = new FileCredentialStore(home)
    expect(() => store.all()).toThrow(expect.objectContaining({ code: 'credentials_invalid', place: file }))
    await expect(store.remove(() => true)).rejects.toMatchObject({ code: 'credentials_invalid' })
    expect(await readFile(file, 'utf8')).toBe(text)
    const { backup = '' } = await store.save(credential())
    expect(await readFile(backup, 'utf8')).toBe(text)
    expect(store.all()).toEqual([credential()])
  })

  it('says what is wrong when its place is no file, and leaves no draft behind', async () => {
    const store = new FileCredentialStore(join(home, 'credentials.json'))
    await writeFile(join(home, 'credentials.json'), 'not a folder')
    await expect(store.save(credential())).rejects.toMatchObject({ code: 'credentials_unwritable' })
    expect(await readdir(home)).toEqual(['credentials.json'])
  })

  it.skipIf(process.getuid?.() === 0)('says so in a home that cannot be written', async () => {
    await chmod(home, 0o500)
    const store = new FileCredentialStore(home)
    await expect(store.save(credential())).rejects.toMatchObject({ code: 'credentials_unwritable' })
  })
})
