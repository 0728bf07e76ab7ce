import { ConfigError } from '../errors.js'
import { readHooks } from './hooks/read-hooks.js'
import type { HookEntry } from './hooks/settings.js'
import { optional } from './optional.js'
import { BROKEN_APPROVALS, type ManagedApprovals, managedApprovals } from './requirements-approvals.js'
import { type ManagedPermissions, readManagedPermissions } from './requirements-permissions.js'
import { fault, list, map, type Notes, oneOf, type Shape, table, text, wrongType } from './schema/shape.js'
import type { ConfigProblem } from './server.js'
import { isTable, type Path, pathText, placeIn, type Raw, type SourceDocument } from './source/raw.js'

/** What a managed file demands of servers (reference: catalog, 5). Each table that exists restricts. */
export interface Requirements {
  /** The file, for `disabled_reason`. */
  readonly source: string
  /** Table `mcp_servers`. */
  readonly servers?: ReadonlyMap<string, ServerIdentity>
  /** Table `mcp_server_matchers`. */
  readonly matchers?: ReadonlyMap<string, ServerMatcher>
  /** Plugin id → server name → identity. A plugin without `mcp_servers` has no MCP rules. */
  readonly plugins?: ReadonlyMap<string, PluginRules>
  /** Table `approvals`: ours. */
  readonly approvals?: ManagedApprovals
  /** What a further file demands as well. */
  readonly also?: Requirements
}

export interface PluginRules {
  readonly servers?: ReadonlyMap<string, ServerIdentity>
}

/** Equality with the command of a stdio server, or with the URL of an HTTP one. */
export type ServerIdentity = { readonly command: string } | { readonly url: string }

/** A whole command line, argument by argument, or a URL. */
export type ServerMatcher =
  | { readonly command: string; readonly args: readonly ValueMatcher[] }
  | { readonly url: ValueMatcher }

/** A regular expression must match the whole value. */
export type ValueMatcher =
  | { readonly match: 'exact' | 'prefix'; readonly value: string }
  | { readonly match: 'regex'; readonly expression: string }

export interface ReadRequirements {
  readonly requirements: Requirements | undefined
  /** Table `hooks`: run whatever anybody says. */
  readonly hooks: readonly HookEntry[]
  /** What profiles and policies may be. */
  readonly permissions: ManagedPermissions | undefined
  readonly problems: readonly ConfigProblem[]
}

/** A rule that no plugin meets: with any rule, plugins without one are refused. An empty table would allow all. */
const NO_PLUGIN: readonly [string, PluginRules] = ['', { servers: new Map() }]

/** Other requirements stand in the same file: they are other rooms' business. */
const SILENT: Notes = { unknown: () => {} }

/**
 * Reads what a requirements file says of servers, approvals, permissions and hooks. A fault in it fails closed: the whole table of
 * servers that holds it allows nothing, approvals are asked for every time, a hook fails, and the problem says so.
 */
export function readRequirements(document: SourceDocument): ReadRequirements {
  const problems: ConfigProblem[] = []
  const tell = (severity: ConfigProblem['severity'], code: string, message: string, path: Path) =>
    problems.push({ severity, code, message, place: placeIn(document, path), path })
  /** @returns undefined after a fault, which is told with what it leads to */
  const attempt = <T>(read: () => T, consequence: string): T | undefined => {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      const path = Array.isArray(error.data?.path) ? error.data.path : []
      tell('error', error.code, `${error.message}; until this is mended, ${consequence}`, path)
      return undefined
    }
  }
  const section = <T>(
    name: string,
    shape: Shape<Readonly<Record<string, T>>>,
    broken: readonly (readonly [string, T])[] = [],
  ): ReadonlyMap<string, T> | undefined => {
    const value = document.root[name]
    if (value === undefined) return undefined
    const read = attempt(() => shape.read(value, [name], SILENT), `${name} of this file allows no server`)
    return new Map(read === undefined ? broken : Object.entries(read))
  }
  const servers = section('mcp_servers', map(identityRule))
  const matchers = section('mcp_server_matchers', map(serverMatcher))
  const plugins = section('plugins', map(pluginRules), [NO_PLUGIN])
  const rules = document.root.approvals
  const approvals =
    rules === undefined
      ? undefined
      : (attempt(() => managedApprovals.read(rules, ['approvals'], SILENT), 'every call is asked for') ??
        BROKEN_APPROVALS)
  const permissions = readManagedPermissions({
    source: document.file,
    root: document.root,
    notes: SILENT,
    attempt,
    warn: (code, message, path) => tell('warning', code, message, path),
  })
  const { entries: hooks } = readHooks({
    document,
    options: { layer: 'managed', sharedFile: true },
    attempt: (read) => attempt(read, 'what it is for fails'),
    warn: (code, message, path) => tell('warning', code, message, path),
    unknown: (path) => tell('warning', 'unknown_member', `unknown requirements field \`${pathText(path)}\``, path),
  })
  if (!servers && !matchers && !plugins && !approvals) return { requirements: undefined, hooks, permissions, problems }
  return {
    hooks,
    permissions,
    requirements: Object.freeze({
      source: document.file,
      ...optional('servers', servers),
      ...optional('matchers', matchers),
      ...optional('plugins', plugins),
      ...optional('approvals', approvals),
    }),
    problems,
  }
}

const identityRule: Shape<ServerIdentity> = {
  schema: {},
  read(value, path) {
    const identity = isTable(value) ? value.identity : undefined
    if (!isTable(identity)) throw fault('missing_member', 'missing field `identity`', path)
    const { command, url } = identity
    if (typeof command === 'string' && url === undefined) return { command }
    if (typeof url === 'string' && command === undefined) return { url }
    throw fault('wrong_type', 'identity is either { command = "…" } or { url = "…" }', [...path, 'identity'])
  },
}

const valueMatcher: Shape<ValueMatcher> = {
  schema: {},
  read(value, path, notes) {
    const members = table({ match: oneOf('exact', 'prefix', 'regex'), value: text, expression: text })
    const { match, value: wanted, expression } = members.read(value, path, notes)
    if (match === 'regex' && expression !== undefined) return { match, expression: checkedRegex(expression, path) }
    if (match !== undefined && match !== 'regex' && wanted !== undefined) return { match, value: wanted }
    throw fault(
      'missing_member',
      'a matcher is { match = "exact" | "prefix", value } or { match = "regex", expression }',
      path,
    )
  },
}

function checkedRegex(expression: string, path: Path): string {
  try {
    new RegExp(`^(?:${expression})$`, 'u')
    return expression
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw fault('invalid_value', `invalid regex \`${expression}\`: ${reason}`, path)
  }
}

const serverMatcher: Shape<ServerMatcher> = {
  schema: {},
  read(value: Raw, path, notes) {
    if (!isTable(value)) throw wrongType(value, 'a map', path)
    const { command, args, url } = value
    if (url !== undefined && command === undefined) return { url: valueMatcher.read(url, [...path, 'url'], notes) }
    if (typeof command !== 'string') throw fault('missing_member', 'a matcher has `command` and `args`, or `url`', path)
    return { command, args: list(valueMatcher).read(args ?? [], [...path, 'args'], notes) }
  },
}

const pluginRules: Shape<PluginRules> = {
  schema: {},
  read(value, path, notes) {
    if (!isTable(value)) throw wrongType(value, 'a map', path)
    if (value.mcp_servers === undefined) return {}
    const rules = map(identityRule).read(value.mcp_servers, [...path, 'mcp_servers'], notes)
    return { servers: new Map(Object.entries(rules)) }
  },
}
