import { ClosedError, type ReeveError, RpcError } from '../../errors.js'
import { handshakeFault, type Link, openLink } from './link.js'
import type { Connector } from './wire.js'

export interface LinkPoolOptions {
  readonly environment: string
  readonly connector: Connector
  readonly clientName: string
  readonly initializeMs?: number
}

/** A connection that one exchange has to itself until it gives it back. */
export interface BorrowedLink {
  readonly link: Link
  onevent: ((method: string, params: unknown) => void) | undefined
  onlost: ((reason: ReeveError) => void) | undefined
}

/**
 * Connections for requests that stand alone. One exchange each: an executor does the requests of a connection one after
 * the other, and an HTTP exchange can be stopped only by ending its connection (reference: executor-protocol, 1 and 7).
 */
export class LinkPool {
  readonly #options: LinkPoolOptions
  readonly #idle: BorrowedLink[] = []
  readonly #all = new Set<BorrowedLink>()
  readonly #abort = new AbortController()

  constructor(options: LinkPoolOptions) {
    this.#options = options
  }

  /** Raises `EnvironmentError`, `CancelledError`, `ClosedError`. */
  async borrow(signal?: AbortSignal): Promise<BorrowedLink> {
    if (this.#abort.signal.aborted) throw new ClosedError(`environment '${this.#options.environment}'`)
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) if (idle.link.open) return idle
    return this.#open(signal)
  }

  giveBack(borrowed: BorrowedLink): void {
    borrowed.onevent = undefined
    borrowed.onlost = undefined
    if (!borrowed.link.open) return
    if (this.#idle.length < MOST_IDLE && !this.#abort.signal.aborted) this.#idle.push(borrowed)
    else borrowed.link.drop()
  }

  /** One exchange that leaves nothing behind. A connection whose exchange failed half-way is not used again. */
  async use<T>(exchange: (link: Link) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const borrowed = await this.borrow(signal)
    let whole = false
    try {
      const result = await exchange(borrowed.link)
      whole = true
      return result
    } catch (error) {
      whole = error instanceof RpcError
      throw error
    } finally {
      if (whole) this.giveBack(borrowed)
      else borrowed.link.drop()
    }
  }

  /** Ends every connection, whatever goes on there. Later ones are opened anew. */
  drop(reason: ReeveError): void {
    for (const { link } of [...this.#all]) link.drop(reason)
  }

  async close(): Promise<void> {
    this.#abort.abort()
    await Promise.all([...this.#all].map(({ link }) => link.close()))
  }

  /** What cut one connection has often cut the others, which will only be told of it in a moment. */
  #mistrustIdle(reason: ReeveError): void {
    for (const { link } of this.#idle.splice(0)) link.drop(reason)
  }

  async #open(signal: AbortSignal | undefined): Promise<BorrowedLink> {
    const { environment, connector } = this.#options
    const handlers: Omit<BorrowedLink, 'link'> = { onevent: undefined, onlost: undefined }
    const signals = signal === undefined ? this.#abort.signal : AbortSignal.any([signal, this.#abort.signal])
    try {
      const link = await openLink({
        ...this.#options,
        signal: signals,
        onevent: (method, params) => handlers.onevent?.(method, params),
      })
      const borrowed: BorrowedLink = Object.assign(handlers, { link })
      this.#all.add(borrowed)
      void link.lost.then((reason) => {
        this.#all.delete(borrowed)
        this.#mistrustIdle(reason)
        borrowed.onlost?.(reason)
      })
      return borrowed
    } catch (error) {
      throw handshakeFault(error, environment, connector.place)
    }
  }
}

const MOST_IDLE = 4
