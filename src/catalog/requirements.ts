import type {
  DisabledReason,
  ManagedTools,
  Requirements,
  ServerConfig,
  ServerIdentity,
  ServerMatcher,
  ValueMatcher,
} from '../config/index.js'
import { isHostOwnedApps } from './hosted-apps.js'
import type { Registration } from './types.js'

/** What `disabled_reason` says to people. */
export function disabledReasonText(reason: DisabledReason): string {
  return `requirements (${reason.source})`
}

/**
 * The registration as the requirements leave it: disabled with the reason if their lists do not allow it, and with what
 * they demand of approvals. Hosted apps of the host are in no list.
 */
export function underRequirements(registration: Registration, requirements: Requirements): Registration {
  const isFree = isHostOwnedApps(registration) || isAllowed(registration, requirements)
  const allowed = isFree ? registration : denied(registration, requirements.source)
  const managed = withManagedApprovals(allowed, requirements)
  return requirements.also === undefined ? managed : underRequirements(managed, requirements.also)
}

/** Beside what other files demand: the strictest counts, whenever a call is made. */
function withManagedApprovals(registration: Registration, { source, approvals }: Requirements): Registration {
  if (approvals === undefined) return registration
  const { key, config } = registration
  const own = approvals.servers.get(key.name)
  const defaultMode = own?.defaultMode ?? approvals.defaultMode
  const rules: ManagedTools = {
    source,
    strictReview: approvals.strictReview,
    ...(defaultMode && { defaultMode }),
    tools: Object.fromEntries(own?.tools ?? []),
  }
  return { ...registration, config: { ...config, managed: [...(config.managed ?? []), rules] } }
}

export function denied(registration: Registration, source: string): Registration {
  const config = { ...registration.config, enabled: false, disabledReason: { kind: 'requirements' as const, source } }
  return { ...registration, config }
}

/** Whether the lists allow a server of this name, source and config. `enabled` plays no part. */
export function isAllowed({ key, source, config }: Registration, requirements: Requirements): boolean {
  return 'plugin' in source
    ? isPluginServerAllowed(source.plugin.id, key.name, config, requirements)
    : isServerAllowed(key.name, config, requirements)
}

/** In a list at all, and as every list that names it says. */
function isServerAllowed(name: string, config: ServerConfig, { servers, matchers }: Requirements): boolean {
  if (servers === undefined && matchers === undefined) return true
  const identity = servers?.get(name)
  const matcher = matchers?.get(name)
  if (identity === undefined && matcher === undefined) return false
  return (
    (identity === undefined || hasIdentity(config, identity)) && (matcher === undefined || matches(config, matcher))
  )
}

/** An empty server list, a plugin rule that is missing, and a matcher that is missing each forbid. */
function isPluginServerAllowed(
  pluginId: string,
  name: string,
  config: ServerConfig,
  { servers, matchers, plugins }: Requirements,
): boolean {
  if (servers?.size === 0) return false
  return isAllowedByPluginRules(pluginId, name, config, plugins) && isAllowedByMatchers(name, config, matchers)
}

function isAllowedByPluginRules(
  pluginId: string,
  name: string,
  config: ServerConfig,
  plugins: Requirements['plugins'],
): boolean {
  const hasRules = [...(plugins?.values() ?? [])].some(({ servers }) => servers !== undefined)
  if (!hasRules) return true
  const rule = plugins?.get(pluginId)?.servers?.get(name)
  return rule !== undefined && hasIdentity(config, rule)
}

function isAllowedByMatchers(name: string, config: ServerConfig, matchers: Requirements['matchers']): boolean {
  if (matchers === undefined) return true
  const matcher = matchers.get(name)
  return matcher !== undefined && matches(config, matcher)
}

function hasIdentity({ transport }: ServerConfig, identity: ServerIdentity): boolean {
  if (transport.type === 'stdio') return 'command' in identity && identity.command === transport.command
  return 'url' in identity && identity.url === transport.url
}

function matches({ transport }: ServerConfig, matcher: ServerMatcher): boolean {
  if (transport.type !== 'stdio') return 'url' in matcher && matchesValue(transport.url, matcher.url)
  if (!('command' in matcher) || matcher.command !== transport.command) return false
  const { args } = transport
  return matcher.args.length === args.length && matcher.args.every((one, index) => matchesValue(args[index] ?? '', one))
}

function matchesValue(value: string, matcher: ValueMatcher): boolean {
  switch (matcher.match) {
    case 'exact':
      return value === matcher.value
    case 'prefix':
      return value.startsWith(matcher.value)
    case 'regex':
      return fullMatch(matcher.expression)?.test(value) ?? false
  }
}

/**
 * What is wrong with the regular expressions, each with its place below the requirements. One that cannot be compiled
 * matches nothing, so the server it guards stays disabled.
 */
export function requirementFaults({ matchers = new Map() }: Requirements): readonly RequirementFault[] {
  return [...matchers].flatMap(([name, matcher]) =>
    valuesOf(matcher).flatMap(({ value, member }) =>
      value.match === 'regex' && fullMatch(value.expression) === undefined
        ? [{ place: `${name}.${member}`, message: `regular expression '${value.expression}' cannot be used` }]
        : [],
    ),
  )
}

export interface RequirementFault {
  readonly place: string
  readonly message: string
}

function valuesOf(matcher: ServerMatcher): { readonly value: ValueMatcher; readonly member: string }[] {
  if ('url' in matcher) return [{ value: matcher.url, member: 'url' }]
  return matcher.args.map((value, index) => ({ value, member: `args[${index}]` }))
}

/** Strict syntax (`u`): what another dialect means otherwise is refused here, not read as something else. */
function fullMatch(expression: string): RegExp | undefined {
  try {
    // By itself first, so that unbalanced brackets cannot reach out of the group.
    new RegExp(expression, 'u')
    return new RegExp(`^(?:${expression})$`, 'u')
  } catch {
    return undefined
  }
}
