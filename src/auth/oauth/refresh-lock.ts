import { createHash } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { CredentialStoreError } from '../../errors.js'
import { type CredentialOwner, ownerText } from '../store/credential.js'
import { type FileLockOptions, withFileLock } from '../store/file-lock.js'
import { errnoOf, replacePrivateFile } from '../store/write-file.js'

export const LOCK_FOLDER = 'oauth-locks'

export interface RefreshLockOptions extends FileLockOptions {
  /** Milliseconds that a refresh may take at most: what was begun longer ago is over. */
  readonly attemptMs: number
}

/**
 * One refresh of one login at a time, across the processes of a home. The lock tells by a file's age whether its holder is
 * still there, which a process that was suspended can't keep up. So what is under way is noted beside it, with the process
 * that does it: as long as that one lives, nobody else sends the same refresh token, which many servers take for theft.
 */
export class RefreshLock {
  readonly #folder: string
  readonly #options: RefreshLockOptions

  constructor(home: string, options: RefreshLockOptions) {
    this.#folder = join(home, LOCK_FOLDER)
    this.#options = options
  }

  /** Runs `work` alone. It is given what notes that a request is about to go out; the note ends with the work. */
  hold<T>(owner: CredentialOwner, work: (noteAttempt: () => void) => Promise<T>): Promise<T> {
    const name = createHash('sha256').update(ownerText(owner)).digest('hex').slice(0, 32)
    const file = join(this.#folder, name)
    const note = `${file}.attempt`
    return withFileLock(file, this.#options, async () => {
      await this.#otherIsOver(note)
      let noted = false
      try {
        return await work(() => {
          writeNote(note)
          noted = true
        })
      } finally {
        if (noted) rmSync(note, { force: true })
      }
    })
  }

  async #otherIsOver(note: string): Promise<void> {
    while (isUnderWay(note, this.#options.attemptMs)) await wait(100)
  }
}

function writeNote(note: string): void {
  try {
    replacePrivateFile(note, JSON.stringify({ pid: process.pid, host: hostname(), at: Date.now() }))
  } catch (cause) {
    const text = `${note} cannot be written (${errnoOf(cause) ?? String(cause)}): nothing is refreshed that could not be kept`
    throw new CredentialStoreError('credentials_unwritable', text, { place: note, cause })
  }
}

function isUnderWay(note: string, attemptMs: number): boolean {
  const attempt = readNote(note)
  if (attempt === undefined || attempt.pid === process.pid) return false
  // A clock that was set back must not make it endless.
  const age = Math.abs(Date.now() - attempt.at)
  if (age > attemptMs) return false
  return attempt.host !== hostname() || isAlive(attempt.pid)
}

function readNote(note: string): { readonly pid: number; readonly host: string; readonly at: number } | undefined {
  try {
    const { pid, host, at } = JSON.parse(readFileSync(note, 'utf8'))
    return Number.isInteger(pid) && typeof host === 'string' && Number.isFinite(at) ? { pid, host, at } : undefined
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError || errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errnoOf(error) === 'EPERM'
  }
}
