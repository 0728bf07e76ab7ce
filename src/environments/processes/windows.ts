import { execFile } from 'node:child_process'
import { hostname } from 'node:os'
import { promisify } from 'node:util'
import type { ProcessRow, ProcessTable } from './rows.js'

/** Asks WMI through PowerShell. Starts are milliseconds since the epoch. */
export function windowsTable(): ProcessTable {
  return { place: `win32 ${hostname()}`, rows }
}

const SCRIPT =
  'Get-CimInstance Win32_Process | Where-Object CreationDate | ForEach-Object ' +
  `{ "$($_.ProcessId) $($_.ParentProcessId) $(([DateTimeOffset]$_.CreationDate).ToUnixTimeMilliseconds())" }`

/** One process a line: pid, parent's pid, start. */
export function parseWindows(output: string): ProcessRow[] {
  return output.split('\n').flatMap((line) => {
    const match = /^\s*(\d+) (\d+) (\d+)\s*$/.exec(line)
    if (match === null) return []
    const [pid, parent, start] = match.slice(1).map(Number) as [number, number, number]
    return [{ pid, parent, start, group: null, session: null, zombie: false }]
  })
}

async function rows(): Promise<readonly ProcessRow[]> {
  const args = ['-NoProfile', '-NonInteractive', '-Command', SCRIPT]
  const options = { windowsHide: true, maxBuffer: 64 * 1024 * 1024, timeout: 20_000 }
  const { stdout } = await promisify(execFile)('powershell.exe', args, options)
  return parseWindows(stdout)
}
