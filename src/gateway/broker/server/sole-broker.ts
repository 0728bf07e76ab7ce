import { chmodSync } from 'node:fs'
import Database from 'libsql'

/**
 * Makes this process the one broker of its home, or says that another one is: undefined. What is held is the kernel's
 * lock on a file, by way of SQLite; it ends with the process however that ends, so it is never stale and nobody has to
 * guess whether its holder lives.
 *
 * @throws what SQLite says when the file can't be made or locked
 */
export function becomeSoleBroker(lockFile: string): Disposable | undefined {
  const database = new Database(lockFile)
  try {
    chmodSync(lockFile, 0o600)
    database.exec('PRAGMA busy_timeout = 0')
    database.exec('BEGIN EXCLUSIVE')
    return {
      [Symbol.dispose]: () => {
        if (database.open) database.close()
      },
    }
  } catch (error) {
    database.close()
    if (isBusy(error)) return undefined
    throw error
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')
}
