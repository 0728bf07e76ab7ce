import { execFile, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { storedLogin } from '../fixtures/auth/stored-login.js'
import { bundled } from '../fixtures/bundled.js'
import { AuthorizationServer } from '../standins/authorization-server.js'
import { ROOT } from './built-cli.js'

const NO_MOUNT =
  spawnSync('unshare', ['-rm', 'sh', '-c', 'mount -t tmpfs -o size=64k tmpfs /mnt']).status === 0
    ? undefined
    : 'file systems of their own cannot be mounted here'

let folder: string
let program: string
let server: AuthorizationServer
beforeAll(async () => {
  // Within the project, where the packages of the bundle are found.
  await mkdir(join(ROOT, '.cache'), { recursive: true })
  folder = await mkdtemp(join(ROOT, '.cache', 'full-disk-'))
  program = join(folder, 'program.mjs')
  server = await AuthorizationServer.listen()
  await bundled('test/fixtures/auth/full-disk-program.ts', program, { packages: 'external' })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

describe.skipIf(NO_MOUNT !== undefined)(`a home${NO_MOUNT ? ` (${NO_MOUNT})` : ''}`, () => {
  it.each([
    ['whose disk is full', 'fill'],
    ['that cannot be written', 'read-only'],
  ])('%s keeps the login that it has, and a refreshed one is stored as soon as it can be', async (_what, fault) => {
    const home = await mkdtemp(join(folder, 'home-'))
    const before = server.counts.refreshes
    const start = 'mount -t tmpfs -o size=256k tmpfs "$1" && shift && exec "$@"'
    const command = [process.execPath, program, home, JSON.stringify(storedLogin(server, { expiresAt: 1 })), fault]
    const { stdout } = await promisify(execFile)('unshare', ['-rm', 'sh', '-c', start, 'sh', home, ...command])
    const { token, ...steps } = JSON.parse(stdout)
    expect(steps).toEqual({
      saved: 'credentials_unwritable',
      kept: 'login-1',
      drafts: [],
      refreshed: 'credentials_unwritable',
      later: 'done',
    })
    expect(server.takes(token)).toBe(true)
    expect(server.counts).toMatchObject({ refreshes: before + 1, reuses: 0, refused: 0 })
  })
})
