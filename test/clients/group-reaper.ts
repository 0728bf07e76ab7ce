import { spawn } from 'node:child_process'
import { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'

const SCRIPT = fileURLToPath(new URL('group-reaper.mjs', import.meta.url))

/** Ends process groups when this process ends, however it does: a test run that is killed disposes of nothing. */
class GroupReaper {
  #told: ((line: string) => void) | undefined

  /** The group is this process' to end from now on. Returns what ends that. */
  watch(group: number): () => void {
    this.#told ??= start()
    const told = this.#told
    told(`+${group}`)
    return () => told(`-${group}`)
  }
}

/** Of this process alone. */
export const REAPER = new GroupReaper()

/** It holds nobody up, and a signal to this process' group is not for it. */
function start(): (line: string) => void {
  const child = spawn(process.execPath, [SCRIPT], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  child.unref()
  child.stdin.on('error', () => {})
  if (child.stdin instanceof Socket) child.stdin.unref()
  return (line) => void child.stdin.write(`${line}\n`)
}
