import { randomBytes } from 'node:crypto'
import { copyFile, mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../../config/index.js'
import { CredentialStoreError } from '../../errors.js'
import { withFileLock } from '../store/file-lock.js'
import type { Seal } from '../store/seal.js'
import type { AuthStorage } from './auth-storage.js'
import { asRecord } from './claims.js'
import type { StoredAuth } from './stored-auth.js'

/**
 * `auth.json` of a folder: pretty JSON, mode 0600, replaced in one step. A file that can't be parsed is an error when it is
 * read; a save puts it aside first, beside itself, so that nothing in it is lost. With a seal it is `auth.sealed.json`.
 */
export class FileAuthStorage implements AuthStorage {
  readonly place: string
  readonly #folder: string
  readonly #seal: Seal | undefined

  constructor(folder: string, seal?: Seal) {
    this.#folder = folder
    this.#seal = seal
    this.place = join(folder, seal === undefined ? 'auth.json' : 'auth.sealed.json')
  }

  async load(): Promise<StoredAuth | null> {
    const content = await this.#read()
    if (content === undefined) return null
    await this.#seal?.prepare(content)
    const stored = this.#parsed(content)
    if (stored !== undefined) return stored
    const how = this.#seal === undefined ? 'is no JSON object' : 'is damaged, or the key of another keychain sealed it'
    throw new CredentialStoreError('credentials_unreadable', `the credential file ${how}`, { place: this.place })
  }

  async save(stored: StoredAuth): Promise<void> {
    await this.#seal?.ready()
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 })
      await this.#putAsideDamaged()
      const text = `${JSON.stringify(stored, null, 2)}\n`
      replaceFile(this.place, this.#seal === undefined ? text : this.#seal.close(text))
    } catch (cause) {
      if (cause instanceof CredentialStoreError) throw cause
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

  /** The lock is one of the system: it ends with the process that holds it, and not with its patience. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    return withFileLock(this.#folder, 'session', work)
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
    if (content !== undefined) await this.#seal?.prepare(content)
    if (content === undefined || this.#parsed(content) !== undefined) return
    await copyFile(this.place, `${this.place}.damaged-${randomBytes(4).toString('hex')}`)
  }

  #parsed(content: string): StoredAuth | undefined {
    const open = this.#seal === undefined ? content : this.#seal.open(content)
    return open === undefined ? undefined : parsed(open)
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
