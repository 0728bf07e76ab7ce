import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findBwrap } from '../../src/sandbox/command/find-bwrap.js'
import { runSandboxed } from '../../src/sandbox/command/run-command.js'
import { type SandboxCommandLine, sandboxCommandLine } from '../fixtures/sandbox/command-line.js'
import { NO_SANDBOX } from '../fixtures/sandbox/namespaces.js'

type Child = ChildProcessByStdio<Writable, Readable, Readable>

let reeve: SandboxCommandLine
beforeAll(async () => {
  reeve = await sandboxCommandLine()
})
afterAll(() => reeve[Symbol.asyncDispose]())

let ws: string
const started: Child[] = []
beforeEach(async () => {
  ws = await realpath(await mkdtemp(join(tmpdir(), 'reeve-sandbox-ws-')))
})
afterEach(async () => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
  await rm(ws, { recursive: true, force: true, maxRetries: 5 })
})

const special = (kind: string, access: string) => ({ path: { type: 'special', value: { kind } }, access })
const WORKSPACE = {
  type: 'managed',
  file_system: { type: 'restricted', entries: [special('root', 'read'), special('project_roots', 'write')] },
  network: 'restricted',
}
const DISABLED = { type: 'disabled' }

const stateOf = (permissionProfile: unknown) =>
  JSON.stringify({ permissionProfile, sandboxCwd: pathToFileURL(ws).href })

function start(permissionProfile: unknown, script: string): Child {
  const args = [...reeve.args, '--sandbox-state-json', stateOf(permissionProfile), '--', 'sh', '-c', script]
  const child = spawn(reeve.command, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: '/usr/bin:/bin', HOME: ws },
    detached: true,
  })
  started.push(child)
  return child
}

/** Reads until a whole line is there. */
async function line(child: Child): Promise<string> {
  let text = ''
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    text += String(chunk)
    if (text.endsWith('\n')) break
  }
  return text.trim()
}

async function finish(child: Child): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const text = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    text.stdout += String(chunk)
  })
  child.stderr.on('data', (chunk: Buffer) => {
    text.stderr += String(chunk)
  })
  child.stdin.end()
  await once(child, 'close')
  return { code: child.exitCode, ...text }
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

describe.each([
  ['in a sandbox', WORKSPACE, NO_SANDBOX],
  ['without one', DISABLED, process.platform === 'win32' ? 'not on Windows' : undefined],
] as const)('a command %s', (_where, profile, missing) => {
  describe.skipIf(missing !== undefined)(missing ?? 'here', () => {
    it('gets standard input, and its status is ours', async () => {
      const child = start(profile, 'read x; echo "got $x"; echo to stderr >&2; exit 7')
      child.stdin.write('a line\n')
      expect(await finish(child)).toEqual({ code: 7, stdout: 'got a line\n', stderr: 'to stderr\n' })
    })

    it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('gets %s, and may end as it likes', async (signal) => {
      const child = start(profile, `trap 'echo bye; exit 9' ${signal.slice(3)}; echo ready; sleep 1000 & wait`)
      expect(await line(child)).toBe('ready')
      child.kill(signal)
      expect(await finish(child)).toMatchObject({ code: 9, stdout: 'bye\n' })
    })

    it('ended by a signal, says which', async () => {
      const child = start(profile, 'echo ready; exec sleep 1000')
      expect(await line(child)).toBe('ready')
      child.kill('SIGTERM')
      expect((await finish(child)).code).toBe(128 + 15)
    })

    it('is told of a signal whenever it comes', async () => {
      // Often before there is a command; it must never be lost, and a command never be left.
      const script = "trap 'exit 143' TERM; sleep 1000 & wait"
      const codes = await Promise.all(
        [0, 60, 120, 180, 240, 300].map(async (delay) => {
          const child = start(profile, script)
          await new Promise((resolve) => setTimeout(resolve, delay))
          child.kill('SIGTERM')
          await once(child, 'close')
          return child.exitCode ?? child.signalCode
        }),
      )
      for (const code of codes) expect([143, 'SIGTERM']).toContain(code)
    })

    it('leaves nothing running', async () => {
      // Who holds the pipe open would keep `close` away.
      const child = start(profile, 'sleep 1000 & sleep 1000 & echo ready')
      expect(await line(child)).toBe('ready')
      expect((await finish(child)).code).toBe(0)
    })
  })
})

describe.skipIf(NO_SANDBOX !== undefined)(`in a sandbox${NO_SANDBOX === undefined ? '' : ` (${NO_SANDBOX})`}`, () => {
  it('nothing outlives us, not even a process that left its group', async () => {
    const child = start(WORKSPACE, 'setsid sleep 1000 & echo ready; wait')
    expect(await line(child)).toBe('ready')
    child.kill('SIGKILL')
    // The sleeping process holds the pipe until it is gone.
    await once(child, 'close')
  })

  it('keeps protected folders away from two commands at once, and takes its placeholders with it', async () => {
    const long = start(
      WORKSPACE,
      'echo ready; read x; mkdir .git/x 2>/dev/null && echo made; rmdir .git; mkdir .git; ls -d .git',
    )
    expect(await line(long)).toBe('ready')
    const short = await finish(start(WORKSPACE, 'touch .git/x || echo refused'))
    expect(short.stdout).toBe('refused\n')
    expect((await readdir(ws)).sort()).toEqual(['.agents', '.aws', '.codex', '.git'])
    long.stdin.write('go\n')
    const { stdout } = await finish(long)
    expect(stdout).toBe('.git\n')
    expect(await readdir(ws)).toEqual([])
  })

  it('takes away the placeholders of one that was killed, at the next run anywhere', async () => {
    const child = start(WORKSPACE, 'echo ready; read x')
    expect(await line(child)).toBe('ready')
    child.kill('SIGKILL')
    await once(child, 'close')
    expect(await exists(join(ws, '.git'))).toBe(true)
    await mkdir(join(ws, 'other'))
    const other = { path: { type: 'path', path: join(ws, 'other') }, access: 'write' }
    const entries = [special('root', 'read'), other]
    const profile = { ...WORKSPACE, file_system: { ...WORKSPACE.file_system, entries } }
    expect((await finish(start(profile, 'true'))).code).toBe(0)
    expect(await readdir(ws)).toEqual(['other'])
  })

  it('lets no denied file be had under another name, not even by the next command', async () => {
    await mkdir(join(ws, 'sub', 'in'), { recursive: true })
    await writeFile(join(ws, 'sub', 'in', 'key'), 'secret')
    const deny = { path: { type: 'path', path: join(ws, 'sub', 'in', 'key') }, access: 'deny' }
    const { file_system } = WORKSPACE
    const profile = { ...WORKSPACE, file_system: { ...file_system, entries: [...file_system.entries, deny] } }
    const script =
      'mv sub moved; mv sub/in moved; cd sub/in; rm -f key; mv key x; ln key y; chmod 644 key; cat key; cd ../..; cat $(find . -type f)'
    for (const _run of ['one', 'next']) {
      const { stdout } = await finish(start(profile, script))
      expect(stdout).toBe('')
    }
    expect(await readFile(join(ws, 'sub', 'in', 'key'), 'utf8')).toBe('secret')
  })

  it("opens none of the machine's settings for writing, whoever we are", async () => {
    // Opened and not written to.
    const script =
      'for path in /proc/sys/kernel/core_pattern /proc/sys/vm/swappiness; do ( : >> $path ) 2>/dev/null && echo $path; done; cat /proc/sys/vm/swappiness'
    const { stdout } = await finish(start(WORKSPACE, script))
    expect(stdout).toMatch(/^\d+\n$/)
  })

  it('shows no command the key of our broker', async () => {
    const folder = join(ws, '.reeve', 'run')
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'broker.key'), 'key')
    for (const network of ['restricted', 'enabled']) {
      const { stdout, stderr } = await finish(start({ ...WORKSPACE, network }, 'cat .reeve/run/broker.key'))
      expect(stdout).toBe('')
      expect(stderr).toContain('Permission denied')
    }
  })

  it('hands no descriptor of ours to the command', async () => {
    const { stdout } = await finish(start(WORKSPACE, 'ls /proc/self/fd'))
    // The fourth is the folder that `ls` reads; what runs the tests may have left some with high numbers.
    const low = stdout.split('\n').filter((fd) => fd !== '' && Number(fd) < 10)
    expect(low).toEqual(['0', '1', '2', '3'])
  })

  it('writes nothing of ours into a temporary folder that the command may write to', async () => {
    const profile = {
      ...WORKSPACE,
      file_system: {
        ...WORKSPACE.file_system,
        entries: [special('root', 'read'), special('slash_tmp', 'write'), special('project_roots', 'write')],
      },
    }
    const { stdout } = await finish(
      start(
        profile,
        'touch /tmp/reeve-sandbox-*/x; rm -rf /tmp/reeve-sandbox-*; mv /tmp/reeve-sandbox-* /tmp/z; ls /tmp/reeve-sandbox-*',
      ),
    )
    expect(stdout).toContain('denied')
  })
})

describe('the sandbox command', () => {
  const world = { env: {}, stdio: ['ignore', 'inherit', 'inherit'] as const, onSignal: () => () => {} }

  it.each(['win32', 'freebsd'] as const)('runs nothing on %s, whatever the profile', async (platform) => {
    for (const profile of [WORKSPACE, DISABLED]) {
      await expect(runSandboxed({ state: stateOf(profile), command: ['true'] }, world, platform)).rejects.toThrow(
        expect.objectContaining({ code: 'sandbox_unsupported' }),
      )
    }
  })

  it('asks no search path for bubblewrap, and says how to get it', async () => {
    await expect(findBwrap([join(ws, 'bwrap'), ws])).rejects.toThrow(/apt-get install bubblewrap/)
    await writeFile(join(ws, 'bwrap'), '')
    await chmod(join(ws, 'bwrap'), 0o644)
    await writeFile(join(ws, 'other'), '')
    await chmod(join(ws, 'other'), 0o755)
    expect(await findBwrap([join(ws, 'other')])).toBe(join(ws, 'other'))
  })

  it('says in JSON what it refused, and where', async () => {
    const args = [...reeve.args.slice(0, -1), '--json', 'sandbox', '--sandbox-state-json', stateOf({ type: 'zzz' })]
    const child = spawn(reeve.command, [...args, '--', 'true'], { stdio: 'pipe', env: { HOME: ws } })
    started.push(child)
    const { code, stderr } = await finish(child)
    expect(code).toBe(1)
    expect(JSON.parse(stderr)).toEqual({
      error: expect.objectContaining({ code: 'invalid_sandbox_state', place: 'permissionProfile.type' }),
    })
  })
})
