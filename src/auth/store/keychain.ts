import { createRequire } from 'node:module'
import type * as Keyring from '@napi-rs/keyring'
import { CredentialStoreError } from '../../errors.js'

/** The keychain of this user on this machine: small secrets by account. Every method raises `keychain_unavailable`. */
export interface Keychain {
  /** For people. */
  readonly place: string
  find(account: string): Promise<string | undefined>
  put(account: string, secret: string): Promise<void>
}

const SERVICE = 'Reeve Credentials'
/** Milliseconds; the keychain may be asking its user for a password. */
const PATIENCE = 60_000
/** Not the kernel's keyring, which forgets when the machine ends. */
const OPTIONS: Keyring.EntryOptions = { linux: { store: 'secret-service' } }

/**
 * The keychain of macOS, the Secret Service of Linux desktops (GNOME Keyring, KWallet), or the Credential Manager of
 * Windows. Secrets pass within the process: never by a command line.
 */
export class SystemKeychain implements Keychain {
  readonly place = placeOn(process.platform)

  async find(account: string): Promise<string | undefined> {
    const secret = await this.#inTime((keyring, signal) =>
      new keyring.AsyncEntry(SERVICE, account, OPTIONS).getPassword(signal),
    )
    return secret ?? undefined
  }

  async put(account: string, secret: string): Promise<void> {
    await this.#inTime((keyring, signal) =>
      new keyring.AsyncEntry(SERVICE, account, OPTIONS).setPassword(secret, signal),
    )
  }

  async #inTime<T>(work: (keyring: typeof Keyring, signal: AbortSignal) => Promise<T>): Promise<T> {
    const signal = AbortSignal.timeout(PATIENCE)
    try {
      // What has begun is not stopped by the signal, and would hold up whoever waits.
      const late = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      return await Promise.race([work(loaded(), signal), late])
    } catch (cause) {
      throw this.#unavailable(cause)
    }
  }

  #unavailable(cause: unknown): CredentialStoreError {
    const why = cause instanceof Error ? cause.message : String(cause)
    return new CredentialStoreError('keychain_unavailable', `${this.place} cannot be used (${why})`, {
      place: this.place,
      cause,
    })
  }
}

/** Loaded by the first one who wants it: it is native code, and most homes have no use for it. */
function loaded(): typeof Keyring {
  return createRequire(import.meta.url)('@napi-rs/keyring')
}

function placeOn(platform: NodeJS.Platform): string {
  if (platform === 'darwin') return 'the macOS keychain'
  return platform === 'win32' ? 'the Windows Credential Manager' : 'the Secret Service'
}
