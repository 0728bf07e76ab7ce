import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import type { ProcessRow, ProcessTable } from './rows.js'

/** Reads `/proc`. Starts are in clock ticks since boot, 10 ms each. */
export function linuxTable(): ProcessTable {
  return { place: place(), rows, rowsNow, rowOf }
}

/** One line of `/proc/<pid>/stat` (proc_pid_stat(5)); undefined when it is none. */
export function parseStat(text: string): ProcessRow | undefined {
  // The second field is the program's name in parentheses, with any character in it: the last `)` ends it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, parent, group, session] = fields
  const pid = Number.parseInt(text, 10)
  const start = Number(fields[START_FIELD])
  if (!Number.isInteger(pid) || !Number.isFinite(start)) return undefined
  return {
    pid,
    start,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    zombie: state === 'Z' || state === 'X',
  }
}

/** Field 22, counted from the third. */
const START_FIELD = 22 - 3

async function rows(): Promise<readonly ProcessRow[]> {
  const numbers = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(numbers.map(readRow))
  return found.filter((row) => row !== undefined)
}

function rowsNow(): readonly ProcessRow[] {
  const numbers = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return numbers.map((pid) => rowOf(Number(pid))).filter((row) => row !== undefined)
}

async function readRow(pid: string): Promise<ProcessRow | undefined> {
  try {
    return parseStat(await readFile(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    // It ended between the listing and the reading.
    return undefined
  }
}

function rowOf(pid: number): ProcessRow | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return undefined
  }
}

/** Boot and pid namespace: a home directory may be shared by containers and machines. */
function place(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
    return `linux ${boot} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return 'linux without /proc'
  }
}
