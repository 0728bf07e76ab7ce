import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadOrCreateToken } from './token.js'

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'reeve-token-'))
})
afterEach(() => rm(home, { recursive: true }))

describe('loadOrCreateToken', () => {
  it('makes 256 bits once, for the owner alone, and finds them again', async () => {
    const path = join(home, 'run', 'gateway-token')
    const token = await loadOrCreateToken(path)
    expect(Buffer.from(token, 'base64url')).toHaveLength(32)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(await loadOrCreateToken(path)).toBe(token)
    expect(await readdir(join(home, 'run'))).toEqual(['gateway-token'])
  })

  it('gives one token to all that start together', async () => {
    const path = join(home, 'gateway-token')
    const tokens = await Promise.all(Array.from({ length: 20 }, () => loadOrCreateToken(path)))
    expect(new Set(tokens).size).toBe(1)
    expect((await readFile(path, 'utf8')).trim()).toBe(tokens[0])
    expect(await readdir(home)).toEqual(['gateway-token'])
  })

  it('closes a file that others can read', async () => {
    const path = join(home, 'gateway-token')
    const token = await loadOrCreateToken(path)
    await chmod(path, 0o644)
    expect(await loadOrCreateToken(path)).toBe(token)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  it.each(['', 'short', 'two words of more than forty-three characters each'])('refuses a file of %j', async (text) => {
    const path = join(home, 'gateway-token')
    await writeFile(path, text)
    await expect(loadOrCreateToken(path)).rejects.toMatchObject({ code: 'gateway_token', place: path })
    expect(await readFile(path, 'utf8')).toBe(text)
  })

  it('names the place when the file cannot be read', async () => {
    await expect(loadOrCreateToken(home)).rejects.toMatchObject({ code: 'gateway_token', place: home })
    const below = join(home, 'file', 'token')
    await writeFile(join(home, 'file'), '')
    await expect(loadOrCreateToken(below)).rejects.toMatchObject({ code: 'gateway_token', place: below })
  })
})
