import { execFile, execFileSync } from 'node:child_process'
import { hostname } from 'node:os'
import { promisify } from 'node:util'
import type { ProcessRow, ProcessTable } from './rows.js'

/** Asks `ps`: macOS and the BSDs. Starts are seconds since the epoch, all that `ps` tells. */
export function psTable(): ProcessTable {
  return { place: `${process.platform} ${hostname()}`, rows, rowsNow }
}

/** Output of `ps -A -o pid=,ppid=,pgid=,stat=,lstart=` in the C locale and UTC. */
export function parsePs(output: string): ProcessRow[] {
  return output.split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line)
    if (match === null) return []
    const [, pid, parent, group, state = '', started] = match
    const start = Date.parse(`${started} UTC`) / 1000
    if (!Number.isFinite(start)) return []
    const zombie = state.startsWith('Z')
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), session: null, start, zombie }]
  })
}

const ARGS = ['-A', '-o', 'pid=,ppid=,pgid=,stat=,lstart=']

async function rows(): Promise<readonly ProcessRow[]> {
  const { stdout } = await promisify(execFile)('ps', ARGS, { ...options(), timeout: 10_000 })
  return parsePs(stdout)
}

function rowsNow(): readonly ProcessRow[] {
  return parsePs(execFileSync('ps', ARGS, { ...options(), timeout: 1000, stdio: ['ignore', 'pipe', 'ignore'] }))
}

/** Locale and time zone would change the text of a start, and so make a process look like another one. */
function options() {
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' }
  return { env, maxBuffer: 64 * 1024 * 1024, encoding: 'utf8' } as const
}
