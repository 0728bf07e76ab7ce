import { CredentialStoreError } from '../../errors.js'
import { type Keychain, SystemKeychain } from '../store/keychain.js'
import { KeychainSeal } from '../store/seal.js'
import { type AuthStorage, MemoryAuthStorage } from './auth-storage.js'
import { FileAuthStorage } from './file-storage.js'
import type { StoredAuth } from './stored-auth.js'

/** `cli_auth_credentials_store`. `ephemeral`: it lives and dies with the process. */
export type AuthStorageMode = 'auto' | 'keyring' | 'file' | 'ephemeral'

export interface HomeAuthStorageOptions {
  readonly keychain?: Keychain
  /** Told once: `auto` has no keychain and uses the file. */
  readonly onwarning?: (warning: CredentialStoreError) => void
}

/** Where the first-party login of a folder is kept (reference: auth, 4, "Storage"). */
export function authStorage(
  folder: string,
  mode: AuthStorageMode = 'file',
  options: HomeAuthStorageOptions = {},
): AuthStorage {
  if (mode === 'ephemeral') return new MemoryAuthStorage()
  if (mode === 'file') return new FileAuthStorage(folder)
  return new KeychainAuthStorage(folder, mode, options)
}

/**
 * A first-party login sealed with a key of the user's keychain. With `auto` it is one of the file where there is no keychain.
 * Where it was found first is where it stays for the life of the process: what fails there is an error.
 */
class KeychainAuthStorage implements AuthStorage {
  readonly #file: FileAuthStorage
  readonly #sealed: FileAuthStorage
  readonly #mode: 'auto' | 'keyring'
  readonly #onwarning: (warning: CredentialStoreError) => void
  #pin: FileAuthStorage | undefined

  constructor(
    folder: string,
    mode: 'auto' | 'keyring',
    { keychain = new SystemKeychain(), onwarning = () => {} }: HomeAuthStorageOptions,
  ) {
    this.#file = new FileAuthStorage(folder)
    this.#sealed = new FileAuthStorage(folder, new KeychainSeal(keychain, folder))
    this.#mode = mode
    this.#onwarning = onwarning
    if (mode === 'keyring') this.#pin = this.#sealed
  }

  get place(): string {
    return (this.#pin ?? this.#sealed).place
  }

  async load(): Promise<StoredAuth | null> {
    if (this.#pin === this.#sealed || this.#mode === 'keyring') return this.#sealed.load()
    const kept = this.#pin === undefined ? await this.#orNothing(this.#sealed.load()) : null
    if (kept !== null) {
      this.#pin = this.#sealed
      return kept
    }
    const plain = await this.#file.load()
    if (plain !== null) {
      this.#pin = this.#file
      return plain
    }
    // Another process has moved it into the keychain since.
    const moved = this.#pin === undefined ? null : await this.#sealed.load()
    this.#pin = moved === null ? undefined : this.#sealed
    return moved
  }

  /** A refresh stays where the login is; a login, whose place is not known yet, goes to the keychain. */
  async save(stored: StoredAuth): Promise<void> {
    if (this.#pin === this.#file) return this.#file.save(stored)
    try {
      await this.#sealed.save(stored)
    } catch (error) {
      if (this.#pin !== undefined || !isUnavailable(error)) throw error
      this.#onwarning(error)
      await this.#file.save(stored)
      this.#pin = this.#file
      return
    }
    this.#pin = this.#sealed
    await this.#file.remove()
  }

  /** From both: what is logged out of is nowhere any more. */
  async remove(): Promise<void> {
    await this.#sealed.remove()
    await this.#file.remove()
    if (this.#mode === 'auto') this.#pin = undefined
  }

  exclusively<T>(work: () => Promise<T>): Promise<T> {
    return this.#file.exclusively(work)
  }

  async #orNothing(loading: Promise<StoredAuth | null>): Promise<StoredAuth | null> {
    try {
      return await loading
    } catch (error) {
      if (!isUnavailable(error)) throw error
      this.#onwarning(error)
      return null
    }
  }
}

function isUnavailable(error: unknown): error is CredentialStoreError {
  return error instanceof CredentialStoreError && error.code === 'keychain_unavailable'
}
