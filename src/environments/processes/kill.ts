import { execFileSync } from 'node:child_process'
import type { ProcessIdentity, ProcessTable } from './rows.js'

/** What became of a signal: nobody was there, or the system refused it (another user's process). */
export type KillOutcome = 'sent' | 'gone' | 'refused'

/**
 * Signals one process if it still is the one that is meant. Where the table can't tell at once (other than Linux) the
 * rows that named it must be fresh. Windows knows no TERM: there the process is ended with what it started, on KILL only.
 */
export function killIdentified(
  { pid, start }: ProcessIdentity,
  signal: 'SIGTERM' | 'SIGKILL',
  table: ProcessTable,
  platform: NodeJS.Platform = process.platform,
): KillOutcome {
  if (table.rowOf !== undefined && table.rowOf(pid)?.start !== start) return 'gone'
  if (platform === 'win32') return signal === 'SIGKILL' ? killTreeWindows(pid) : 'sent'
  return send(pid, signal)
}

/** Signals a process group. The caller knows that the number still is its own. */
export function killGroup(leader: number, signal: 'SIGTERM' | 'SIGKILL'): KillOutcome {
  return send(-leader, signal)
}

export function groupExists(leader: number): boolean {
  return send(-leader, 0) !== 'gone'
}

/** `taskkill /T /F`: the process and everything below it by parent links. Blocks for the time that takes. */
export function killTreeWindows(pid: number): KillOutcome {
  try {
    execFileSync('taskkill', ['/PID', String(pid), '/T', '/F'], { windowsHide: true, stdio: 'ignore', timeout: 5000 })
    return 'sent'
  } catch {
    return 'gone'
  }
}

function send(target: number, signal: 'SIGTERM' | 'SIGKILL' | 0): KillOutcome {
  // -1 would address every process of this user, 0 our own group.
  if (!Number.isSafeInteger(target) || (target >= -1 && target <= 1)) return 'refused'
  try {
    process.kill(target, signal)
    return 'sent'
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH' ? 'gone' : 'refused'
  }
}
