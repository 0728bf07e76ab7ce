// Processes of the bench: started in a group of their own, measured as a tree, ended by their own id.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname } from 'node:path'

/** Runs `command` with a clean environment. `failed` rejects if it ends before `stop` is called. */
export function startProcess([program, ...args], { cwd, env }) {
  const child = spawn(program, args, {
    cwd,
    env: { PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`, HOME: cwd, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  })
  let tail = ''
  child.stderr.on('data', (chunk) => {
    tail = (tail + chunk).slice(-2000)
  })
  let stopping = false
  const ended = once(child, 'exit')
  const failed = ended.then(([code, signal]) => {
    if (!stopping) throw new Error(`${program} ${args.join(' ')} ended with ${signal ?? code}\n${tail}`)
  })
  failed.catch(() => {})
  const killTree = () => {
    const tree = treeOf(child.pid)
    kill(-child.pid)
    for (const pid of tree) kill(pid)
  }
  process.once('exit', killTree)
  return {
    pid: child.pid,
    failed,
    async stop() {
      stopping = true
      process.off('exit', killTree)
      killTree()
      await ended.catch(() => {})
    },
  }
}

/** Resident megabytes of a process, and of the process with all that it started. Undefined where /proc is not. */
export function residentMegabytes(pid) {
  if (process.platform !== 'linux') return undefined
  const all = [pid, ...treeOf(pid)].map(residentOf)
  return { alone: all[0], tree: all.reduce((sum, each) => sum + each, 0) }
}

/** A port that was free a moment ago. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

function treeOf(root) {
  if (process.platform !== 'linux') return []
  const children = new Map()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const parent = parentOf(Number(name))
    children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  const found = []
  for (const queue = [root]; queue.length > 0; ) {
    const next = children.get(queue.shift()) ?? []
    found.push(...next)
    queue.push(...next)
  }
  return found
}

function parentOf(pid) {
  const stat = readProc(pid, 'stat')
  return Number(stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}

function residentOf(pid) {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readProc(pid, 'status') ?? '')?.[1]
  return Number(kilobytes ?? 0) / 1024
}

/** Undefined when the process is gone. */
function readProc(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return undefined
  }
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  }
}
