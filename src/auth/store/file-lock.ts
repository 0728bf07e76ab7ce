import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { errnoOf } from '../../config/index.js'
import { CredentialStoreError } from '../../errors.js'

export const LOCK_FOLDER = 'oauth-locks'

/** Milliseconds to wait for a lock (reference: auth, 1.7). */
const WAIT_MS = 60_000
const POLL_MS = 25

/**
 * Runs `work` while no other process of the home holds the lock of that name.
 *
 * The lock is one of the system, by way of SQLite: it ends with its holder, however that ends, and never before. Locks that
 * are told by the age of a file can do neither: whoever was suspended or slow has lost them without knowing, and two who find
 * an old one can both take it. Here either would send one refresh token twice, which servers take for theft.
 *
 * @throws CredentialStoreError `credentials_locked`, `credentials_unwritable`, and what `work` throws
 */
export async function withFileLock<T>(
  home: string,
  name: string,
  work: () => T | Promise<T>,
  waitMs = WAIT_MS,
): Promise<T> {
  const release = await acquire(join(home, LOCK_FOLDER), `${name}.lock`, waitMs)
  try {
    return await work()
  } finally {
    release()
  }
}

async function acquire(folder: string, name: string, waitMs: number): Promise<() => void> {
  const place = join(folder, name)
  // Loaded by the first one to lock: listing servers needs no lock, and must be fast.
  const { default: Database } = await import('libsql')
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    // The file stays: whoever removed it would take the lock away from those who have it open.
    const lock = new Database(place)
    try {
      await begin(lock, place, performance.now() + waitMs)
      return () => void lock.close()
    } catch (error) {
      lock.close()
      throw error
    }
  } catch (cause) {
    if (cause instanceof CredentialStoreError) throw cause
    const text = `${place} cannot be locked (${errnoOf(cause) ?? String(cause)})`
    throw new CredentialStoreError('credentials_unwritable', text, { place, cause })
  }
}

async function begin(lock: { exec(sql: string): unknown }, place: string, until: number): Promise<void> {
  for (;;) {
    try {
      lock.exec('BEGIN EXCLUSIVE')
      return
    } catch (cause) {
      if (errnoOf(cause) !== 'SQLITE_BUSY') throw cause
      if (performance.now() >= until)
        throw new CredentialStoreError('credentials_locked', `another process holds ${place}`, { place, cause })
    }
    await wait(POLL_MS)
  }
}
