import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ManualTimers } from '../../../test/fixtures/http/manual-timers.js'
import { createHttpClient, LocalEnvironment } from '../../environments/index.js'
import { runHeadersHelper } from './headers-helper.js'
import { systemTimers } from './timers.js'

const local = new LocalEnvironment({ http: createHttpClient({ env: {} }) })
let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-helper-'))
})
afterAll(async () => {
  await local.close()
  await rm(folder, { recursive: true })
})

const run = (command: string, timers = systemTimers) =>
  runHeadersHelper({
    command,
    spawn: (request) => local.spawn(request),
    env: { PATH: process.env.PATH, TOKEN: 'from-env', UNSET: undefined },
    cwd: folder,
    label: 'notes',
    timers,
  })

describe('the headers helper', () => {
  it('is a shell command whose JSON output is the headers', async () => {
    expect(await run(`printf '{"Authorization":"Bearer %s","X-Where":"%s"}' "$TOKEN" "$(basename "$PWD")"`)).toEqual([
      ['Authorization', 'Bearer from-env'],
      ['X-Where', folder.split('/').at(-1)],
    ])
  })

  it('may print nothing but an empty object, and noise on stderr', async () => {
    expect(await run("echo noise >&2; echo '{}'")).toEqual([])
  })

  it.each([
    ['text', 'echo secret-token'],
    ['a list', `echo '["secret-token"]'`],
    ['a value that is no string', `echo '{"X-A":{"secret-token":1}}'`],
    ['nothing', 'true'],
  ])('that prints %s fails without showing it', async (_what, command) => {
    const error = await run(command).catch((failed: unknown) => failed)
    expect(error).toMatchObject({ code: 'protocol_violation', place: 'notes http_headers_helper' })
    expect(String(error)).not.toContain('secret-token')
  })

  it('that fails is named with its exit code', async () => {
    await expect(run('exit 3')).rejects.toMatchObject({
      code: 'process_failed',
      message: "http_headers_helper of MCP server 'notes' failed with exit code 3",
      data: { code: 3 },
    })
  })

  it('that prints without end is stopped', async () => {
    await expect(run('yes')).rejects.toMatchObject({ code: 'limit_exceeded', data: { limit: 65_536 } })
    expect(local.running).toBe(0)
  })

  it('that hangs is stopped after ten seconds, with what it started', async () => {
    const timers = new ManualTimers()
    const hanging = run('sleep 1000 & wait', timers)
    const outcome = hanging.catch((error: unknown) => error)
    await timers.waitingFor(10_000)
    timers.advance(10_000)
    expect(await outcome).toMatchObject({ code: 'timeout' })
    expect(local.running).toBe(0)
  })
})
