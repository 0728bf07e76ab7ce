import { type BackendPlaces, usesBackend } from '../../auth/index.js'
import { type AccountFacts, type EffectiveServer, isHostOwnedApps, type Registration } from '../../catalog/index.js'
import type { CapturedServer, ConnectionEvent, HostVariables, InventorySlot, Timers } from '../../connections/index.js'
import { UnknownServerError } from '../../errors.js'
import { HOSTED_APPS_NAME, type ServerKey, sameKey, serverKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import type { OwningAuth } from '../owning-auth.js'
import { installUrl } from './auth-failure.js'
import type { AppsCache } from './cache.js'
import { connectorOf } from './connector.js'
import { appDirectory } from './directory.js'
import { DEFAULT_SKU, hostedAppsServer, isOverridden } from './hosted-server.js'
import { owningThread, type RuntimeContext } from './owning-thread.js'
import { type AppPolicies, isAppToolEnabled } from './policy.js'
import { AppsReconnect } from './reconnect.js'
import { accountKey, appsSlot } from './slot.js'
import type { Apps, HostedApp } from './surface.js'

/** What the configuration says of hosted apps. */
export interface AppsSettings {
  /** The feature `apps`. */
  readonly isOn: boolean
  /** The feature `auth_elicitation`. */
  readonly authElicitation: boolean
  readonly policies: AppPolicies
}

/** What a thread's catalog is told of its account. */
export interface HostedApps {
  readonly registration: Registration | undefined
  readonly account: AccountFacts
}

export interface ThreadAppsHost {
  readonly threadId: string
  readonly auth: OwningAuth | undefined
  readonly places: BackendPlaces
  readonly env: HostVariables
  readonly originator: string | undefined
  readonly userAgent: string
  readonly cache: AppsCache
  readonly timers: Timers
  /** Of the connections. */
  readonly ready: () => Promise<unknown>
  readonly refresh: (signal: AbortSignal | undefined) => Promise<CapturedServer>
  /** The server as it is now; undefined while it is not up. */
  readonly now: () => Promise<CapturedServer | undefined>
  readonly live: (signal: AbortSignal | undefined) => Promise<CapturedServer>
  /** The account is another one, or there is none any more. */
  readonly onAccount: () => void
}

export const APPS_KEY = serverKey(HOSTED_APPS_NAME)

/** The hosted apps of one thread: of its own account alone, for as long as that is signed in. */
export class ThreadApps implements Apps {
  readonly runtimeContext: RuntimeContext
  readonly #host: ThreadAppsHost
  readonly #reconnect: AppsReconnect
  readonly #unfollow: (() => void) | undefined
  #settings: AppsSettings

  constructor(host: ThreadAppsHost, settings: AppsSettings) {
    const { threadId, auth, places, originator, userAgent, timers } = host
    this.#host = host
    this.#settings = settings
    const { baseUrl } = places
    this.runtimeContext = Object.freeze({ threadId, baseUrl, productSku: DEFAULT_SKU, originator, userAgent })
    // Whoever waits for it is told by its own wait.
    this.#reconnect = new AppsReconnect(timers, () => void host.ready().catch(() => undefined))
    this.#unfollow = auth?.context.manager.subscribe(() => {
      this.#reconnect.reset()
      host.onAccount()
    })
  }

  get settings(): AppsSettings {
    return this.#settings
  }

  get isOn(): boolean {
    return this.#settings.isOn && this.#usesBackend
  }

  /** The hosted server, while the thread has one, and what decides which servers the account may use. */
  get hosted(): HostedApps {
    const { places, env } = this.#host
    const { productSku, originator } = this.runtimeContext
    const { baseUrl: chatgptBaseUrl, trustedOrigins = [] } = places
    return {
      registration: this.isOn ? hostedAppsServer({ places, env, productSku, originator }) : undefined,
      account: {
        chatgptBaseUrl,
        trustedOrigins,
        appsEnabled: this.#settings.isOn,
        usesCodexBackend: this.#usesBackend,
      },
    }
  }

  /** Servers that nobody waits for. */
  get unawaited(): readonly ServerKey[] {
    return this.#reconnect.isAway ? [APPS_KEY] : []
  }

  configure(settings: AppsSettings): void {
    this.#settings = settings
  }

  /** Where what a server offers is kept, for the hosted one. */
  slotOf(server: EffectiveServer): InventorySlot | undefined {
    const { auth, cache, env, places } = this.#host
    if (auth === undefined || !isHostOwnedApps(server) || isOverridden(env)) return undefined
    const { productSku } = this.runtimeContext
    const facts = { context: auth.context, baseUrl: places.baseUrl, productSku }
    const key = accountKey(facts)
    return key && appsSlot(cache, key, facts)
  }

  heard(event: ConnectionEvent): void {
    if (event.type !== 'status' || !sameKey(event.key, APPS_KEY)) return
    if (event.status === 'failed' && this.isOn) this.#reconnect.failed()
    else if (event.status === 'ready') this.#reconnect.reset()
  }

  async list({ signal }: Parameters<Apps['list']>[0] = {}): Promise<readonly HostedApp[]> {
    this.#refuseWithout('listing the hosted apps')
    const now = await this.#host.now()
    return this.#appsOf(now?.tools ?? this.#kept() ?? (await this.#host.live(signal)).tools)
  }

  async refresh({ signal }: Parameters<Apps['refresh']>[0] = {}): Promise<readonly HostedApp[]> {
    this.#refuseWithout('refreshing the hosted apps')
    const { tools } = await this.#host.refresh(signal)
    // Another thread may have fetched later, and then its list is the newer one.
    return this.#appsOf(this.#kept() ?? tools)
  }

  async discover({ signal }: Parameters<Apps['discover']>[0] = {}): ReturnType<Apps['discover']> {
    return appDirectory(owningThread(this.#host.auth, this.runtimeContext, 'app discovery'), signal)
  }

  close(): void {
    this.#unfollow?.()
    this.#reconnect.close()
  }

  get #usesBackend(): boolean {
    const now = this.#host.auth?.context.manager.current()
    return now?.state === 'signed_in' && usesBackend(now.credential)
  }

  /** @throws FirstPartyAuthError | UnknownServerError */
  #refuseWithout(work: string): void {
    owningThread(this.#host.auth, this.runtimeContext, work)
    if (!this.isOn) throw new UnknownServerError(APPS_KEY)
  }

  #kept(): readonly JsonObject[] | undefined {
    const { registration } = this.hosted
    return registration && this.slotOf(registration)?.get()?.inventory.tools
  }

  #appsOf(tools: readonly JsonObject[]): readonly HostedApp[] {
    const { policies } = this.#settings
    const byConnector = new Map<string, { of: JsonObject; enabled: boolean; tools: string[] }>()
    for (const tool of tools) {
      const { id, name } = connectorOf(tool)
      const place = JSON.stringify([id ?? null, id === undefined ? (name ?? null) : null])
      const app = byConnector.get(place) ?? { of: tool, enabled: false, tools: [] }
      app.enabled ||= isAppToolEnabled(policies, tool)
      app.tools.push(String(tool.name))
      byConnector.set(place, app)
    }
    return Object.freeze(
      [...byConnector.values()].map(({ of, enabled, tools: names }): HostedApp => {
        const { id = null, name = null, description } = connectorOf(of)
        const about = description === undefined ? {} : { description }
        const install = id === null ? {} : { installUrl: installUrl(id, name ?? id) }
        return Object.freeze({ id, name, ...about, ...install, enabled, tools: Object.freeze(names) })
      }),
    )
  }
}
