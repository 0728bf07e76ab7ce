import { CredentialStoreError } from '../../errors.js'
import { type CredentialOwner, ownerText, type StoredCredential, sameOwner } from './credential.js'
import { FileCredentialStore } from './file-store.js'
import { type Keychain, SystemKeychain } from './keychain.js'
import { KeychainSeal } from './seal.js'
import type { CredentialStore, SaveReport } from './store.js'

/**
 * `file`: mode 0600. `keyring`: sealed with a key of the user's keychain. `auto`: `keyring` where there is a keychain, else
 * `file`.
 */
export type StoreMode = 'auto' | 'keyring' | 'file'

export interface HomeStoreOptions {
  readonly mode?: StoreMode
  readonly keychain?: Keychain
  /** Told once: `auto` has no keychain and uses the file. */
  readonly onwarning?: (warning: CredentialStoreError) => void
}

type Where = 'keychain' | 'file'

/**
 * The logins of a home where its configuration wants them (reference: auth, 1.6). Where a login was found first is where it
 * is read, refreshed and written from then on, for the life of the process: what fails there is an error, and never a
 * reason to take an older one from elsewhere, whose refresh token may be used up.
 */
export class HomeCredentialStore implements CredentialStore {
  readonly files: readonly string[]
  readonly #file: FileCredentialStore
  readonly #sealed: FileCredentialStore
  readonly #onwarning: (warning: CredentialStoreError) => void
  /** By owner. */
  readonly #pins = new Map<string, Where>()
  #mode: StoreMode | undefined
  #isWarned = false
  #all: { readonly parts: readonly (readonly StoredCredential[])[]; readonly all: readonly StoredCredential[] } = {
    parts: [],
    all: [],
  }

  constructor(home: string, { mode, keychain = new SystemKeychain(), onwarning = () => {} }: HomeStoreOptions = {}) {
    this.#file = new FileCredentialStore(home)
    this.#sealed = new FileCredentialStore(home, new KeychainSeal(keychain, home))
    this.files = [...this.#file.files, ...this.#sealed.files]
    this.#onwarning = onwarning
    this.#mode = mode
  }

  get mode(): StoreMode {
    return this.#mode ?? 'file'
  }

  get place(): string {
    return this.mode === 'file' ? this.#file.place : this.#sealed.place
  }

  /**
   * Chooses the mode, once for the life of the process, and reads the key that reading will need. False: another one was
   * chosen before, and stays. A keychain that can't be used is told by what wants something of it.
   */
  async choose(mode: StoreMode): Promise<boolean> {
    this.#mode ??= mode
    await this.#asked()
    return this.#mode === mode
  }

  prepare(): Promise<void> {
    return this.#asked()
  }

  all(): readonly StoredCredential[] {
    const { mode } = this
    if (mode === 'file') return this.#file.all()
    if (mode === 'keyring') return this.#sealed.all()
    const [sealed, plain] = [this.#sealedOrNothing(), this.#file.all()]
    const [before, beforePlain] = this.#all.parts
    if (sealed === before && plain === beforePlain) return this.#all.all
    const apart = plain.filter((credential) => !sealed.some((other) => sameOwner(other, credential)))
    this.#all = { parts: [sealed, plain], all: [...sealed, ...apart] }
    return this.#all.all
  }

  find(owner: CredentialOwner): StoredCredential | undefined {
    return this.#storeOf(owner).find(owner)
  }

  async save(credential: StoredCredential): Promise<SaveReport> {
    if (this.mode === 'file') return this.#file.save(credential)
    let report: SaveReport
    try {
      report = await this.#sealed.save(credential)
    } catch (error) {
      if (this.mode !== 'auto' || !isUnavailable(error)) throw error
      this.#pins.set(ownerText(credential), 'file')
      return { ...(await this.#file.save(credential)), warnings: [error] }
    }
    this.#pins.set(ownerText(credential), 'keychain')
    return { ...report, ...(await this.#cleared(credential)) }
  }

  async replace(before: StoredCredential, after: StoredCredential): Promise<boolean> {
    await this.prepare()
    return this.#storeOf(before).replace(before, after)
  }

  /** From both: what is logged out of is nowhere any more. */
  async remove(fits: (credential: StoredCredential) => boolean): Promise<readonly StoredCredential[]> {
    const sealed = await this.#sealed.remove(fits).catch((error: unknown) => {
      if (this.mode !== 'file' || !(error instanceof CredentialStoreError)) throw error
      this.#onwarning(error)
      return []
    })
    const removed = [...sealed, ...(await this.#file.remove(fits))]
    for (const credential of removed) this.#pins.delete(ownerText(credential))
    return removed
  }

  /** What fails here is told by what reads: it knows whether that matters. */
  async #asked(): Promise<void> {
    if (this.mode === 'file') return
    try {
      await this.#sealed.prepare()
    } catch (error) {
      if (!isUnavailable(error)) throw error
    }
  }

  #storeOf(owner: CredentialOwner): FileCredentialStore {
    if (this.mode !== 'auto') return this.mode === 'file' ? this.#file : this.#sealed
    return this.#pinned(owner) === 'file' ? this.#file : this.#sealed
  }

  #pinned(owner: CredentialOwner): Where {
    const name = ownerText(owner)
    const pinned = this.#pins.get(name)
    // A login that another process made since then went to the keychain, and out of the file.
    const isKept = pinned === 'keychain' || (pinned === 'file' && this.#file.find(owner) !== undefined)
    if (pinned !== undefined && isKept) return pinned
    const sealed = this.#sealedOrNothing().filter((credential) => sameOwner(credential, owner))
    const plain = this.#file.find(owner)
    // In both only when it could not be removed from one of them: the later one counts.
    const isSealed = sealed.some(({ loggedInAt }) => plain === undefined || loggedInAt >= plain.loggedInAt)
    const where = isSealed ? 'keychain' : 'file'
    if (isSealed || plain !== undefined) this.#pins.set(name, where)
    return where
  }

  #sealedOrNothing(): readonly StoredCredential[] {
    try {
      return this.#sealed.all()
    } catch (error) {
      // One that is being asked may have it: then it is no time to look elsewhere.
      if (!isUnavailable(error) || error.data?.pending === true || [...this.#pins.values()].includes('keychain'))
        throw error
      if (!this.#isWarned) this.#onwarning(error)
      this.#isWarned = true
      return NOTHING
    }
  }

  async #cleared(saved: StoredCredential): Promise<SaveReport> {
    try {
      await this.#file.remove((other) => sameOwner(other, saved) && other.issuer === saved.issuer)
      return {}
    } catch (error) {
      if (!(error instanceof CredentialStoreError)) throw error
      return { warnings: [error] }
    }
  }
}

const NOTHING: readonly StoredCredential[] = Object.freeze([])

function isUnavailable(error: unknown): error is CredentialStoreError {
  return error instanceof CredentialStoreError && error.code === 'keychain_unavailable'
}
