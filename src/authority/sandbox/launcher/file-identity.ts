import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import type { Fault } from './finding.js'

/** A program file as it is now. What was found out about it holds for as long as `identity` stays. */
export interface ProgramFile {
  /** Where the path leads once every link is followed. */
  readonly path: string
  /** Path, device, inode, size and time of the last change. */
  readonly identity: string
}

/** Looks at the file behind an absolute path; nothing is run. */
export async function programFile(named: string): Promise<ProgramFile | Fault> {
  if (!isAbsolute(named)) return { fault: 'not_absolute', reason: `${JSON.stringify(named)} is no absolute path` }
  if (named.includes('\0')) return { fault: 'missing', reason: 'no path holds a NUL' }
  try {
    return await look(named)
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    return {
      fault: 'missing',
      reason:
        'code' in error && error.code === 'ENOENT' ? 'there is no such file' : `it can't be read: ${error.message}`,
    }
  }
}

async function look(named: string): Promise<ProgramFile | Fault> {
  const bytes = await realpath(named, { encoding: 'buffer' })
  const path = bytes.toString('utf8')
  if (!Buffer.from(path).equals(bytes)) return { fault: 'not_utf8', reason: 'it leads to a path that is no UTF-8' }
  const file = await stat(path, { bigint: true })
  if (!file.isFile()) return { fault: 'not_a_file', reason: 'it is no file' }
  if (!(await isExecutable(path))) return { fault: 'not_executable', reason: 'it may not be executed' }
  return { path, identity: JSON.stringify([path, ...[file.dev, file.ino, file.size, file.mtimeNs].map(String)]) }
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}
