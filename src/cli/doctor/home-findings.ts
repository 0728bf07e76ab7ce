import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Finding, Severity } from './finding.js'

/** Files of the home that hold what nobody else shall read. */
const PRIVATE = ['state.sqlite', 'credentials.json', join('run', 'gateway-token'), join('run', 'broker.key')]

/** Rights of others on the home and its private files. Nothing on Windows, where rights are no mode bits. */
export async function homeFindings(home: string): Promise<Finding[]> {
  if (process.platform === 'win32') return []
  const found = await Promise.all([folderFindings(home), ...PRIVATE.map((name) => fileFindings(join(home, name)))])
  return found.flat()
}

async function folderFindings(path: string): Promise<Finding[]> {
  const rights = await rightsOf(path)
  if (rights === undefined || (rights & 0o077) === 0) return []
  const mend = `chmod 700 '${path}'`
  return (rights & 0o022) !== 0
    ? [finding('error', 'home_writable', path, `others may change what is in it (${octal(rights)})`, mend)]
    : [finding('warning', 'home_readable', path, `others may look into it (${octal(rights)})`, mend)]
}

async function fileFindings(path: string): Promise<Finding[]> {
  const rights = await rightsOf(path)
  if (rights === undefined || (rights & 0o077) === 0) return []
  return [finding('error', 'file_readable', path, `others may use it (${octal(rights)})`, `chmod 600 '${path}'`)]
}

function finding(severity: Severity, code: string, place: string, message: string, mend: string): Finding {
  return { severity, code, message, place, mend }
}

/** Mode bits; undefined when there is no such file yet. */
async function rightsOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mode & 0o777
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return undefined
    throw error
  }
}

const octal = (rights: number): string => rights.toString(8).padStart(3, '0')
