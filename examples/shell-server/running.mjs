import { spawn } from 'node:child_process'

/** Children that run, each the leader of a group of its own. */
const running = new Set()

/** What the launcher and the command see of this server's variables: its secrets are none of their business. */
const PASSED_ON = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'CODEX_HOME']

/** Starts what the kit says, without a shell in between. */
export function start({ file, args }) {
  const env = Object.fromEntries(
    PASSED_ON.filter((name) => name in process.env).map((name) => [name, process.env[name]]),
  )
  const child = spawn(file, args, { env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  running.add(child)
  child.on('close', () => running.delete(child))
  child.on('error', () => running.delete(child))
  child.stdin.on('error', () => {})
  return child
}

/** Ends a child with everything that it started. */
export function end(child) {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  }
}

export function endAll() {
  for (const child of running) end(child)
}
