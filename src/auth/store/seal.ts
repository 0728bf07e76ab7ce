import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { mkdirSync, realpathSync } from 'node:fs'
import { CredentialStoreError } from '../../errors.js'
import { withFileLock } from './file-lock.js'
import type { Keychain } from './keychain.js'

/** What lies between the text of a file and what is on the disk. */
export interface Seal {
  /** To be awaited before the first `close` of a save. */
  ready(): Promise<void>
  /** To be awaited before `open` by whoever can wait: asks the keychain where that takes more than is known. */
  prepare(sealed: string): Promise<void>
  /** Never waits. Undefined: it was not closed by this seal, or is damaged. */
  open(sealed: string): string | undefined
  close(text: string): string
}

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Milliseconds after an answer that did not help in which the keychain is not asked again by those who only read. */
const PAUSE = 10_000

/**
 * Seals the files of a home with a key that lies in the user's keychain, and nowhere else. The keychain is asked once a
 * process: its entries are too small for logins on some systems, and too slow to ask for every operation.
 *
 * Every method raises `keychain_unavailable`; `open` also while the keychain is being asked (`data.pending`), since it may ask
 * its user for a password, and nothing else goes on in a process that waits for that.
 */
export class KeychainSeal implements Seal {
  readonly #keychain: Keychain
  readonly #home: string
  #account: string | undefined
  #key: Buffer | undefined
  #failure: { readonly at: number; readonly error: unknown } | undefined
  #asking: Promise<void> | undefined
  /** What the key of the keychain did not open either. */
  #damaged: { readonly at: number; readonly sealed: string } | undefined

  constructor(keychain: Keychain, home: string) {
    this.#keychain = keychain
    this.#home = home
  }

  /** Reads the key; one question for all who ask meanwhile. */
  fetch(): Promise<void> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  /** With the key that the keychain has now, or a new one, which one process makes for all. */
  async ready(): Promise<void> {
    await this.fetch()
    if (this.#key === undefined) await withFileLock(this.#home, 'keychain', () => this.#make())
  }

  async prepare(sealed: string): Promise<void> {
    const bytes = bytesOf(sealed)
    if (bytes === undefined || this.#opened(bytes) !== undefined || this.#isKnownAsDamaged(sealed)) return
    this.#throwFailure()
    // Somebody may have begun anew with another key.
    await this.fetch()
    if (this.#opened(bytes) === undefined) this.#damaged = { at: performance.now(), sealed }
  }

  open(sealed: string): string | undefined {
    const bytes = bytesOf(sealed)
    if (bytes === undefined) return undefined
    const opened = this.#opened(bytes)
    if (opened !== undefined || this.#isKnownAsDamaged(sealed)) return opened
    this.#throwFailure()
    // What comes of it is told to the next one who reads.
    this.prepare(sealed).catch(() => undefined)
    throw this.#pending()
  }

  close(text: string): string {
    if (this.#key === undefined) throw new Error('a seal is made ready before it is used')
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(CIPHER, this.#key, nonce).setAAD(Buffer.from(this.#named()))
    const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    const sealed = Buffer.concat([nonce, cipher.getAuthTag(), data]).toString('base64')
    return `${JSON.stringify({ version: 1, sealed_by: 'keychain', sealed }, null, 2)}\n`
  }

  async #make(): Promise<void> {
    // An answer that others wait for may be from before another process has put one.
    await this.#ask()
    if (this.#key !== undefined) return
    const key = randomBytes(KEY_BYTES)
    try {
      await this.#keychain.put(this.#named(), key.toString('base64'))
    } catch (error) {
      throw this.#failed(error)
    }
    this.#key = key
  }

  async #ask(): Promise<void> {
    try {
      this.#take(await this.#keychain.find(this.#named()))
    } catch (error) {
      throw this.#failed(error)
    }
  }

  #opened(bytes: Buffer): string | undefined {
    const key = this.#key
    if (key === undefined) return undefined
    const [nonce, tag, data] = [
      bytes.subarray(0, NONCE_BYTES),
      bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES),
      bytes.subarray(NONCE_BYTES + TAG_BYTES),
    ]
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
    try {
      decipher.setAAD(Buffer.from(this.#named())).setAuthTag(tag)
      return Buffer.concat([decipher.update(data), decipher.final()]).toString('utf8')
    } catch {
      // The only thing that fails here is the proof that it is what was sealed.
      return undefined
    }
  }

  #isKnownAsDamaged(sealed: string): boolean {
    return this.#damaged?.sealed === sealed && performance.now() - this.#damaged.at < PAUSE
  }

  #throwFailure(): void {
    const { at, error } = this.#failure ?? {}
    if (at !== undefined && performance.now() - at < PAUSE) throw error
  }

  #pending(): CredentialStoreError {
    const { place } = this.#keychain
    return new CredentialStoreError('keychain_unavailable', `${place} is being asked: try again`, {
      place,
      data: { pending: true },
    })
  }

  #take(secret: string | undefined): void {
    this.#failure = undefined
    if (secret === undefined) {
      this.#key = undefined
      return
    }
    const key = Buffer.from(secret, 'base64')
    if (key.length !== KEY_BYTES) {
      const { place } = this.#keychain
      const text = `${place} holds something else under the name of Reeve: delete '${this.#named()}' there`
      throw new CredentialStoreError('keychain_unavailable', text, { place })
    }
    this.#key = key
  }

  #failed(error: unknown): unknown {
    this.#failure = { at: performance.now(), error }
    return error
  }

  /** One key a home, whatever name of the folder it is opened by. */
  #named(): string {
    if (this.#account === undefined) {
      mkdirSync(this.#home, { recursive: true, mode: 0o700 })
      const digest = createHash('sha256').update(realpathSync(this.#home)).digest('hex')
      this.#account = `home|${digest.slice(0, 16)}`
    }
    return this.#account
  }
}

function bytesOf(text: string): Buffer | undefined {
  let read: unknown
  try {
    read = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof read !== 'object' || read === null || !('sealed' in read) || !('version' in read)) return undefined
  if (read.version !== 1 || typeof read.sealed !== 'string') return undefined
  const bytes = Buffer.from(read.sealed, 'base64')
  return bytes.length >= NONCE_BYTES + TAG_BYTES ? bytes : undefined
}
