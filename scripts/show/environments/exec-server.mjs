// The real executor, as a process that can be killed and started again where it was.
import { spawn } from 'node:child_process'
import { mkdir, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { root } from '../gateway/commands.mjs'

const READY_MS = 30_000
const REAPER = join(root, 'test', 'clients', 'group-reaper.mjs')

/** `home`: a folder of its own, made when it is not there. */
export async function startExecServer(home) {
  await mkdir(home, { recursive: true })
  const program = await codexProgram()
  let running = await listen(program, home, 'ws://127.0.0.1:0')
  const { url } = running
  const kill = async () => {
    killGroup(running.child)
    await running.exited
  }
  return {
    url,
    kill,
    stop: kill,
    async restart() {
      running = await listen(program, home, url)
    },
  }
}

async function listen(program, home, at) {
  const child = spawn(program, ['exec-server', '--listen', at], {
    cwd: home,
    env: { PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`, HOME: home, CODEX_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let stderr = ''
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  const exited = new Promise((resolve) => child.once('close', resolve))
  endWithThisProcess(child, exited)
  const url = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`exec-server did not listen\n${stderr}`)), READY_MS)
    child.stdout.once('data', (line) => resolve(line.toString().trim()))
    child.once('error', reject)
    exited
      .then((code) => reject(new Error(`exec-server ended with ${code}\n${stderr}`)))
      .finally(() => clearTimeout(timer))
  })
  return { child, url, exited }
}

/** Also when this one is killed, and can end nothing any more. */
function endWithThisProcess({ pid }, exited) {
  if (pid === undefined) return
  const reaper = spawn(process.execPath, [REAPER], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  reaper.stdin.on('error', () => {})
  reaper.stdin.write(`+${pid}\n`)
  exited.then(() => reaper.stdin.end(`-${pid}\n`))
}

function killGroup({ pid }) {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  }
}

/** In the platform package: a folder whose only entry is named after the target. */
export async function codexProgram() {
  const platform = `codex-${process.platform}-${process.arch}`
  const vendor = join(root, '.cache', 'peers', 'codex', 'node_modules', '@openai', platform, 'vendor')
  const [target] = await readdir(vendor)
  return join(vendor, target, 'bin', 'codex')
}
