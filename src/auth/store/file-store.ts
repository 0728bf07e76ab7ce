import { readFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { errnoOf, replaceFile } from '../../config/index.js'
import { CredentialStoreError } from '../../errors.js'
import { type CredentialOwner, type StoredCredential, sameOwner } from './credential.js'
import { withFileLock } from './file-lock.js'
import { parseCredentials, serialiseCredentials } from './parse.js'
import type { Seal } from './seal.js'
import type { CredentialStore, SaveReport } from './store.js'

export const CREDENTIALS_FILE = 'credentials.json'
/** The same, sealed with a key of the user's keychain. */
export const SEALED_CREDENTIALS_FILE = 'credentials.sealed.json'

interface Snapshot {
  /** Of the file that was read: another one, or another text in it, has another. */
  readonly version: string
  readonly credentials: readonly StoredCredential[]
}

const NOTHING: Snapshot = { version: '', credentials: [] }

/**
 * Logins in one file of a home, mode 0600. What is read is kept until the file is another one: reads that find nothing
 * new cost one `stat`. Writers hold a lock across processes around the whole read, change and write. With a seal it is
 * another file, which tells nothing to those who have not its key.
 */
export class FileCredentialStore implements CredentialStore {
  readonly place: string
  readonly files: readonly string[]
  readonly #home: string
  readonly #seal: Seal | undefined
  #read: Snapshot = NOTHING

  constructor(home: string, seal?: Seal) {
    this.place = join(home, seal === undefined ? CREDENTIALS_FILE : SEALED_CREDENTIALS_FILE)
    this.files = [this.place]
    this.#home = home
    this.#seal = seal
  }

  async prepare(): Promise<void> {
    const text = this.#seal === undefined || this.#version() === this.#read.version ? undefined : this.#text()
    if (text !== undefined) await this.#seal?.prepare(text)
  }

  all(): readonly StoredCredential[] {
    const version = this.#version()
    if (version !== this.#read.version) this.#read = version === '' ? NOTHING : this.#load(version)
    return this.#read.credentials
  }

  find(owner: CredentialOwner): StoredCredential | undefined {
    return newest(this.all().filter((credential) => sameOwner(credential, owner)))
  }

  save(credential: StoredCredential): Promise<SaveReport> {
    return this.#locked(async () => {
      await this.#seal?.ready()
      await this.prepare()
      const backup = this.#backUpIfCorrupt()
      const others = this.all().filter((other) => !isSameEntry(other, credential))
      this.#write([...others, credential])
      return backup === undefined ? {} : { backup }
    })
  }

  replace(before: StoredCredential, after: StoredCredential): Promise<boolean> {
    return this.#locked(async () => {
      await this.prepare()
      const known = this.all()
      const at = known.findIndex((other) => isSameEntry(other, before))
      const there = known[at]
      if (there === undefined || !isSameState(there, before)) return false
      this.#write(known.with(at, after))
      return true
    })
  }

  remove(fits: (credential: StoredCredential) => boolean): Promise<readonly StoredCredential[]> {
    return this.#locked(async () => {
      await this.prepare()
      const known = this.all()
      const removed = known.filter(fits)
      if (removed.length > 0) this.#write(known.filter((credential) => !removed.includes(credential)))
      return removed
    })
  }

  #locked<T>(work: () => T | Promise<T>): Promise<T> {
    return withFileLock(this.#home, 'store', work)
  }

  /** Empty when there is no file. */
  #version(): string {
    try {
      const found = statSync(this.place, { bigint: true, throwIfNoEntry: false })
      return found === undefined ? '' : `${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`
    } catch (cause) {
      throw this.#unreadable(cause)
    }
  }

  /** Undefined when there is no file. */
  #text(): string | undefined {
    try {
      return readFileSync(this.place, 'utf8')
    } catch (cause) {
      if (errnoOf(cause) === 'ENOENT') return undefined
      throw this.#unreadable(cause)
    }
  }

  #load(version: string): Snapshot {
    const text = this.#text()
    if (text === undefined) return NOTHING
    const open = this.#seal === undefined ? text : this.#seal.open(text)
    const credentials = open === undefined ? undefined : parseCredentials(open)
    if (credentials === undefined) throw this.#corrupt()
    return { version, credentials }
  }

  #write(credentials: readonly StoredCredential[]): void {
    const text = serialiseCredentials(credentials)
    const sealed = this.#seal === undefined ? text : this.#seal.close(text)
    try {
      replaceFile(this.place, sealed)
    } catch (cause) {
      const why = errnoOf(cause) ?? String(cause)
      throw new CredentialStoreError('credentials_unwritable', `${this.place} cannot be written (${why})`, {
        place: this.place,
        cause,
      })
    }
  }

  /** Nothing that was in an unreadable file is lost: the file goes aside, under a name that says what it is. */
  #backUpIfCorrupt(): string | undefined {
    try {
      this.all()
      return undefined
    } catch (error) {
      if (!(error instanceof CredentialStoreError) || error.code !== 'credentials_invalid') throw error
    }
    const backup = `${this.place}.corrupt-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`
    try {
      renameSync(this.place, backup)
    } catch (cause) {
      const text = `${this.place} is damaged and cannot be moved aside (${errnoOf(cause) ?? String(cause)})`
      throw new CredentialStoreError('credentials_unwritable', text, { place: this.place, cause })
    }
    return backup
  }

  #unreadable(cause: unknown): CredentialStoreError {
    const text = `${this.place} cannot be read (${errnoOf(cause) ?? String(cause)})`
    return new CredentialStoreError('credentials_unreadable', text, { place: this.place, cause })
  }

  #corrupt(): CredentialStoreError {
    const how = this.#seal === undefined ? 'is damaged' : 'is damaged, or the key of another keychain sealed it'
    const text = `${this.place} ${how}: nothing in it is used. Log in again, and it is moved aside; or restore it`
    return new CredentialStoreError('credentials_invalid', text, { place: this.place })
  }
}

function newest(credentials: readonly StoredCredential[]): StoredCredential | undefined {
  let found: StoredCredential | undefined
  for (const credential of credentials) {
    if (found === undefined || credential.loggedInAt >= found.loggedInAt) found = credential
  }
  return found
}

function isSameEntry(a: StoredCredential, b: StoredCredential): boolean {
  return sameOwner(a, b) && a.issuer === b.issuer
}

function isSameState(a: StoredCredential, b: StoredCredential): boolean {
  return a.loginId === b.loginId && a.accessToken === b.accessToken && a.refreshToken === b.refreshToken
}
