import type { StoredAuth } from './stored-auth.js'

/** Where a login is kept: a file, a keychain, or this process alone. */
export interface AuthStorage {
  /** For error texts: a path, or a name. */
  readonly place: string
  /** Rejects with `CredentialStoreError` for what is there and can't be read: that is not "signed out". */
  load(): Promise<StoredAuth | null>
  /** Durable when it resolves; on failure the old record is still there. */
  save(stored: StoredAuth): Promise<void>
  remove(): Promise<void>
  /** Runs `work` while no other process that uses this storage runs any. */
  exclusively<T>(work: () => Promise<T>): Promise<T>
}

/** Lives and dies with the process. */
export class MemoryAuthStorage implements AuthStorage {
  readonly place = 'memory'
  #stored: StoredAuth | null = null

  async load(): Promise<StoredAuth | null> {
    return this.#stored
  }

  async save(stored: StoredAuth): Promise<void> {
    this.#stored = Object.freeze({ ...stored })
  }

  async remove(): Promise<void> {
    this.#stored = null
  }

  exclusively<T>(work: () => Promise<T>): Promise<T> {
    return work()
  }
}
