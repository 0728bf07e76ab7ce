import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { eventually, fixture, isRunning, pidsIn } from '../../test/fixtures/stdio/running.js'
import { CancelledError, ClosedError, ProcessFailedError } from '../errors.js'
import type { EnvironmentProcess, HttpClient, SpawnRequest } from './environment.js'
import { LocalEnvironment, type LocalEnvironmentOptions } from './local.js'

const noHttp: HttpClient = {
  request: () => Promise.reject(new Error('no HTTP in this test')),
  close: async () => {},
}
const env = { PATH: process.env.PATH ?? '' }
let home: string

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'reeve-local-'))
})
afterEach(() => rm(home, { recursive: true, force: true }))

function open(options: Partial<LocalEnvironmentOptions> = {}): LocalEnvironment {
  const environment = new LocalEnvironment({ http: noHttp, home, ...options })
  onTestFinished(() => environment.close())
  return environment
}

const node = (args: readonly string[], rest: Partial<SpawnRequest> = {}): SpawnRequest => {
  return { program: process.execPath, args, env, label: 'the test', ...rest }
}
const sh = (script: string, rest: Partial<SpawnRequest> = {}): SpawnRequest => {
  return { program: '/bin/sh', args: ['-c', script], env, label: 'the test', ...rest }
}

interface Watched {
  readonly process: EnvironmentProcess
  stdout(): string
  stderr(): string
}

async function start(environment: LocalEnvironment, request: SpawnRequest): Promise<Watched> {
  const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
  const started = await environment.spawn(request)
  started.onstdout = (chunk) => chunks.stdout.push(chunk)
  started.onstderr = (chunk) => chunks.stderr.push(chunk)
  const text = (which: 'stdout' | 'stderr') => () => Buffer.concat(chunks[which]).toString('utf8')
  return { process: started, stdout: text('stdout'), stderr: text('stderr') }
}

/** Starts the stubborn fixture and waits until everyone in its tree ignores signals. */
async function startStubborn(environment: LocalEnvironment, request: SpawnRequest, count: number): Promise<number[]> {
  const watched = await start(environment, request)
  await eventually(() => expect(watched.stderr().match(/^pids /gm)).toHaveLength(count))
  return [...new Set([watched.process.pid ?? 0, ...pidsIn(watched.stderr())])]
}

const journal = async () => (await readdir(join(home, 'run'))).filter((name) => name.endsWith('.json'))

describe('a process of the local environment', () => {
  it('gets exactly the environment and working directory of the request', async () => {
    const cwd = join(home, 'a b')
    await mkdir(cwd)
    const script = 'console.log(JSON.stringify({ env: process.env, cwd: process.cwd() }))'
    const watched = await start(open(), node(['-e', script], { cwd, env: { A: 'é', EMPTY: '' } }))
    await watched.process.exited
    expect(JSON.parse(watched.stdout())).toEqual({ env: { A: 'é', EMPTY: '' }, cwd })
  })

  it('takes variables that are called like members of a prototype', async () => {
    const odd = JSON.parse('{"__proto__":"p","constructor":"c"}')
    const watched = await start(open(), { program: '/usr/bin/env', args: [], env: odd, label: 'the test' })
    await watched.process.exited
    expect(watched.stdout().trim().split('\n').sort()).toEqual(['__proto__=p', 'constructor=c'])
  })

  it('takes input, and says when it is over', async () => {
    const watched = await start(open(), node(['-e', 'process.stdin.pipe(process.stdout)']))
    await watched.process.write('hello ')
    await watched.process.write(Buffer.from('there'))
    watched.process.closeStdin()
    expect(await watched.process.exited).toEqual({ code: 0, signal: null })
    expect(watched.stdout()).toBe('hello there')
    await expect(watched.process.write('more')).rejects.toBeInstanceOf(ProcessFailedError)
  })

  it('holds a write back while nobody reads, and refuses it when the process goes', async () => {
    const watched = await start(open(), node([fixture('silent.mjs'), '--deaf']))
    const settled: string[] = []
    const write = watched.process.write(Buffer.alloc(4 * 1024 * 1024, 'x')).then(
      () => settled.push('taken'),
      (error: unknown) => settled.push(error instanceof ProcessFailedError ? 'refused' : String(error)),
    )
    await watched.process.terminate()
    await write
    expect(settled).toEqual(['refused'])
  })

  it('reports exit code and signal', async () => {
    const environment = open()
    const byCode = await start(environment, node(['-e', 'process.exit(7)']))
    const bySignal = await start(environment, node(['-e', 'process.kill(process.pid, "SIGKILL")']))
    expect(await byCode.process.exited).toEqual({ code: 7, signal: null })
    expect(await bySignal.process.exited).toEqual({ code: null, signal: 'SIGKILL' })
  })

  it('delivers everything that a process wrote before it ended', async () => {
    const script = 'process.stdout.write("x".repeat(3000000), () => process.exit(0))'
    const watched = await start(open(), node(['-e', script]))
    await watched.process.exited
    expect(watched.stdout()).toHaveLength(3_000_000)
  })

  it('runs a relative program from its working directory, and a bare one from its own PATH', async () => {
    const folder = join(home, 'a b', 'é')
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'tool'), '#!/bin/sh\necho "tool $1"\n')
    await chmod(join(folder, 'tool'), 0o755)
    const environment = open()
    const relative = await start(environment, { program: './tool', args: ['x y'], env: {}, cwd: folder, label: 'a' })
    const onPath = await start(environment, { program: 'tool', args: ['"q"'], env: { PATH: folder }, label: 'b' })
    await Promise.all([relative.process.exited, onPath.process.exited])
    expect([relative.stdout(), onPath.stdout()]).toEqual(['tool x y\n', 'tool "q"\n'])
  })
})

describe('a process that cannot be started', () => {
  const failure = async (request: SpawnRequest): Promise<ProcessFailedError> => {
    const result = await open()
      .spawn(request)
      .catch((error: unknown) => error)
    if (result instanceof ProcessFailedError) return result
    throw new Error('it started')
  }

  it('names a missing program and the working directory', async () => {
    const error = await failure({ ...node([]), program: 'no-such-program', cwd: home })
    expect(error.message).toBe(
      `cannot start 'no-such-program' for the test in ${home}: no such program; check the spelling, and the PATH that the server gets`,
    )
    expect(error.data).toEqual({ program: 'no-such-program', cwd: home, errno: 'ENOENT' })
  })

  it('blames the working directory when that is what is missing', async () => {
    expect((await failure(node([], { cwd: join(home, 'gone') }))).message).toContain('directory does not exist')
    await writeFile(join(home, 'file'), '')
    expect((await failure(node([], { cwd: join(home, 'file') }))).message).toContain('is not a directory')
  })

  it('blames permissions, and the interpreter of a script', async () => {
    await writeFile(join(home, 'plain'), 'text', { mode: 0o644 })
    expect((await failure({ ...node([]), program: join(home, 'plain') })).message).toContain('may not be executed')
    await writeFile(join(home, 'script'), '#!/no/such/interpreter\n', { mode: 0o755 })
    expect((await failure({ ...node([]), program: join(home, 'script') })).message).toContain('interpreter')
  })

  it('refuses a NUL character and an environment that is too large, and shows no argument', async () => {
    for (const request of [node(['secret\0']), node(['secret'], { env: { A: 'x'.repeat(3 * 1024 * 1024) } })]) {
      const error = await failure(request)
      expect(error.message).toMatch(/NUL|too long/)
      expect(`${error.message}${error.stack}${JSON.stringify(error)}${String(error.cause)}`).not.toContain('secret')
    }
  })

  it('is not started at all when the signal fired before, or the environment is closed', async () => {
    const environment = open()
    await expect(environment.spawn(node([], { signal: AbortSignal.abort() }))).rejects.toBeInstanceOf(CancelledError)
    await environment.close()
    await expect(environment.spawn(node([]))).rejects.toBeInstanceOf(ClosedError)
  })
})

describe.skipIf(process.platform === 'win32')('ending a tree', () => {
  const STUBBORN = fixture('stubborn.mjs')
  const shell = `"${process.execPath}" "${STUBBORN}" & wait`

  it('asks with EOF and TERM first', async () => {
    const script = 'process.on("SIGTERM", () => process.exit(42)); setInterval(() => {}, 60000); console.log("up")'
    const watched = await start(open(), node(['-e', script]))
    await eventually(() => expect(watched.stdout()).toContain('up'))
    expect(await watched.process.terminate()).toEqual({ code: 42, signal: null })
  })

  it('kills a shell and a grandchild that ignores EOF and TERM', async () => {
    const environment = open({ termGraceMs: 200 })
    const pids = await startStubborn(environment, sh(shell), 1)
    expect(pids).toHaveLength(2)
    await environment.close()
    expect(pids.filter(isRunning)).toEqual([])
  })

  it('kills a server that ignores everything, and what it started below, in its session and outside', async () => {
    const environment = open({ termGraceMs: 200 })
    const inside = await startStubborn(environment, node([STUBBORN, '--grandchild']), 2)
    const outside = await startStubborn(environment, node([STUBBORN, '--grandchild', '--detached']), 2)
    await environment.close()
    expect([...inside, ...outside].filter(isRunning)).toEqual([])
    expect(environment.running).toBe(0)
  })

  it('ends what a server leaves behind when it ends by itself, and holds it as running until then', async () => {
    const environment = open({ termGraceMs: 100 })
    const watched = await start(environment, node([STUBBORN, '--grandchild', '--leave']))
    await eventually(() => expect(watched.stderr().match(/^pids /gm)).toHaveLength(2))
    watched.process.closeStdin()
    expect(await watched.process.exited).toEqual({ code: 0, signal: null })
    // The pipes of a killed process close a moment before it is gone.
    await eventually(() => expect(environment.running).toBe(0))
    expect(pidsIn(watched.stderr()).filter(isRunning)).toEqual([])
  })

  it.skipIf(!existsSync('/bin/bash'))('also when that one is a job with a group of its own', async () => {
    const environment = open({ termGraceMs: 100 })
    const script = `set -m; "${process.execPath}" "${STUBBORN}" & read line`
    const watched = await start(environment, { ...sh(script), program: '/bin/bash' })
    await eventually(() => expect(pidsIn(watched.stderr())).toHaveLength(1))
    watched.process.closeStdin()
    await watched.process.exited
    await eventually(() => expect(environment.running).toBe(0))
    expect(pidsIn(watched.stderr()).filter(isRunning)).toEqual([])
  })

  it('also when that one holds no pipe', async () => {
    const environment = open({ termGraceMs: 100 })
    const watched = await start(environment, node([STUBBORN, '--grandchild', '--leave', '--quiet']))
    await eventually(() => expect(pidsIn(watched.stderr())).toHaveLength(2))
    watched.process.closeStdin()
    await watched.process.exited
    await eventually(() => expect(pidsIn(watched.stderr()).filter(isRunning)).toEqual([]))
    await eventually(() => expect(environment.running).toBe(0))
  })

  it('is begun once, and answers every caller the same', async () => {
    const environment = open({ termGraceMs: 50 })
    const watched = await start(environment, node([STUBBORN]))
    await eventually(() => expect(watched.stderr()).toContain('pids'))
    const answers = await Promise.all([1, 2, 3].map(() => watched.process.terminate()))
    expect(answers).toEqual(answers.map(() => ({ code: null, signal: 'SIGKILL' })))
    expect(await watched.process.terminate()).toEqual({ code: null, signal: 'SIGKILL' })
  })

  it('does not wait for a daemon that keeps the pipes open, and leaves it alone', async () => {
    const script = `
      const { spawn } = require('node:child_process')
      const middle = 'require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 60000)"], { detached: true, stdio: "inherit" }).unref()'
      const daemon = 'const c = ' + middle.replace('.unref()', '') + '; console.log(c.pid); c.unref()'
      spawn(process.execPath, ['-e', daemon], { stdio: 'inherit' }).on('exit', () => process.exit(0))`
    const watched = await start(open({ termGraceMs: 50 }), node(['-e', script]))
    expect(await watched.process.exited).toEqual({ code: 0, signal: null })
    const daemon = Number(watched.stdout())
    onTestFinished(() => void process.kill(daemon, 'SIGKILL'))
    expect(isRunning(daemon)).toBe(true)
  })

  it('survives a flood of stops and starts without a child or a listener left', async () => {
    const environment = open()
    const before = process.listenerCount('exit')
    const pids: number[] = []
    for (let round = 0; round < 5; round += 1) {
      const all = await Promise.all([1, 2, 3].map(() => start(environment, node([fixture('silent.mjs')]))))
      pids.push(...all.map((watched) => watched.process.pid ?? 0))
      await Promise.all(all.map((watched) => watched.process.terminate()))
    }
    expect(pids.filter(isRunning)).toEqual([])
    await eventually(() => expect(process.listenerCount('exit')).toBe(before))
  })
})

describe('the journal of a running environment', () => {
  it('has an entry before spawn returns, and none when the tree is gone', async () => {
    const environment = open()
    const watched = await start(environment, node([fixture('silent.mjs')], { label: 'notes (environment devbox)' }))
    const entries = await journal()
    expect(entries).toHaveLength(1)
    expect(entries[0]).toMatch(new RegExp(`^${process.pid}-\\d+-${watched.process.pid}\\.json$`))
    await watched.process.terminate()
    await eventually(async () => expect(await journal()).toEqual([]))
  })

  it('keeps nobody from starting servers when it cannot be written', async () => {
    const warnings: Error[] = []
    await writeFile(join(home, 'file'), '')
    const environment = open({ home: join(home, 'file'), onwarning: (warning) => warnings.push(warning) })
    const watched = await start(environment, node(['-e', '']))
    expect(await watched.process.exited).toEqual({ code: 0, signal: null })
    expect(warnings).toHaveLength(1)
    expect(warnings[0]?.message).toContain('orphan journal')
  })
})
