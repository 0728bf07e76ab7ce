import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FileAuthStorage } from './file-storage.js'
import { installationId } from './installation-id.js'
import { credentialFrom, sessionOf, storedFrom } from './stored-auth.js'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-auth-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

describe('auth.json', () => {
  it('is pretty JSON that only its owner can read, and comes back whole', async () => {
    const storage = new FileAuthStorage(join(folder, 'home'))
    expect(await storage.load()).toBeNull()
    const session = sessionOf({
      accessToken: 'a',
      refreshToken: 'r',
      accountId: 'acct-1',
      lastRefresh: 1_700_000_000_000,
    })
    await storage.save(storedFrom(session, { other: [1] }))
    expect((await stat(storage.place)).mode & 0o777).toBe(0o600)
    expect(await readFile(storage.place, 'utf8')).toContain('\n  "tokens": {\n')
    const stored = await storage.load()
    expect(stored).toMatchObject({ other: [1], auth_mode: 'chatgpt' })
    expect(credentialFrom(stored ?? {}, 'x')).toEqual(session)
    await storage.remove()
    expect(await storage.load()).toBeNull()
  })

  it('that is damaged is an error by name, and is put aside by the next save', async () => {
    const storage = new FileAuthStorage(folder)
    await writeFile(storage.place, '{"tokens": sk-secret')
    const failure = await storage.load().catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'credentials_unreadable', place: storage.place })
    expect(JSON.stringify(failure)).not.toContain('sk-secret')
    await storage.save({ OPENAI_API_KEY: 'key' })
    const aside = (await readdir(folder)).find((name) => name.startsWith('auth.json.damaged-'))
    expect(await readFile(join(folder, aside ?? ''), 'utf8')).toBe('{"tokens": sk-secret')
  })

  it('keeps the old record when the new one cannot be written', async () => {
    await writeFile(join(folder, 'file'), '')
    const storage = new FileAuthStorage(join(folder, 'file'))
    await expect(storage.save({ OPENAI_API_KEY: 'key' })).rejects.toMatchObject({ code: 'credentials_unwritable' })
  })

  it('is written by one at a time', async () => {
    const [one, two] = [new FileAuthStorage(folder), new FileAuthStorage(folder)]
    let inside = 0
    const work = async () => {
      inside += 1
      expect(inside).toBe(1)
      await new Promise((resolve) => setImmediate(resolve))
      inside -= 1
    }
    await Promise.all([one, two, one, two].map((storage) => storage.exclusively(work)))
  })

  it('never gives what only a host may', () => {
    for (const auth_mode of ['chatgptAuthTokens', 'headers', '__proto__', 7])
      expect(() => credentialFrom({ auth_mode }, 'auth.json')).toThrow('auth_mode names no mode')
    expect(() => credentialFrom({ tokens: { access_token: '' } }, 'auth.json')).toThrow('no access token')
    expect(() =>
      credentialFrom({ auth_mode: 'agentIdentity', agent_identity: { agent_runtime_id: 'r' } }, 'f'),
    ).toThrow()
  })
})

describe('the installation id', () => {
  it('is one for all who begin at once, and stays', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => installationId(folder)))
    expect(new Set(ids).size).toBe(1)
    expect(await readdir(folder)).toEqual(['installation_id'])
    await writeFile(join(folder, 'installation_id'), 'no id')
    await expect(installationId(folder)).rejects.toMatchObject({ code: 'credentials_invalid' })
  })
})
