import { ConfigError } from '../../errors.js'
import { readServer } from '../schema/read-server.js'
import type { ServerConfig } from '../server.js'
import { emptyTable, type Raw, shortened } from '../source/raw.js'

/** A tool that a skill says it needs, as its file has it. */
export interface SkillDependency {
  readonly type: string
  readonly name: string
  /** `streamable_http` when absent; any case. */
  readonly transport?: string
  readonly url?: string
  readonly command?: string
}

export interface NeededServers {
  /** Plain configurations of what is missing, by name, in the order in which it was asked for. */
  readonly servers: ReadonlyMap<string, ServerConfig>
  readonly warnings: readonly string[]
}

/**
 * The MCP servers that skills need and nobody has (reference: catalog, 7.4). Two dependencies on one endpoint are one; what
 * can't be used is warned of and does not stand for what could. A name that is taken by another server is never replaced.
 *
 * @param installed by name
 */
export function neededServers(
  dependencies: readonly SkillDependency[],
  installed: ReadonlyMap<string, ServerConfig>,
): NeededServers {
  const servers = new Map<string, ServerConfig>()
  const warnings: string[] = []
  const seen = new Set([...installed].map(([name, { transport }]) => installedKey(name, transport)))
  for (const dependency of dependencies) {
    if (dependency.type.trim().toLowerCase() !== 'mcp') continue
    const key = dependencyKey(dependency)
    if (seen.has(key)) continue
    const config = configOf(dependency)
    const taken = installed.has(dependency.name) || servers.has(dependency.name)
    if (typeof config === 'string') warnings.push(warning(dependency, config))
    else if (taken) warnings.push(warning(dependency, 'another server has that name'))
    else {
      servers.set(dependency.name, config)
      seen.add(key)
    }
  }
  return { servers, warnings }
}

/** `mcp__streamable_http__https://h/`; the name where there is no endpoint. */
export function dependencyKey(dependency: SkillDependency): string {
  const transport = transportOf(dependency)
  return keyOf(dependency.name, transport, transport === 'stdio' ? dependency.command : dependency.url)
}

function installedKey(name: string, transport: ServerConfig['transport']): string {
  if (transport.type === 'stdio') return keyOf(name, 'stdio', transport.command)
  return keyOf(name, 'streamable_http', transport.url)
}

function keyOf(name: string, transport: string, endpoint = ''): string {
  return endpoint.trim() === '' ? name : `mcp__${transport}__${endpoint.trim()}`
}

function transportOf({ transport = 'streamable_http' }: SkillDependency): string {
  return transport.trim().toLowerCase()
}

/** A text says why there is none. */
function configOf(dependency: SkillDependency): ServerConfig | string {
  const transport = transportOf(dependency)
  if (transport !== 'stdio' && transport !== 'streamable_http')
    return `its transport '${shortened(transport)}' is not supported`
  const member = transport === 'stdio' ? 'command' : 'url'
  const endpoint = dependency[member]?.trim() ?? ''
  if (endpoint === '') return `it has no ${member}`
  const entry: Record<string, Raw> = emptyTable()
  entry[member] = endpoint
  try {
    return readServer(entry, ['mcp_servers', dependency.name], { unknown: () => {} })
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.message
  }
}

function warning({ name }: SkillDependency, reason: string): string {
  return `MCP server '${shortened(name)}', which a skill needs, is left out: ${reason}`
}
