import { isDeepStrictEqual } from 'node:util'
import type {
  CapabilityRequest,
  CapabilitySource,
  DiscoveryPlace,
  DiscoveryProblem,
  EnvironmentCapabilities,
  Environments,
} from '../environments/index.js'
import { CancelledError } from '../errors.js'
import { LOCAL_ENVIRONMENT } from '../identity/index.js'
import type { JsonObject } from '../protocol/index.js'
import type { SelectedPlace } from './selection.js'

/** What is looked for in every selected environment. */
export interface Wanted extends Omit<CapabilityRequest, 'places'> {
  /** The permission profile that an environment is looked into under; none restricts nothing. */
  readonly profileIn?: (environment: string) => JsonObject | undefined
}

export interface DiscoveriesOptions {
  readonly source: CapabilitySource
  readonly environments: Environments
  /** Something was found, or is missing now. */
  readonly onFound: () => void
}

/** One environment and what was found there. */
interface Look {
  readonly id: string
  /** Absent where there is no such environment. */
  readonly place: DiscoveryPlace | undefined
  found: EnvironmentCapabilities | undefined
  /** Resolves when the look under way has ended. */
  running: Promise<void> | undefined
  /** Nothing of what is asked for now was looked for before, so a step has reason to wait. */
  isFirst: boolean
}

/**
 * Looks into the selected environments, each for itself, so that one which does not answer delays no other. What could not
 * be read is looked for again by the next `look`.
 */
export class Discoveries {
  readonly #options: DiscoveriesOptions
  readonly #closing = new AbortController()
  #wanted: Wanted = { roots: [] }
  #places: readonly SelectedPlace[] = []
  #looks: ReadonlyMap<string, Look> = new Map()

  constructor(options: DiscoveriesOptions) {
    this.#options = options
  }

  /** By environment; those that were not looked into yet are absent. */
  get found(): ReadonlyMap<string, EnvironmentCapabilities> {
    return new Map([...this.#looks].flatMap(([id, { found }]) => (found === undefined ? [] : [[id, found] as const])))
  }

  /** The environments that are there now, as they are now. */
  get placed(): readonly (DiscoveryPlace | undefined)[] {
    return [...this.#looks.values()].map(({ place }) => place)
  }

  /** From now on these places and this, and looks into those that are new. */
  select(places: readonly SelectedPlace[], wanted: Wanted): void {
    this.#places = places
    this.#wanted = wanted
    this.look()
  }

  /** As `select`, and everything is read anew; what is known stands until then. */
  renew(places: readonly SelectedPlace[], wanted: Wanted): void {
    this.#options.source.forget()
    // A look under way may have read what is out of date: its result is not taken.
    this.#looks = new Map([...this.#looks].map(([id, look]) => [id, { ...look, running: undefined, isFirst: true }]))
    this.select(places, wanted)
  }

  /** Starts looking wherever something is missing. */
  look(): void {
    if (this.#closing.signal.aborted) return
    const before = this.#looks
    this.#looks = new Map(this.#places.map((place) => [place.id, this.#lookAt(place, before.get(place.id))]))
    // Another environment may stand under an id now, with nothing to find in it.
    const isMoved = [...before].some(
      ([id, { place }]) => this.#looks.get(id)?.place?.environment !== place?.environment,
    )
    if (isMoved) this.#options.onFound()
    for (const look of this.#looks.values())
      if (look.running === undefined && (look.isFirst || isIncomplete(look.found))) this.#start(look)
  }

  /** Resolves when the looks under way have ended: of all, of one environment, or those that never ended before. */
  async ended(which: { readonly environment?: string; readonly first?: boolean } = {}): Promise<void> {
    const looks = [...this.#looks.values()].filter(
      ({ id, isFirst }) =>
        (which.environment === undefined || which.environment === id) && (which.first !== true || isFirst),
    )
    await Promise.all(looks.map(({ running }) => running))
  }

  close(): void {
    this.#closing.abort()
    this.#looks = new Map()
  }

  #lookAt({ id, cwd, workspaceRoots }: SelectedPlace, before: Look | undefined): Look {
    const placed = this.#options.environments.get(id)
    const permissions = this.#wanted.profileIn?.(id)
    const place = placed && Object.freeze({ ...placed, cwd, workspaceRoots, ...(permissions && { permissions }) })
    const isSame = before !== undefined && before.place?.environment === place?.environment
    if (isSame && isGovernedAlike(before.place, place)) return before
    return { id, place, found: isSame ? before.found : undefined, running: undefined, isFirst: true }
  }

  #start(look: Look): void {
    const { id, place } = look
    if (place === undefined)
      this.#ended(look, withProblem('environment_unavailable', id, `unknown environment id \`${id}\``))
    else if (this.#hasAnything(id)) look.running = this.#find(look, place)
    else this.#ended(look, undefined)
  }

  /** Where nothing can be found there is no reason to connect. */
  #hasAnything(id: string): boolean {
    const { roots, features = {} } = this.#wanted
    if (roots.some(({ environment }) => environment === id)) return true
    return id !== LOCAL_ENVIRONMENT && (features.installedPlugins === true || features.executorConfig === true)
  }

  async #find(look: Look, place: DiscoveryPlace): Promise<void> {
    const found = await this.#ask(look.id, place)
    look.running = undefined
    if (found !== undefined) this.#ended(look, found)
  }

  /** Undefined when it was given up. */
  async #ask(id: string, place: DiscoveryPlace): Promise<EnvironmentCapabilities | undefined> {
    const { signal } = this.#closing
    try {
      const { profileIn: _, ...request } = this.#wanted
      const [found] = await this.#options.source.find({ ...request, places: [place] }, { signal })
      return found
    } catch (error) {
      if (error instanceof CancelledError) return undefined
      return withProblem('discovery_failed', id, error instanceof Error ? error.message : String(error))
    }
  }

  #ended(look: Look, found: EnvironmentCapabilities | undefined): void {
    if (this.#looks.get(look.id) !== look) return
    const before = look.found
    look.found = before !== undefined && isOutOfReach(found) ? { ...before, problems: found.problems } : found
    look.isFirst = false
    if (before !== found) this.#options.onFound()
  }
}

/** Whether what may be seen there is the same. */
function isGovernedAlike(one: DiscoveryPlace | undefined, other: DiscoveryPlace | undefined): boolean {
  const sightOf = (place: DiscoveryPlace | undefined) => [place?.cwd, place?.workspaceRoots, place?.permissions]
  return isDeepStrictEqual(sightOf(one), sightOf(other))
}

/** What is well otherwise is not read again before a reload; these may be well the next time. */
const PASSING: ReadonlySet<DiscoveryProblem['code']> = new Set([
  'environment_unavailable',
  'root_unreadable',
  'broken_manifest',
  'broken_executor_config',
  'discovery_failed',
])

function isIncomplete(found: EnvironmentCapabilities | undefined): boolean {
  return found?.problems.some(({ code }) => PASSING.has(code)) === true
}

/** What runs there may run on: nobody could say that it is no longer wanted. */
function isOutOfReach(found: EnvironmentCapabilities | undefined): found is EnvironmentCapabilities {
  return found?.problems.some(({ code }) => code === 'environment_unavailable') === true
}

function withProblem(code: DiscoveryProblem['code'], environment: string, message: string): EnvironmentCapabilities {
  const problems = [{ code, environment, message }]
  return Object.freeze({ environment, plugins: [], executorServers: new Map(), problems })
}
