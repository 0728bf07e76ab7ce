import { createHash } from 'node:crypto'
import type { ClientProfile } from '../../connections/index.js'
import { ClosedError, InvalidArgumentsError, LimitExceededError } from '../../errors.js'
import type { JsonValue } from '../../protocol/index.js'
import { canonicalText } from '../bridge/canonical.js'
import { shareOf } from '../share.js'
import type { ModernLimits } from './limits.js'

/** What can be kept on the shelf. */
export interface Closable {
  close(): Promise<void>
}

export interface ThreadLease<T extends Closable> {
  readonly thread: T
  release(): void
}

interface Entry<T extends Closable> {
  readonly principal: string
  readonly opening: Promise<T>
  users: number
  /** Since when nobody uses it; meaningless while somebody does. */
  idleSince: number
  timer: NodeJS.Timeout | undefined
}

/**
 * The threads of stateless clients: one for each principal and profile, shared by all requests that say the same of
 * themselves, closed when none came for a while.
 */
export class ThreadShelf<T extends Closable> {
  readonly #open: (principal: string, profile: ClientProfile) => Promise<T>
  readonly #limits: Pick<ModernLimits, 'threads' | 'threadIdleMs'>
  readonly #onFault: (error: unknown) => void
  readonly #entries = new Map<string, Entry<T>>()
  readonly #closings = new Set<Promise<void>>()
  #closed = false

  constructor(
    open: (principal: string, profile: ClientProfile) => Promise<T>,
    limits: Pick<ModernLimits, 'threads' | 'threadIdleMs'>,
    onFault: (error: unknown) => void,
  ) {
    this.#open = open
    this.#limits = limits
    this.#onFault = onFault
  }

  /**
   * @throws LimitExceededError all threads, or the share of this principal, are in use
   * @throws ClosedError
   */
  async lease(principal: string, profile: ClientProfile): Promise<ThreadLease<T>> {
    if (this.#closed) throw new ClosedError('the gateway')
    const slot = slotOf(principal, profile)
    const entry = this.#entries.get(slot) ?? this.#add(slot, principal, profile)
    entry.users += 1
    clearTimeout(entry.timer)
    try {
      const thread = await entry.opening
      return { thread, release: once(() => this.#release(slot, entry)) }
    } catch (error) {
      if (this.#entries.get(slot) === entry) this.#entries.delete(slot)
      throw error
    }
  }

  /** Resolves when every thread is gone. */
  async close(): Promise<void> {
    this.#closed = true
    for (const [slot, entry] of [...this.#entries]) this.#remove(slot, entry)
    await Promise.all(this.#closings)
  }

  #add(slot: string, principal: string, profile: ClientProfile): Entry<T> {
    const { threads } = this.#limits
    const own = [...this.#entries].filter(([, entry]) => entry.principal === principal)
    if (own.length >= shareOf(threads, principal)) this.#makeRoom(own)
    else if (this.#entries.size >= threads) this.#makeRoom([...this.#entries])
    const opening = this.#open(principal, profile)
    const entry: Entry<T> = { principal, opening, users: 0, idleSince: 0, timer: undefined }
    this.#entries.set(slot, entry)
    return entry
  }

  #makeRoom(among: readonly (readonly [slot: string, entry: Entry<T>])[]): void {
    const [longest] = among.filter(([, { users }]) => users === 0).sort(([, a], [, b]) => a.idleSince - b.idleSince)
    if (longest === undefined)
      throw new LimitExceededError('the number of different clients at once', this.#limits.threads)
    this.#remove(...longest)
  }

  #release(slot: string, entry: Entry<T>): void {
    entry.users -= 1
    if (entry.users > 0 || this.#entries.get(slot) !== entry) return
    entry.idleSince = performance.now()
    entry.timer = setTimeout(() => this.#remove(slot, entry), this.#limits.threadIdleMs)
    entry.timer.unref()
  }

  #remove(slot: string, entry: Entry<T>): void {
    clearTimeout(entry.timer)
    this.#entries.delete(slot)
    const closing = entry.opening
      .then(
        (thread) => thread.close(),
        () => undefined,
      )
      .catch(this.#onFault)
      .finally(() => this.#closings.delete(closing))
    this.#closings.add(closing)
  }
}

/** Which thread a request is for: the principal, and everything that servers are told of the client. */
function slotOf(principal: string, { clientInfo, capabilities }: ClientProfile): string {
  return createHash('sha256')
    .update(textOf([principal, clientInfo, capabilities]))
    .digest('base64url')
}

function textOf(said: JsonValue): string {
  try {
    return canonicalText(said)
  } catch (error) {
    if (error instanceof RangeError)
      throw new InvalidArgumentsError('what the client says of itself is nested too deep')
    throw error
  }
}

function once(act: () => void): () => void {
  let done = false
  return () => {
    if (!done) act()
    done = true
  }
}
