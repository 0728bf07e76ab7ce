import type { ServerConfig } from '../config/index.js'
import { TransportClosedError } from '../errors.js'
import type { ServerKey } from '../identity/index.js'
import type { JsonObject } from '../protocol/index.js'
import type { Connection } from './connection.js'
import { withoutMarks } from './eras/mirrored-tools.js'
import type { Lease, WorkPlace } from './lease.js'
import { sameDefinition } from './tool-catalog.js'
import type { ReadyClient, RequestOptions } from './types.js'

/** Milliseconds of a tool call where nothing else is said. */
export const DEFAULT_TOOL_TIMEOUT = 300_000

/** What a call is bound to. */
export interface CallBinding {
  readonly key: ServerKey
  readonly config: ServerConfig
  /** The raw name on the wire. */
  readonly tool: string
  /** The whole definition that the call was prepared with. Frozen. */
  readonly definition: JsonObject
  /** False when the definition comes from the cache, or from a server that is being restarted. */
  readonly live: boolean
}

/** What a call sends. */
export interface CallPayload {
  /** Absent: none are sent. */
  readonly arguments?: JsonObject
  readonly _meta?: JsonObject
  /** Further members of the params; they never replace the name, the arguments or `_meta`. */
  readonly params?: JsonObject
  /** Milliseconds of the timeout that its preparation has used up. */
  readonly spentMs?: number
}

export interface CallRunOptions extends RequestOptions {
  /**
   * Runs inside the catalog lease, before anything is sent and outside the timeout; what it returns is sent. Gets the server
   * as it introduced itself. Does not run when the tool has changed; runs again when the server went away before the call
   * left.
   */
  readonly prepare?: (client: ReadyClient) => Promise<CallPayload>
}

type Matches = (current: JsonObject) => boolean

/** The right to call a tool as it was bound, on one connection. */
interface HeldTool {
  isOf(connection: Connection): boolean
  release(): void
}

/**
 * One call, bound to a connection and to a tool's whole definition: it is carried out there and like that, or refused
 * (reference: tool-calls, 3 and 4).
 */
export class PreparedCall {
  readonly binding: CallBinding
  readonly #lease: Lease
  readonly #matches: Matches

  constructor(binding: CallBinding, lease: Lease, matches: Matches) {
    this.binding = Object.freeze({ ...binding })
    this.#lease = lease
    this.#matches = matches
    Object.freeze(this)
  }

  /**
   * Sends `tools/call` and relays its result, `isError` included. A server that is not up is started first. The timeout
   * is the smaller of the server's and the caller's, in active time.
   *
   * @throws {StaleCatalogError} the tool changed or is gone; nothing was sent
   * @throws {RpcError | OperationTimeoutError | TransportClosedError | CancelledError} as the call ended
   * @throws {StartupFailedError} the server did not come up
   */
  async run(payload: CallPayload, options: CallRunOptions = {}): Promise<JsonObject> {
    const over = this.#lease.hold()
    try {
      return await this.#runOnce(payload, options, this.#matches)
    } catch (error) {
      const matches = await this.#onceMore(error)
      if (matches === undefined) throw error
      return await this.#runOnce(payload, options, matches)
    } finally {
      over()
    }
  }

  async #runOnce(
    payload: CallPayload,
    { prepare, timeoutMs, ...options }: CallRunOptions,
    matches: Matches,
  ): Promise<JsonObject> {
    const { signal } = options
    const lease = this.#lease
    if (lease.connection.state.state !== 'ready') await lease.ready(signal)
    let held = await this.#hold(lease.connection, matches, signal)
    try {
      const prepared = prepare === undefined ? payload : await prepare(lease.client ?? (await lease.ready(signal)))
      const params = this.#params(prepared)
      const send = async ({ seat: { connection, route }, ...place }: WorkPlace) => {
        if (!held.isOf(connection)) held = await this.#hold(connection, matches, place.signal)
        return connection.call(route, params, { ...options, ...place })
      }
      // Whoever waits for a turn must not keep a new list of tools waiting.
      const limits = { signal, timeoutMs: this.#timeout(timeoutMs) - (prepared.spentMs ?? 0) }
      return await lease.run({ ...options, method: 'tools/call' }, limits, send, () => held.release())
    } finally {
      held.release()
    }
  }

  /** What the tool has to match when the call is tried once more; undefined when it is not. */
  async #onceMore(error: unknown): Promise<Matches | undefined> {
    // The server was gone before the call left: against what the restarted one offers.
    if (error instanceof TransportClosedError) return error.sent ? undefined : this.#matches
    // Which arguments are mirrored for those on the way is no matter of what the tool does.
    if (!(await this.#lease.connection.remarked(error))) return undefined
    const bare = withoutMarks(this.binding.definition)
    return (current) => this.#matches(current) || sameDefinition(bare, withoutMarks(current))
  }

  async #hold(connection: Connection, matches: Matches, signal: AbortSignal | undefined): Promise<HeldTool> {
    const lease = await connection.offer.catalog.lease(this.binding.tool, matches, signal)
    let held = true
    return {
      isOf: (other) => held && other === connection,
      release: () => {
        held = false
        lease.release()
      },
    }
  }

  #params({ arguments: args, _meta, params: more }: CallPayload): JsonObject {
    const { arguments: _, _meta: __, ...further } = more ?? {}
    return { ...further, name: this.binding.tool, ...(args && { arguments: args }), ...(_meta && { _meta }) }
  }

  #timeout(asked: number | undefined): number {
    const own = this.binding.config.toolTimeoutMs ?? DEFAULT_TOOL_TIMEOUT
    return asked === undefined ? own : Math.min(own, asked)
  }
}
