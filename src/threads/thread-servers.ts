import { isDeepStrictEqual } from 'node:util'
import type { EffectiveServer, PermissionAuthority } from '../catalog/index.js'
import type { ConnectionManager, ServerStatus } from '../connections/index.js'
import type { CapabilityRoot, CapabilitySource, Environment, EnvironmentRegistry } from '../environments/index.js'
import { EnvironmentError, UnknownServerError } from '../errors.js'
import { HOSTED_APPS_NAME, type ServerKey, sameKey } from '../identity/index.js'
import type { ApprovalPolicy } from '../permissions/index.js'
import type { HostedApps } from './apps/thread-apps.js'
import { type Composition, compose, type Profile, selectedRoots, type ThreadConfiguration } from './composition.js'
import { Discoveries, type Wanted } from './discoveries.js'
import { EnvironmentWatch } from './environment-watch.js'
import { checkProfileName, discoveryProfile } from './governing-profiles.js'
import { withIdle } from './idle-rows.js'
import { lastSelectedOwner } from './last-selected.js'
import { limitedPolicy } from './managed-permissions.js'
import { type PolicyProblem, ProblemReport } from './problem-report.js'
import { selectServer } from './select.js'
import type { SelectedPlace } from './selection.js'
import type { ServerSelector, ThreadEvent } from './types.js'
import { unlessAborted, within } from './waiting.js'

export interface ThreadServersOptions {
  readonly manager: ConnectionManager
  readonly environments: EnvironmentRegistry
  readonly source: CapabilitySource
  readonly configuration: ThreadConfiguration
  readonly places: readonly SelectedPlace[]
  /** The thread's own; those of the configuration follow. */
  readonly roots: readonly CapabilityRoot[]
  /** Absent: all. */
  readonly only: readonly ServerSelector[] | undefined
  /** Connect to the selected environments before they are needed (reference: catalog, 8.1). */
  readonly warm: boolean
  /** As the reference does where it decides in silence. */
  readonly compatibility: boolean
  /** Of the thread, on the host. */
  readonly threadCwd: string
  /** Name of the permission profile that was asked for, for all environments that have none handed over. */
  readonly permissions: string | undefined
  /** Those of the thread's account, as it is when this is called. */
  readonly apps: () => HostedApps
  readonly onEvent: (event: ThreadEvent) => void
}

/** What the connections were told last. */
interface Published {
  readonly servers: readonly EffectiveServer[]
  readonly environments: readonly (Environment | undefined)[]
}

/**
 * Which servers a thread has: those of its configuration, and what its selected environments are found to offer. Every
 * change is published to the connections, and nothing but a change; calls under way keep what they are bound to. Servers
 * of environments wait for the first step or call, and are listed until then (reference: catalog, 9.3; known-quirks, 22).
 */
export class ThreadServers {
  readonly #options: ThreadServersOptions
  readonly #discoveries: Discoveries
  readonly #watch: EnvironmentWatch
  readonly #report: ProblemReport
  readonly #createdAt = Date.now()
  #configuration: ThreadConfiguration
  #places: readonly SelectedPlace[]
  #composition: Composition
  /** Those of the composition that the thread is meant for. */
  #servers: readonly EffectiveServer[]
  #published: Published | undefined
  #policyProblem: PolicyProblem | undefined
  #state: 'new' | 'listing' | 'begun' | 'closed' = 'new'

  constructor(options: ThreadServersOptions) {
    const { environments, source, onEvent } = options
    this.#options = options
    const { settings } = options.configuration.permissions
    if (options.permissions !== undefined) checkProfileName(settings, options.permissions)
    this.#configuration = this.#asAsked(options.configuration)
    this.#places = options.places
    this.#report = new ProblemReport((problem) => onEvent({ type: 'problem', problem }))
    this.#discoveries = new Discoveries({ source, environments, onFound: () => this.#recompose() })
    this.#watch = new EnvironmentWatch(environments, onEvent, () => this.#discoveries.look())
    this.#composition = this.#composed()
    this.#servers = this.#composition.servers
  }

  get places(): readonly SelectedPlace[] {
    return this.#places
  }

  /** Those that the thread may use, disabled ones included. */
  get servers(): readonly EffectiveServer[] {
    return this.#servers
  }

  /**
   * Publishes the thread-wide servers and starts looking into the environments, which are waited for where `only` may mean
   * one of theirs.
   *
   * @throws UnknownServerError | AmbiguousServerError | EnvironmentError what `only` names is not there
   */
  async start(signal?: AbortSignal): Promise<void> {
    this.#discoveries.select(this.#promising(), this.#wanted())
    this.#attend()
    for (const selector of this.#options.only ?? []) {
      await this.#looksFor(selector, this.#composition.servers, signal)
      this.#choose(this.#composition.servers, selector)
    }
    if (this.#state === 'new') this.#state = 'listing'
    this.#recompose()
  }

  /** Publishes the servers of environments too, from now on. */
  begin(): void {
    if (this.#state === 'listing') {
      this.#state = 'begun'
      this.#publish()
    }
    this.#discoveries.look()
  }

  /**
   * Waits for environments that are being looked into: to the end where they are for the first time, so that a step has all
   * that can be had, and otherwise for `graceMs`, unless it is to be `all`.
   */
  async looked(options: {
    readonly graceMs: number
    readonly all: boolean
    readonly signal?: AbortSignal
  }): Promise<void> {
    const { graceMs, all, signal } = options
    await unlessAborted(this.#discoveries.ended({ first: true }), signal)
    const again = this.#discoveries.ended()
    await unlessAborted(all ? again : within(graceMs, again), signal)
  }

  /**
   * The one server that a selector means, once the environments that may have it were looked into.
   *
   * @throws UnknownServerError | AmbiguousServerError | EnvironmentError
   */
  async locate(selector: ServerSelector, signal?: AbortSignal): Promise<ServerKey> {
    this.begin()
    await this.#looksFor(selector, this.#servers, signal)
    return this.#choose(this.#servers, selector)
  }

  authorityOf(key: ServerKey): PermissionAuthority<Profile> {
    return this.#composition.authorities.get(key) ?? NOBODY
  }

  /** The policy that holds where one was asked for. Whoever asked for a wider one hears of it. */
  policyFor(asked: ApprovalPolicy | null): ApprovalPolicy | null {
    const { value, exceeded } = limitedPolicy(asked, this.#configuration.permissions.settings.managed ?? [])
    if (exceeded.length > 0 && this.#policyProblem === undefined) {
      const message = `the approval policy that was asked for goes beyond ${exceeded.join(' and ')}: \`untrusted\` holds instead`
      this.#policyProblem = Object.freeze({ code: 'policy_not_allowed', message })
      this.#tellProblems()
    }
    return value
  }

  /** One row a key: of servers that were published, of those that wait for the first step, and of hidden ones. */
  statuses(): readonly ServerStatus[] {
    return withIdle(this.#options.manager.statuses(), this.#servers, this.#composition.hidden, this.#createdAt)
  }

  /** What leaves is ended; what stays keeps its connections. */
  select(places: readonly SelectedPlace[]): void {
    this.#places = places
    this.#discoveries.select(this.#promising(), this.#wanted())
    this.#recompose()
    this.#attend()
  }

  /** Takes over a configuration that was loaded again; environments are looked into anew. */
  configure(configuration: ThreadConfiguration): void {
    this.#configuration = this.#asAsked(configuration)
    this.#policyProblem = undefined
    this.#published = undefined
    this.#discoveries.renew(this.#promising(), this.#wanted())
    this.#recompose()
    this.#attend()
  }

  /** Somebody signed in or out: what the account may use is published, where that differs. */
  accountChanged(): void {
    this.#recompose()
  }

  close(): void {
    this.#state = 'closed'
    this.#watch.close()
    this.#discoveries.close()
  }

  /** Hears of the selected environments, and has them ready for the first call. */
  #attend(): void {
    const { environments, warm } = this.#options
    this.#watch.select(this.#places.map(({ id }) => id))
    if (warm) environments.warm(this.#promising().map(({ id }) => id))
  }

  #recompose(): void {
    if (this.#state === 'closed') return
    this.#composition = this.#composed()
    this.#servers = this.#meant(this.#composition.servers)
    this.#publish()
    this.#tellProblems()
  }

  #tellProblems(): void {
    const { problems } = this.#composition
    this.#report.now(this.#policyProblem === undefined ? problems : [...problems, this.#policyProblem])
  }

  #publish(): void {
    if (this.#state === 'new' || this.#state === 'closed') return
    const servers =
      this.#state === 'begun' ? this.#servers : this.#servers.filter(({ key }) => key.environment === null)
    const environments = this.#discoveries.placed.map((place) => place?.environment)
    const before = this.#published
    const isSame =
      before !== undefined &&
      isDeepStrictEqual(before.servers, servers) &&
      before.environments.length === environments.length &&
      before.environments.every((environment, index) => environment === environments[index])
    if (isSame) return
    this.#published = { servers, environments }
    this.#options.manager.replace(servers)
  }

  #composed(): Composition {
    return compose({
      configuration: this.#configuration,
      places: this.#places,
      roots: this.#options.roots,
      found: this.#discoveries.found,
      known: this.#options.environments.ids,
      compatibility: this.#options.compatibility,
      threadCwd: this.#options.threadCwd,
      apps: this.#options.apps(),
    })
  }

  /** As it was loaded, under what this thread asked for. */
  #asAsked(configuration: ThreadConfiguration): ThreadConfiguration {
    const { permissions: chosen } = this.#options
    return chosen === undefined
      ? configuration
      : { ...configuration, permissions: { ...configuration.permissions, chosen } }
  }

  /** Where the thread may have servers: one that is meant for certain servers does not connect to the others' places. */
  #promising(): readonly SelectedPlace[] {
    const { only } = this.#options
    const shared = new Set(this.#configuration.loaded.servers.map(({ name }) => name))
    return this.#places.filter(
      ({ id }) =>
        only === undefined ||
        only.some(
          ({ server, environment }) =>
            environment === id || (environment === undefined && !shared.has(server) && server !== HOSTED_APPS_NAME),
        ),
    )
  }

  #wanted(): Wanted {
    const { loaded, discovery } = this.#configuration
    const { roots } = selectedRoots({
      roots: this.#options.roots,
      configuration: this.#configuration,
      places: this.#places,
    })
    const { permissions } = this.#configuration
    const parts = { places: this.#places, permissions, threadCwd: this.#options.threadCwd }
    const profileIn = (environment: string) => discoveryProfile(environment, parts)
    return { roots, features: discovery, policies: loaded.plugins, profileIn }
  }

  /** A name that is gone since is no reason to fail: there is nothing of it. */
  #meant(servers: readonly EffectiveServer[]): readonly EffectiveServer[] {
    const { only } = this.#options
    if (only === undefined) return servers
    const keys = only.flatMap((selector) => {
      try {
        return [this.#choose(servers, selector)]
      } catch (error) {
        if (error instanceof UnknownServerError || error instanceof EnvironmentError) return []
        throw error
      }
    })
    return servers.filter(({ key }) => keys.some((other) => sameKey(key, other)))
  }

  async #looksFor(selector: ServerSelector, servers: readonly EffectiveServer[], signal?: AbortSignal): Promise<void> {
    const { server, environment } = selector
    if (servers.some(({ key }) => key.name === server && key.environment === (environment ?? null))) return
    if (environment === null) return
    const which = environment === undefined ? { first: true } : { environment }
    await unlessAborted(this.#discoveries.ended(which), signal)
  }

  #choose(servers: readonly EffectiveServer[], selector: ServerSelector): ServerKey {
    const { compatibility } = this.#options
    const guessed = compatibility ? lastSelectedOwner(servers, selector, this.#wanted().roots) : undefined
    if (guessed !== undefined) return guessed
    try {
      return selectServer(
        servers.map(({ key, config }) => ({ key, runsIn: config.environmentId })),
        selector,
      )
    } catch (error) {
      throw (error instanceof UnknownServerError && this.#unavailable(selector)) || error
    }
  }

  /** Why nobody knows whether there is such a server. */
  #unavailable({ server, environment }: ServerSelector): EnvironmentError | undefined {
    if (environment === undefined || environment === null) return undefined
    const problem = this.#discoveries.found
      .get(environment)
      ?.problems.find(({ code }) => code === 'environment_unavailable')
    const state = this.#options.environments.get(environment)?.environment.state
    if (problem === undefined || state === undefined) return undefined
    const code = state.is === 'recovering' ? 'environment_recovering' : 'environment_unreachable'
    return new EnvironmentError(code, environment, problem.message, { key: { name: server, environment } })
  }
}

const NOBODY: PermissionAuthority<Profile> = Object.freeze({ kind: 'none' })
