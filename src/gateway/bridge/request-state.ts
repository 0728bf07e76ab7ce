import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { canonicalText } from './canonical.js'

/** What a state belongs to: it is of use to nobody else, and for nothing else. */
export interface StateBinding {
  readonly principal: string
  readonly method: string
  /** Of the request's name or URI, and its arguments. */
  readonly digest: string
}

/** What the next request of the client goes on with. */
export type StateContent =
  /** A call that is held here. */
  | { readonly kind: 'held' }
  /** The state of a modern server, or that of another gateway. */
  | { readonly kind: 'server'; readonly state: string }
  /** A call that ended with the wish for these pages to be visited, and is made again afterwards. */
  | { readonly kind: 'again'; readonly questions: readonly string[] }

export interface OpenedState {
  /** Unique; what is single about single use. */
  readonly id: string
  readonly issuedAt: number
  readonly expiresAt: number
  readonly content: StateContent
}

export type StateFault = 'invalid' | 'expired' | 'foreign' | 'mismatched'

interface Sealed extends OpenedState {
  readonly binding: StateBinding
}

/** The digest of what a repeated request must have in common with the first one. */
export function requestDigest(salient: Parameters<typeof canonicalText>[0]): string {
  return createHash('sha256').update(canonicalText(salient)).digest('base64url')
}

/**
 * Makes and reads `requestState`: encrypted and authenticated (AES-256-GCM) under a key of this gateway, bound to the
 * principal and the request, with an expiry (specification 2026-07-28, multi round-trip requests, server requirements).
 */
export class RequestStates {
  readonly #key: () => Buffer
  readonly #ttlMs: number
  readonly #now: () => number

  /** `key`: 32 bytes. */
  constructor(ttlMs: number, now: () => number, key: () => Buffer) {
    this.#ttlMs = ttlMs
    this.#now = now
    this.#key = key
  }

  seal(binding: StateBinding, content: StateContent): { readonly text: string; readonly opened: OpenedState } {
    const issuedAt = this.#now()
    const opened = { id: randomBytes(16).toString('base64url'), issuedAt, expiresAt: issuedAt + this.#ttlMs, content }
    const sealed: Sealed = { ...opened, binding }
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#key(), iv).setAAD(PURPOSE)
    const body = Buffer.concat([cipher.update(JSON.stringify(sealed), 'utf8'), cipher.final()])
    return { text: PREFIX + Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url'), opened }
  }

  open(text: string, binding: StateBinding): OpenedState | StateFault {
    const sealed = this.#decrypt(text)
    if (sealed === undefined) return 'invalid'
    if (sealed.binding.principal !== binding.principal) return 'foreign'
    if (sealed.binding.method !== binding.method || sealed.binding.digest !== binding.digest) return 'mismatched'
    return sealed.expiresAt <= this.#now() ? 'expired' : sealed
  }

  #decrypt(text: string): Sealed | undefined {
    if (!text.startsWith(PREFIX)) return undefined
    const encoded = text.slice(PREFIX.length)
    const bytes = Buffer.from(encoded, 'base64url')
    // Decoding is lenient: without this, a changed text could still be the same state.
    if (bytes.length <= IV_BYTES + TAG_BYTES || bytes.toString('base64url') !== encoded) return undefined
    const decipher = createDecipheriv('aes-256-gcm', this.#key(), bytes.subarray(0, IV_BYTES))
      .setAAD(PURPOSE)
      .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
    try {
      const body = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()])
      // What was authenticated was written by `seal`.
      return JSON.parse(body.toString('utf8')) as Sealed
    } catch {
      return undefined
    }
  }
}

const PREFIX = 'reeve1.'
const PURPOSE = Buffer.from('reeve request state 1')
const IV_BYTES = 12
const TAG_BYTES = 16
