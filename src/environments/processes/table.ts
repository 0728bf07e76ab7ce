import { linuxTable } from './linux.js'
import { psTable } from './ps.js'
import type { ProcessTable } from './rows.js'
import { windowsTable } from './windows.js'

/** The processes of this machine, asked as its system is asked. */
export function processTable(platform: NodeJS.Platform): ProcessTable {
  if (platform === 'linux') return linuxTable()
  return platform === 'win32' ? windowsTable() : psTable()
}
