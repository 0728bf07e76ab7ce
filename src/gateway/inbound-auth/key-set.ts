import type { JSONWebKeySet, JWTHeaderParameters } from 'jose'
import { issuerMetadata, jsonDocument, type OAuthHttp } from '../../auth/index.js'
import { OAuthError, type ReeveError } from '../../errors.js'

export interface KeySetOptions {
  readonly issuer: string
  /** Default: as the issuer's metadata says. */
  readonly url?: string
  readonly http: OAuthHttp
  readonly limits?: Partial<KeySetLimits>
  /** Milliseconds that only go forward, whatever the clock of the machine does. */
  readonly now?: () => number
  /** The keys could not be had, and the last ones are still used; once for each outage. */
  readonly onWarning?: (warning: Error) => void
}

/** Milliseconds. */
export interface KeySetLimits {
  /** After this time the keys are looked at again. */
  readonly freshMs: number
  /** Keys of this age are used no longer, whatever the issuer's fault is. */
  readonly staleMs: number
  /** Between two looks, whatever tokens name as their key. */
  readonly cooldownMs: number
}

export const KEY_SET_LIMITS: KeySetLimits = Object.freeze({
  freshMs: 10 * 60_000,
  staleMs: 60 * 60_000,
  cooldownMs: 30_000,
})

/** Keys of one issuer; more is no key set. */
const MOST_KEYS = 100

interface Held {
  readonly find: LocalKeys
  readonly at: number
}

type LocalKeys = Awaited<ReturnType<typeof localKeys>>
type PublicKey = Awaited<ReturnType<LocalKeys>>

/**
 * The public keys of an issuer (RFC 7517), as it publishes them now: a key that is not known makes us look again, once in a
 * while. While the issuer can't be reached the last keys count, for a bounded time.
 */
export class KeySet {
  readonly #options: KeySetOptions
  readonly #limits: KeySetLimits
  readonly #now: () => number
  #held: Held | undefined
  #failure: { readonly error: unknown; readonly at: number } | undefined
  #triedAt = Number.NEGATIVE_INFINITY
  #loading: Promise<void> | undefined

  constructor(options: KeySetOptions) {
    this.#options = options
    this.#limits = { ...KEY_SET_LIMITS, ...options.limits }
    this.#now = options.now ?? (() => performance.now())
  }

  /**
   * The key that a token says it was signed with.
   *
   * @throws UnknownKeyError there is none; OAuthError and others when no usable keys can be had
   */
  async find(header: JWTHeaderParameters): Promise<PublicKey> {
    const isNew = await this.#freshen()
    const found = await this.#lookUp(header)
    if (found !== undefined) return found
    // The issuer may have begun to use another one.
    if (!isNew && (await this.#reload())) {
      const rotated = await this.#lookUp(header)
      if (rotated !== undefined) return rotated
    }
    throw new UnknownKeyError()
  }

  /** Looks at the keys now, for those who want to know whether that works. Resolves to how many there are. */
  async check(): Promise<number> {
    return (await loadKeys(this.#options)).keys.length
  }

  /** Has usable keys ready. True when they were looked at just now. */
  async #freshen(): Promise<boolean> {
    const held = this.#usable()
    if (held !== undefined) {
      // Nobody waits for that: an issuer that is slow or gone must not slow those who are known already.
      if (this.#now() - held.at >= this.#limits.freshMs) void this.#reload()
      return false
    }
    const isNew = await this.#reload()
    if (this.#usable() !== undefined) return isNew
    throw this.#failure?.error ?? unreachable(this.#options.issuer)
  }

  #usable(): Held | undefined {
    const held = this.#held
    return held !== undefined && this.#now() - held.at < this.#limits.staleMs ? held : undefined
  }

  /** False where it was tried too lately, or in vain. */
  async #reload(): Promise<boolean> {
    if (this.#loading === undefined) {
      if (this.#now() - this.#triedAt < this.#limits.cooldownMs) return false
      this.#triedAt = this.#now()
      this.#loading = this.#load().finally(() => {
        this.#loading = undefined
      })
    }
    const before = this.#held
    await this.#loading
    return this.#held !== before
  }

  /** Never rejects: what there was stays, as long as it may. */
  async #load(): Promise<void> {
    try {
      const find = await localKeys(await loadKeys(this.#options))
      this.#held = { find, at: this.#now() }
      this.#failure = undefined
    } catch (error) {
      if (this.#failure === undefined) this.#options.onWarning?.(asError(error))
      this.#failure = { error, at: this.#now() }
    }
  }

  async #lookUp(header: JWTHeaderParameters): Promise<PublicKey | undefined> {
    const held = this.#usable()
    if (held === undefined) return undefined
    const { errors } = await import('jose')
    try {
      return await held.find(header)
    } catch (error) {
      // Several may fit a token that names none; it is not tried which one does.
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
        return undefined
      throw error
    }
  }
}

/** The issuer publishes no key that a token could be checked with. */
export class UnknownKeyError extends Error {}

async function localKeys(keys: JSONWebKeySet) {
  const { createLocalJWKSet } = await import('jose')
  return createLocalJWKSet(keys)
}

async function loadKeys({ issuer, url, http }: KeySetOptions): Promise<JSONWebKeySet> {
  const place = url ?? (await issuerMetadata(http, issuer)).keySetUrl
  if (place === undefined)
    throw new OAuthError('oauth_invalid_metadata', `${issuer} publishes no keys`, { place: issuer })
  const { keys } = await jsonDocument({ http, url: place })
  const usable = Array.isArray(keys) ? keys.filter(isPublicKey) : []
  if (usable.length > 0 && usable.length <= MOST_KEYS) return { keys: usable }
  const why = usable.length === 0 ? 'no public keys' : `more than ${MOST_KEYS} keys`
  throw new OAuthError('oauth_invalid_metadata', `the key set of ${issuer} holds ${why}`, { place: issuer })
}

/** Symmetric keys are none that anybody could publish. One strange entry does not spoil the others. */
function isPublicKey(key: unknown): key is JSONWebKeySet['keys'][number] {
  if (typeof key !== 'object' || key === null || !('kty' in key)) return false
  const { kty } = key
  return (kty === 'RSA' || kty === 'EC' || kty === 'OKP') && !('d' in key)
}

function unreachable(issuer: string): ReeveError {
  return new OAuthError('oauth_unreachable', `the keys of ${issuer} can't be had`, { place: issuer })
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
