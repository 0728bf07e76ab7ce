import { execFile, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StoredCredential } from '../../src/auth/index.js'
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
  await build({
    entryPoints: [join(ROOT, 'test/fixtures/auth/full-disk-program.ts')],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

function overLogin(): StoredCredential {
  const token = server.issue()
  return {
    server: 'guarded',
    environment: 'local',
    url: server.resourceUrl,
    principal: 'user',
    issuer: server.origin,
    loginId: 'login-1',
    loggedInAt: 1,
    client: { id: 'client-0', method: 'none', kind: 'configured' },
    tokenEndpoint: `${server.origin}/token`,
    grant: 'authorization_code',
    accessToken: token.access_token,
    refreshToken: token.refresh_token,
    expiresAt: 1,
    scopes: [],
  }
}

describe.skipIf(NO_MOUNT !== undefined)(`a home${NO_MOUNT ? ` (${NO_MOUNT})` : ''}`, () => {
  it.each([
    ['whose disk is full', 'fill'],
    ['that cannot be written', 'read-only'],
  ])('%s keeps the login that it has, and a refreshed one is stored as soon as it can be', async (_what, fault) => {
    const home = await mkdtemp(join(folder, 'home-'))
    const before = server.counts.refreshes
    const start = 'mount -t tmpfs -o size=256k tmpfs "$1" && shift && exec "$@"'
    const command = [process.execPath, program, home, JSON.stringify(overLogin()), fault]
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
