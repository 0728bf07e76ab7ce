import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import lockfile from 'proper-lockfile'
import { ConfigError } from '../../errors.js'
import { errnoOf } from '../source/read-text.js'

/** A lock that was not touched for so long, in milliseconds, belonged to a process that is gone. */
const STALE_MS = 5_000
/** Waits longer than a stale lock lasts, in steps of about 50 ms. */
const RETRIES = { retries: 160, minTimeout: 40, maxTimeout: 60, factor: 1 }

/**
 * Runs `work` while no other process edits `file`, which need not exist. `work` is synchronous, so the lock cannot be
 * lost in the middle of it.
 *
 * @throws ConfigError `locked`, `unwritable`.
 */
export async function withFileLock<T>(file: string, work: () => T): Promise<T> {
  let lost = false
  const release = await acquire(file, () => {
    lost = true
  })
  try {
    return work()
  } finally {
    if (!lost) await release()
  }
}

async function acquire(file: string, onCompromised: () => void): Promise<() => Promise<void>> {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    return await lockfile.lock(file, { realpath: false, stale: STALE_MS, retries: RETRIES, onCompromised })
  } catch (cause) {
    const code = errnoOf(cause)
    if (code === 'ELOCKED')
      throw new ConfigError('locked', `another process is editing it (${file}.lock)`, { place: file, cause })
    throw new ConfigError('unwritable', `cannot be locked (${code ?? String(cause)})`, { place: file, cause })
  }
}
