import type { AuthManager, ConnectionAuth } from '../../auth/index.js'
import { FirstPartyAuthError, ReeveError } from '../../errors.js'
import type { JsonRpcMessage, ReceivedOn, SendOptions, Transport, TransportClosed } from '../../protocol/index.js'

export interface AccountTransportOptions {
  readonly auth: ConnectionAuth
  readonly manager: Pick<AuthManager, 'beforeRevoke'>
  /** The server's name for people. */
  readonly label: string
}

/**
 * A transport whose requests carry an account's auth: it lives no longer than the account's permission. When that is taken
 * back, whatever is in flight ends at once, streams included, and the session is ended with its own last valid auth; a
 * logout waits for that. A session that can't be ended so is told as abandoned, by its server's name. Source: reference,
 * runtime-auth 8 and 14; known-quirks 58.
 */
export class AccountTransport implements Transport {
  onmessage: ((message: JsonRpcMessage, on: ReceivedOn) => void) | undefined
  onclose: ((closed: TransportClosed) => void) | undefined
  onwarning: ((warning: Error) => void) | undefined
  readonly protocolVersion: (version: string) => void
  readonly #below: Transport
  readonly #auth: ConnectionAuth
  readonly #label: string
  readonly #unregister: () => void
  readonly #onRevoked = () => void this.close()
  readonly #sends = new Set<Promise<void>>()
  #closing: Promise<void> | undefined

  constructor(below: Transport, { auth, manager, label }: AccountTransportOptions) {
    this.#below = below
    this.#auth = auth
    this.#label = label
    this.protocolVersion = (version) => below.protocolVersion?.(version)
    below.onmessage = (message, on) => {
      if (!auth.revoked.aborted) this.onmessage?.(message, on)
    }
    below.onwarning = (warning) => this.onwarning?.(this.#closing === undefined ? warning : this.#abandoned(warning))
    below.onclose = (closed) => void this.#ended(closed)
    this.#unregister = manager.beforeRevoke(() => this.close())
    auth.revoked.addEventListener('abort', this.#onRevoked, { once: true })
  }

  async start(): Promise<void> {
    this.#refuseWhenRevoked()
    await this.#below.start()
  }

  async send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    this.#refuseWhenRevoked()
    const sending = this.#below.send(message, options)
    this.#sends.add(sending)
    try {
      await sending
    } catch (error) {
      // What was sent had to end with the permission; what the caller ended itself is the caller's.
      const isOurs = this.#auth.revoked.aborted && options?.signal?.aborted !== true
      throw isOurs && !(error instanceof FirstPartyAuthError)
        ? revoked('HTTP request failed: http/request failed: ')
        : error
    } finally {
      this.#sends.delete(sending)
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#below.close().finally(() => this.#over())
    return this.#closing
  }

  /** Who waits for an answer is told why there is none before the end of the transport is. */
  async #ended(closed: TransportClosed): Promise<void> {
    await Promise.allSettled(this.#sends)
    this.#over()
    this.onclose?.(this.#auth.revoked.aborted ? { error: revoked() } : closed)
  }

  #over(): void {
    this.#unregister()
    this.#auth.revoked.removeEventListener('abort', this.#onRevoked)
    this.#auth.close()
  }

  #abandoned(why: Error): ReeveError {
    const reason = why instanceof ReeveError ? why.code : 'internal'
    return new ReeveError(
      'session_abandoned',
      `the session of MCP server '${this.#label}' was not ended: ${why.message}`,
      {
        data: { server: this.#label, reason },
      },
    )
  }

  #refuseWhenRevoked(): void {
    if (this.#auth.revoked.aborted) throw revoked()
  }
}

function revoked(where = ''): FirstPartyAuthError {
  return new FirstPartyAuthError('auth_revoked', `${where}application network permission was revoked`)
}
