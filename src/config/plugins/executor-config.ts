import { ConfigError } from '../../errors.js'
import { type Requirements, readRequirements } from '../requirements.js'
import { readServer } from '../schema/read-server.js'
import { wrongType } from '../schema/shape.js'
import type { ServerConfig } from '../server.js'
import { emptyTable, isTable, type Raw, type RawTable, rawCopy } from '../source/raw.js'
import { parseToml } from '../source/toml.js'

/** One file of an executor's own configuration; `environmentConfig/read` gives them with the strongest last. */
export interface ExecutorConfigLayer {
  /** What the executor calls it, for places. */
  readonly source: string
  readonly toml: string
}

/** What an executor's own configuration contributes. */
export interface ExecutorConfig {
  /** HTTP servers alone; they have no plugin. */
  readonly servers: ReadonlyMap<string, ServerConfig>
  /** stdio servers, which are left out (reference: known-quirks, 47). */
  readonly skipped: readonly string[]
  /** What the machine's administrator demands of these servers; of plugins it says nothing (seen). Each must be met. */
  readonly requirements: readonly Requirements[]
  readonly problems: readonly ExecutorConfigProblem[]
}

export interface ExecutorConfigProblem {
  readonly server?: string
  readonly place: string
  readonly message: string
}

/** Of one executor: every one of them would be connected to. */
const MOST_SERVERS = 1000

/**
 * Reads the configuration that an executor keeps for itself (reference: catalog, 9.1). It can only add HTTP servers:
 * nothing in it switches off, filters or approves what plugins bring, and none of its servers is required. Layers are
 * merged member by member. A layer that cannot be parsed is one problem, and so is each server that is refused. A layer of
 * requirements with a fault allows nothing.
 */
export function readExecutorConfig(
  layers: readonly ExecutorConfigLayer[],
  environmentId: string,
  requirementLayers: readonly ExecutorConfigLayer[] = [],
): ExecutorConfig {
  const servers = new Map<string, ServerConfig>()
  const skipped: string[] = []
  const problems: ExecutorConfigProblem[] = []
  const requirements = requirementLayers.flatMap((layer) => requirementsOf(layer, problems))
  const merged: Record<string, Raw> = emptyTable()
  const sourceOf = new Map<string, string>()
  for (const { source, toml } of layers) {
    const declared = attempt(source, problems, () => serversOf(parseToml(source, toml).root))
    for (const [name, entry] of Object.entries(declared ?? {})) {
      merged[name] = mergedRaw(merged[name], entry)
      sourceOf.set(name, source)
    }
  }
  const entries = Object.entries(merged)
  if (entries.length > MOST_SERVERS) {
    const message = `more than ${MOST_SERVERS} servers: none of them is used`
    return { servers, skipped, requirements, problems: [...problems, { place: 'mcp_servers', message }] }
  }
  for (const [name, entry] of entries) {
    if (isTable(entry) && entry.command !== undefined) {
      skipped.push(name)
      continue
    }
    const config = attempt(sourceOf.get(name) ?? '', problems, () => readEntry(name, entry, environmentId), name)
    if (config?.enabled) servers.set(name, config)
  }
  return { servers, skipped, requirements, problems }
}

/** Only the rules for servers by name: those for plugins are the host's to make. */
function requirementsOf({ source, toml }: ExecutorConfigLayer, problems: ExecutorConfigProblem[]): Requirements[] {
  const document = attempt(source, problems, () => parseToml(source, toml))
  if (document === undefined) return [{ source, servers: new Map() }]
  const read = readRequirements(document)
  for (const { place, message, path } of read.problems)
    if (path?.[0]?.startsWith('mcp_server')) problems.push({ place, message })
  const { servers, matchers } = read.requirements ?? {}
  if (servers === undefined && matchers === undefined) return []
  return [{ source, ...(servers && { servers }), ...(matchers && { matchers }) }]
}

function readEntry(name: string, entry: Raw, environmentId: string): ServerConfig {
  const path = ['mcp_servers', name]
  if (!isTable(entry)) throw wrongType(entry, 'a map', path)
  const placed: Record<string, Raw> = Object.assign(emptyTable(), entry, { environment_id: environmentId })
  return Object.freeze({ ...readServer(placed, path, { unknown: () => {} }), required: false })
}

function serversOf(root: RawTable): RawTable {
  const { mcp_servers: servers } = root
  if (servers === undefined) return {}
  if (!isTable(servers)) throw wrongType(servers, 'a map', ['mcp_servers'])
  return servers
}

function mergedRaw(under: Raw | undefined, over: Raw): Raw {
  if (!isTable(under) || !isTable(over)) return rawCopy(over)
  const merged: Record<string, Raw> = Object.assign(emptyTable(), under)
  for (const [name, value] of Object.entries(over)) merged[name] = mergedRaw(merged[name], value)
  return merged
}

function attempt<T>(source: string, problems: ExecutorConfigProblem[], read: () => T, server?: string): T | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const place = server === undefined ? (error.place ?? source) : `${source} ${error.place ?? ''}`.trim()
    problems.push({ ...(server !== undefined && { server }), place, message: error.message })
    return undefined
  }
}
