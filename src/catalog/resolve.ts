import {
  compareKeys,
  displayKey,
  HOSTED_APPS_NAME,
  keyText,
  type ServerKey,
  ServerKeyMap,
  sameKey,
} from '../identity/index.js'
import { comparePrecedence, keyOf, sourceOf, tierOf } from './precedence.js'
import type {
  CatalogAction,
  CatalogOptions,
  CatalogProblem,
  Conflict,
  Contender,
  Registration,
  ShadowedServer,
} from './types.js'

export interface Resolution {
  /** By name, then environment. */
  readonly servers: readonly Registration[]
  readonly shadowed: readonly ShadowedServer[]
  readonly conflicts: readonly Conflict[]
  readonly problems: readonly CatalogProblem[]
  /** The disabled set to carry on: what came in, and what the winners veto. */
  readonly disabled: readonly ServerKey[]
}

/**
 * Picks the winners (reference: catalog, 3). Every key is resolved for itself; with the feature off every *name* is, over
 * all environments. What loses its place to another key is reported, never dropped in silence.
 */
export function resolve(
  actions: readonly CatalogAction[],
  disabled: readonly ServerKey[],
  options: CatalogOptions,
): Resolution {
  const { accepted, problems: reserved } = refuseReservedNames(actions)
  const contests = groupByIdentity(accepted, options).map((group) => settle(group, disabled, options))
  const winners = contests.flatMap(({ winner }) => winner ?? [])
  const { servers, hidden } = options.multiEnvironment && options.compatibility ? hideScoped(winners) : apart(winners)
  const dropped = contests.flatMap((contest) => contest.dropped).sort(byShadowedKey)
  return {
    servers: servers.sort(byKey),
    shadowed: [...hidden, ...dropped].sort(byShadowedKey),
    conflicts: contests
      .flatMap(({ conflicts }) => conflicts)
      .sort((a, b) => compareKeys(a.key, b.key) || a.tier - b.tier),
    problems: [
      ...reserved,
      ...hidden.map(hiddenProblem),
      ...dropped.map(droppedProblem),
      ...contests.flatMap(({ overridden }) => overridden),
      ...contests.flatMap(({ beaten }) => beaten),
    ],
    disabled: distinct([...disabled, ...winners.filter(vetoes).map(({ key }) => key)]),
  }
}

/** Hosted apps belong to the host: an environment that declares the name is refused, and told so. */
function refuseReservedNames(actions: readonly CatalogAction[]) {
  const isReserved = (action: CatalogAction) =>
    keyOf(action).name === HOSTED_APPS_NAME && keyOf(action).environment !== null
  const refused = new Map(actions.filter(isReserved).map((action) => [keyText(keyOf(action)), keyOf(action)]))
  const problems = [...refused.values()].map(
    (key): CatalogProblem => ({
      code: 'reserved_name',
      key,
      message: `MCP server '${displayKey(key)}' is ignored: the name is reserved for hosted apps`,
    }),
  )
  return { accepted: actions.filter((action) => !isReserved(action)), problems }
}

function groupByIdentity(actions: readonly CatalogAction[], options: CatalogOptions): CatalogAction[][] {
  const groups = new Map<string, CatalogAction[]>()
  for (const action of actions) {
    const identity = options.multiEnvironment ? keyText(keyOf(action)) : keyOf(action).name
    const group = groups.get(identity)
    if (group) group.push(action)
    else groups.set(identity, [action])
  }
  return [...groups.values()]
}

/** The contest for one identity: the last action by precedence wins; a removal that wins leaves nothing. */
function settle(group: readonly CatalogAction[], disabled: readonly ServerKey[], options: CatalogOptions) {
  const sorted = [...group].sort(comparePrecedence)
  const last = sorted.at(-1)
  const winner = last?.kind === 'register' ? underDisabledSet(last.registration, disabled, options) : undefined
  return {
    winner,
    dropped: winner ? droppedKeys(sorted, winner, disabled, options) : [],
    conflicts: last ? conflictsOf(sorted, last) : [],
    overridden: winner ? overriddenInEnvironment(sorted, winner) : [],
    beaten: winner ? beatenPlugins(sorted, winner) : [],
  }
}

/** Only `enabled` changes: what a person disabled keeps the rest of its config. */
function underDisabledSet(registration: Registration, disabled: readonly ServerKey[], options: CatalogOptions) {
  const { key, config } = registration
  const isDisabled = disabled.some((one) => (options.multiEnvironment ? sameKey(one, key) : one.name === key.name))
  return isDisabled && config.enabled ? { ...registration, config: { ...config, enabled: false } } : registration
}

/** With the feature off: the other environments' servers of the winner's name, one row a key. */
function droppedKeys(
  sorted: readonly CatalogAction[],
  winner: Registration,
  disabled: readonly ServerKey[],
  options: CatalogOptions,
): ShadowedServer[] {
  const others = new Map<string, CatalogAction>()
  for (const action of sorted) if (!sameKey(keyOf(action), winner.key)) others.set(keyText(keyOf(action)), action)
  return [...others.values()].flatMap((action) =>
    action.kind === 'register'
      ? { registration: underDisabledSet(action.registration, disabled, options), by: winner.key }
      : [],
  )
}

function conflictsOf(sorted: readonly CatalogAction[], last: CatalogAction): Conflict[] {
  const tiers = new Map<number, Contender[]>()
  for (const action of sorted) {
    const tier = tierOf(sourceOf(action))
    tiers.set(tier, [...(tiers.get(tier) ?? []), contender(action)])
  }
  return [...tiers]
    .filter(([, contenders]) => contenders.length > 1)
    .map(([tier, contenders]) => ({ key: keyOf(last), tier, outcome: contender(last), contenders }))
}

function contender(action: CatalogAction): Contender {
  return action.kind === 'register'
    ? { kind: 'register', key: action.registration.key, source: action.registration.source }
    : { kind: 'remove', key: action.removal.key, source: action.removal.source }
}

/** A plugin of an environment that loses its name to the environment's own configuration: told, though no conflict. */
function overriddenInEnvironment(sorted: readonly CatalogAction[], winner: Registration): CatalogProblem[] {
  if (winner.key.environment === null || winner.source.kind !== 'config') return []
  return sorted.flatMap((action): CatalogProblem[] =>
    action.kind === 'register' &&
    action.registration.source.kind === 'selected_plugin' &&
    sameKey(keyOf(action), winner.key)
      ? [
          {
            code: 'overridden_in_environment',
            key: winner.key,
            message: `MCP server '${displayKey(winner.key)}' of plugin '${action.registration.source.plugin.id}' is not used: the environment's own configuration has that name`,
          },
        ]
      : [],
  )
}

/** Two plugins of one environment that bring the same server: the reference only logs it (reference: known-quirks, 24). */
function beatenPlugins(sorted: readonly CatalogAction[], winner: Registration): CatalogProblem[] {
  const { key, source } = winner
  if (source.kind !== 'selected_plugin') return []
  return sorted.flatMap((action): CatalogProblem[] => {
    if (action.kind !== 'register' || !sameKey(keyOf(action), key)) return []
    const other = action.registration.source
    if (other.kind !== 'selected_plugin' || other.order === source.order) return []
    const message = `MCP server '${displayKey(key)}' of plugin '${other.plugin.id}' is not used: plugin '${source.plugin.id}' comes before it`
    return [{ code: 'plugin_conflict', key, message }]
  })
}

/** Reference mode: whatever its state, a thread-wide server hides the scoped ones of its name. */
function hideScoped(winners: readonly Registration[]) {
  const shared = new Map(winners.filter(({ key }) => key.environment === null).map(({ key }) => [key.name, key]))
  const hidden = winners.flatMap((registration): ShadowedServer[] => {
    const by = registration.key.environment === null ? undefined : shared.get(registration.key.name)
    return by ? [{ registration, by }] : []
  })
  const servers = winners.filter(({ key }) => key.environment === null || !shared.has(key.name))
  return { servers, hidden: hidden.sort(byShadowedKey) }
}

function apart(winners: readonly Registration[]) {
  return { servers: [...winners], hidden: [] as ShadowedServer[] }
}

/** A selected plugin speaks for itself alone; any other disabled winner also disables what later lays over its key. */
function vetoes({ config, source }: Registration): boolean {
  return !config.enabled && source.kind !== 'selected_plugin'
}

function hiddenProblem({ registration: { key } }: ShadowedServer): CatalogProblem {
  return {
    code: 'hidden_by_thread_wide',
    key,
    message: `MCP server '${displayKey(key)}' is hidden by the thread-wide server of that name`,
  }
}

function droppedProblem({ registration: { key }, by }: ShadowedServer): CatalogProblem {
  return {
    code: 'dropped_same_name',
    key,
    message: `MCP server '${displayKey(key)}' is not started: '${displayKey(by)}' has that name and multi_environment_mcp is off`,
  }
}

function distinct(keys: readonly ServerKey[]): readonly ServerKey[] {
  return new ServerKeyMap(keys.map((key) => [key, key] as const)).keys()
}

function byKey(a: Registration, b: Registration): number {
  return compareKeys(a.key, b.key)
}

function byShadowedKey(a: ShadowedServer, b: ShadowedServer): number {
  return byKey(a.registration, b.registration)
}
