import type { ClientProfile } from '../../connections/index.js'
import { type ServerKey, sameKey } from '../../identity/index.js'
import { type JsonObject, MODERN_REVISION } from '../../protocol/index.js'
import type { Thread } from '../../threads/index.js'
import { type FrontOptions, introduce, offered, openModernRelay, serverInfoOf } from '../front.js'
import { Moment } from '../moment.js'
import { discoverAgain } from '../relay/discovery.js'
import { type Introduction, ownIntroduction } from '../relay/handshake.js'
import type { Relay } from '../relay/relay.js'
import type { ModernEars } from './ears.js'
import { LogLevels } from './log-levels.js'
import { ResourceSubscriptions } from './resource-subscriptions.js'

function isAskable({ capabilities }: ClientProfile): boolean {
  return ['roots', 'sampling', 'elicitation'].some((capability) => Object.hasOwn(capabilities, capability))
}

/** One principal's thread for all its requests that say the same of their client. */
export class ModernThread {
  readonly openedAt = Date.now()
  readonly profile: ClientProfile
  readonly relay: Relay
  readonly ears: ModernEars
  readonly subscriptions: ResourceSubscriptions
  readonly logLevels: LogLevels
  readonly #options: FrontOptions
  readonly #closed = new Moment()

  private constructor(options: FrontOptions, profile: ClientProfile, relay: Relay, ears: ModernEars) {
    const onFault = (error: unknown) => options.onWarning(error instanceof Error ? error : new Error(String(error)))
    this.#options = options
    this.profile = profile
    this.relay = relay
    this.ears = ears
    this.subscriptions = new ResourceSubscriptions(relay.thread, onFault)
    this.logLevels = new LogLevels(relay.thread, onFault)
  }

  static async open(options: FrontOptions, profile: ClientProfile, ears: ModernEars): Promise<ModernThread> {
    const relay = await openModernRelay(options, profile, ears)
    ears.attach(relay)
    return new ModernThread(options, profile, relay, ears)
  }

  /** Resolves when the thread is gone. */
  get closed(): Promise<void> {
    return this.#closed.come
  }

  get client(): { readonly info: JsonObject; readonly revision: string } {
    return { info: this.profile.clientInfo, revision: MODERN_REVISION }
  }

  get thread(): Thread {
    return this.relay.thread
  }

  /**
   * Whether a question of this server says which call it belongs to: in a result, or by the stream that it came on. A client
   * that can't be asked has no questions.
   */
  tellsCallsApart(key: ServerKey): boolean {
    const row = this.thread.servers().find((server) => sameKey(server.key, key))
    return row?.era === 'modern' || row?.transport === 'streamable_http' || !isAskable(this.profile)
  }

  /** Whether this server logs for all calls alike, on one pipe. */
  mixesLogs(key: ServerKey): boolean {
    const row = this.thread.servers().find((server) => sameKey(server.key, key))
    return row?.era !== 'modern' && row?.transport !== 'streamable_http'
  }

  /** Who answers. */
  get serverInfo(): JsonObject {
    return serverInfoOf(this.relay, this.#options)
  }

  /** What there is now, and who tells it; gives servers a moment to come up. */
  async introduction(params: JsonObject, signal: AbortSignal): Promise<Introduction> {
    const { transparent } = this.#options
    const told = transparent && (await discoverAgain(this.thread, transparent, params, signal))
    return told === undefined ? introduce(this.relay, this.#options) : ownIntroduction(told, 'modern')
  }

  /** The capabilities that hold now. */
  capabilities(): Promise<JsonObject> {
    return offered(this.relay, this.#options)
  }

  async close(): Promise<void> {
    try {
      await this.thread.close()
    } finally {
      this.#closed.arrive()
    }
  }
}
