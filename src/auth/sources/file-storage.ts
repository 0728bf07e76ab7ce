import { randomBytes } from 'node:crypto'
import { copyFile, mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { lock } from 'proper-lockfile'
import { replaceFile } from '../../config/index.js'
import { CredentialStoreError } from '../../errors.js'
import type { AuthStorage } from './auth-storage.js'
import { asRecord } from './claims.js'
import type { StoredAuth } from './stored-auth.js'

const LOCK_WAIT_MS = 60_000
const LOCK_POLL_MS = 50
/** A holder that did not say for so long that it lives is taken for dead. */
const LOCK_STALE_MS = 15_000

/**
 * `auth.json` of a folder: pretty JSON, mode 0600, replaced in one step. A file that can't be parsed is an error when it is
 * read; a save puts it aside first, beside itself, so that nothing in it is lost.
 */
export class FileAuthStorage implements AuthStorage {
  readonly place: string
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
    this.place = join(folder, 'auth.json')
  }

  async load(): Promise<StoredAuth | null> {
    const content = await this.#read()
    if (content === undefined) return null
    const stored = parsed(content)
    if (stored !== undefined) return stored
    throw new CredentialStoreError('credentials_unreadable', 'the credential file is no JSON object', {
      place: this.place,
    })
  }

  async save(stored: StoredAuth): Promise<void> {
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 })
      await this.#putAsideDamaged()
      replaceFile(this.place, `${JSON.stringify(stored, null, 2)}\n`)
    } catch (cause) {
      throw new CredentialStoreError(
        'credentials_unwritable',
        `the credential file cannot be written (${codeOf(cause)})`,
        {
          place: this.place,
          cause,
        },
      )
    }
  }

  async remove(): Promise<void> {
    try {
      await rm(this.place, { force: true })
    } catch (cause) {
      throw new CredentialStoreError(
        'credentials_unwritable',
        `the credential file cannot be removed (${codeOf(cause)})`,
        {
          place: this.place,
          cause,
        },
      )
    }
  }

  async exclusively<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.#lock()
    try {
      return await work()
    } finally {
      await release()
    }
  }

  async #lock(): Promise<() => Promise<void>> {
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 })
      return await lock(this.place, {
        realpath: false,
        stale: LOCK_STALE_MS,
        retries: {
          retries: LOCK_WAIT_MS / LOCK_POLL_MS,
          factor: 1,
          minTimeout: LOCK_POLL_MS,
          maxTimeout: LOCK_POLL_MS,
        },
      })
    } catch (cause) {
      throw new CredentialStoreError(
        'credentials_unwritable',
        `the credential file cannot be locked (${codeOf(cause)})`,
        {
          place: this.place,
          cause,
        },
      )
    }
  }

  async #read(): Promise<string | undefined> {
    try {
      return await readFile(this.place, 'utf8')
    } catch (cause) {
      if (codeOf(cause) === 'ENOENT') return undefined
      throw new CredentialStoreError(
        'credentials_unreadable',
        `the credential file cannot be read (${codeOf(cause)})`,
        {
          place: this.place,
          cause,
        },
      )
    }
  }

  async #putAsideDamaged(): Promise<void> {
    const content = await this.#read()
    if (content === undefined || parsed(content) !== undefined) return
    await copyFile(this.place, join(this.#folder, `auth.json.damaged-${randomBytes(4).toString('hex')}`))
  }
}

function parsed(content: string): StoredAuth | undefined {
  try {
    return asRecord(JSON.parse(content))
  } catch {
    // What the parser says would quote the file.
    return undefined
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'
}
