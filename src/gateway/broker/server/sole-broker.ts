import { chmodSync } from 'node:fs'
import Database from 'libsql'
import { BrokerError } from '../../../errors.js'

/**
 * Makes this process the one broker of its home, or says that another one is: undefined. What is held is the kernel's
 * lock on a file, by way of SQLite; it ends with the process however that ends, so it is never stale and nobody has to
 * guess whether its holder lives.
 *
 * @throws BrokerError `broker_unreachable` when the file can't be made or locked
 */
export function becomeSoleBroker(lockFile: string): Disposable | undefined {
  const database = opened(lockFile)
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
    throw unusable(lockFile, error)
  }
}

function opened(lockFile: string): InstanceType<typeof Database> {
  try {
    return new Database(lockFile)
  } catch (error) {
    throw unusable(lockFile, error)
  }
}

function unusable(lockFile: string, cause: unknown): BrokerError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new BrokerError('broker_unreachable', `${lockFile} can't be locked: ${reason}`, { place: lockFile, cause })
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')
}
