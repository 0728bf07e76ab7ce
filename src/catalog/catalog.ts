import { isDeepStrictEqual } from 'node:util'
import type { ServerConfig } from '../config/index.js'
import { type ServerKey, ServerKeyMap } from '../identity/index.js'
import { deepFreeze } from './freeze.js'
import { resolve } from './resolve.js'
import type {
  CatalogAction,
  CatalogOptions,
  CatalogProblem,
  Conflict,
  PluginAttribution,
  Registration,
  RegistrationSource,
  Removal,
  ShadowedServer,
} from './types.js'

/**
 * Collects registrations and resolves them (reference: catalog, 2 and 3). Give it configs after overlays, requirements and
 * environment authority.
 *
 * @example
 * ```ts
 * const catalog = new CatalogBuilder({ multiEnvironment: true })
 *   .register({ key: serverKey('notes'), source: { kind: 'config' }, config })
 *   .build()
 * catalog.server(serverKey('notes'))
 * ```
 */
export class CatalogBuilder {
  readonly #options: CatalogOptions
  readonly #actions: CatalogAction[] = []
  readonly #disabled: ServerKey[] = []

  constructor(options: CatalogOptions = {}, carried: CarriedState = { actions: [], disabled: [] }) {
    this.#options = options
    this.#actions.push(...carried.actions)
    this.#disabled.push(...carried.disabled)
  }

  /** Freezes the registration, its config included. */
  register(registration: Registration): this {
    this.#actions.push(deepFreeze({ kind: 'register', registration }))
    return this
  }

  removeCompatibility(key: ServerKey, id: string): this {
    return this.#remove({ key, source: { kind: 'compatibility', id } })
  }

  removeExtension(key: ServerKey, id: string, order: number): this {
    return this.#remove({ key, source: { kind: 'extension', id, order } })
  }

  /** Whoever wins this key is disabled; the rest of its config is kept. */
  disable(key: ServerKey): this {
    this.#disabled.push(key)
    return this
  }

  build(): Catalog {
    return new Catalog([...this.#actions], [...this.#disabled], this.#options)
  }

  #remove(removal: Removal): this {
    this.#actions.push(deepFreeze({ kind: 'remove', removal }))
    return this
  }
}

interface CarriedState {
  readonly actions: readonly CatalogAction[]
  readonly disabled: readonly ServerKey[]
}

/** All registrations and who won. Immutable; what changes it makes another. */
export class Catalog {
  /** The winners, disabled ones included, by name, then environment with thread-wide first. */
  readonly servers: readonly Registration[]
  /** What is there but not in use, for status lists. */
  readonly shadowed: readonly ShadowedServer[]
  readonly conflicts: readonly Conflict[]
  readonly problems: readonly CatalogProblem[]
  readonly #byKey: ServerKeyMap<Registration>
  readonly #carried: CarriedState
  readonly #options: CatalogOptions

  /** Made by {@link CatalogBuilder.build}. */
  constructor(actions: readonly CatalogAction[], disabled: readonly ServerKey[], options: CatalogOptions) {
    const resolution = resolve(actions, disabled, options)
    this.servers = deepFreeze(resolution.servers)
    this.shadowed = deepFreeze(resolution.shadowed)
    this.conflicts = deepFreeze(resolution.conflicts)
    this.problems = deepFreeze(resolution.problems)
    this.#byKey = new ServerKeyMap(this.servers.map((server) => [server.key, server]))
    this.#carried = { actions, disabled: resolution.disabled }
    this.#options = options
    Object.freeze(this)
  }

  server(key: ServerKey): Registration | undefined {
    return this.#byKey.get(key)
  }

  /** Config by key, of every winner. */
  configs(): readonly (readonly [ServerKey, ServerConfig])[] {
    return this.servers.map(({ key, config }) => [key, config] as const)
  }

  /** Whose plugin a winning server came with. */
  attribution(key: ServerKey): PluginAttribution | undefined {
    const source = this.server(key)?.source
    return source !== undefined && 'plugin' in source ? source.plugin : undefined
  }

  /** Winners that a thread's selected plugins brought. */
  selectedPluginServers(): readonly ServerKey[] {
    return this.servers.filter(({ source }) => source.kind === 'selected_plugin').map(({ key }) => key)
  }

  /** Whether the winners are the same: keys, sources and configs. How they came to win does not count. */
  hasSameServers(other: Catalog): boolean {
    return isDeepStrictEqual(this.servers, other.servers)
  }

  /** Everything that was registered, and the keys that a disabled winner vetoes: for more actions on top. */
  toBuilder(): CatalogBuilder {
    return new CatalogBuilder(this.#options, this.#carried)
  }

  /**
   * A catalog of exactly these servers. Those known keep their source, without its place in an order; the others belong to
   * the configuration.
   */
  withMaterialisedServers(configs: Iterable<readonly [ServerKey, ServerConfig]>): Catalog {
    const builder = new CatalogBuilder(this.#options)
    for (const [key, config] of configs) {
      builder.register({ key, source: withoutOrder(this.server(key)?.source ?? { kind: 'config' }), config })
    }
    return builder.build()
  }
}

function withoutOrder(source: RegistrationSource): RegistrationSource {
  return 'order' in source ? { ...source, order: 0 } : source
}
