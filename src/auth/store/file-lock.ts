import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { CredentialStoreError } from '../../errors.js'
import { errnoOf } from './write-file.js'

export interface FileLockOptions {
  /** Milliseconds without a sign of life after which the lock of a process that is gone is taken over. */
  readonly staleMs?: number
  /** Milliseconds to wait for it. */
  readonly waitMs?: number
}

/** Longer than a busy machine keeps a process from touching its lock. */
export const STALE_MS = 5_000
/** Reference: auth, 1.7. */
const WAIT_MS = 60_000
const POLL_MS = 50

/**
 * Runs `work` while no other process holds the lock `<file>.lock`; `file` itself need not exist.
 *
 * @throws CredentialStoreError `credentials_locked`, `credentials_unwritable`, and what `work` throws
 */
export async function withFileLock<T>(file: string, options: FileLockOptions, work: () => T | Promise<T>): Promise<T> {
  let lost = false
  const release = await acquire(file, options, () => {
    lost = true
  })
  try {
    return await work()
  } finally {
    // A lock that was taken over belongs to another process now.
    if (!lost) await release().catch(ignoreTakenOver)
  }
}

async function acquire(
  file: string,
  { staleMs = STALE_MS, waitMs = WAIT_MS }: FileLockOptions,
  onCompromised: () => void,
): Promise<() => Promise<void>> {
  // Loaded by the first one to lock: listing servers needs no lock, and must be fast.
  const { default: lockfile } = await import('proper-lockfile')
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    const retries = { retries: Math.ceil(waitMs / POLL_MS), minTimeout: POLL_MS, maxTimeout: POLL_MS, factor: 1 }
    return await lockfile.lock(file, { realpath: false, stale: staleMs, update: staleMs / 5, retries, onCompromised })
  } catch (cause) {
    const code = errnoOf(cause)
    const place = `${file}.lock`
    if (code === 'ELOCKED')
      throw new CredentialStoreError('credentials_locked', `another process holds ${place}`, { place, cause })
    throw new CredentialStoreError('credentials_unwritable', `${place} cannot be made (${code ?? String(cause)})`, {
      place,
      cause,
    })
  }
}

function ignoreTakenOver(error: unknown): void {
  const code = errnoOf(error)
  if (code !== 'ENOTACQUIRED' && code !== 'ERELEASED' && code !== 'ENOENT') throw error
}
