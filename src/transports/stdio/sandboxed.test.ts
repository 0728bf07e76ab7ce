import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type SandboxedServer, sandboxed } from './sandboxed.js'

let folder: string
let commandLine: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-sandboxed-'))
  commandLine = join(folder, 'reeve')
  await writeFile(commandLine, '#!/usr/bin/env node\n')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const wanted = (rest: Partial<SandboxedServer> = {}): SandboxedServer => ({
  server: { type: 'stdio', command: 'srv', args: ['--', '-x'], env: {}, envVars: [] },
  sandbox: { mode: 'workspace-write', network: false },
  env: { PATH: '/bin', NODE_ENV: 'test' },
  cwd: '/srv/a b',
  isHere: true,
  platform: 'linux',
  label: 'notes',
  launcher: { commandLine, home: '/home/u/.reeve' },
  ...rest,
})

describe('a server in a sandbox', () => {
  it('is started by our command line, with the state of its mode', async () => {
    const { program, args } = await sandboxed(wanted())
    expect(program).toBe(process.execPath)
    const [file, home, reeve, verb, option, state = '', ...command] = args
    expect([file, home, reeve, verb, option]).toEqual([
      commandLine,
      '--home',
      '/home/u/.reeve',
      'sandbox',
      '--sandbox-state-json',
    ])
    expect(command).toEqual(['--', 'srv', '--', '-x'])
    expect(JSON.parse(state)).toMatchObject({
      sandboxCwd: 'file:///srv/a%20b',
      permissionProfile: {
        type: 'managed',
        network: 'restricted',
        file_system: {
          entries: expect.arrayContaining([{ path: { type: 'path', path: '/srv/a b' }, access: 'write' }]),
        },
      },
    })
  })

  it('may have a network', async () => {
    const { args } = await sandboxed(wanted({ sandbox: { mode: 'read-only', network: true } }))
    expect(JSON.parse(args[5] ?? '')).toMatchObject({
      permissionProfile: { network: 'enabled', file_system: { entries: [{ access: 'read' }] } },
    })
  })

  it('is started by a command line that is a program as it is', async () => {
    await writeFile(commandLine, '\u007fELF')
    expect(await sandboxed(wanted())).toMatchObject({ program: commandLine })
  })

  it.each<[string, Partial<SandboxedServer>, string]>([
    ['on an executor', { isHere: false }, 'sandbox_unavailable'],
    ['on Windows', { platform: 'win32' }, 'sandbox_unavailable'],
    ['without a command line', { launcher: undefined }, 'sandbox_unavailable'],
    ['with one that is not there', { launcher: { commandLine: '/no/such/file', home: '/' } }, 'sandbox_unavailable'],
    ['with a relative one', { launcher: { commandLine: 'reeve', home: '/' } }, 'sandbox_unavailable'],
    ['with a variable that Node.js obeys', { env: { NODE_OPTIONS: '--require ./x.js' } }, 'sandbox_env_var'],
    ['with a variable that the loader obeys', { env: { LD_PRELOAD: './x.so' } }, 'sandbox_env_var'],
  ])('is not started %s', async (_where, rest, code) => {
    await expect(sandboxed(wanted(rest))).rejects.toMatchObject({ code, place: expect.stringContaining('notes') })
  })
})
