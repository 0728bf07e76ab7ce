import { ConfigError } from '../../errors.js'
import { readServer } from '../schema/read-server.js'
import { fault } from '../schema/shape.js'
import type { ServerConfig } from '../server.js'
import { emptyTable, isTable, type Path, type Raw, type RawTable, shortened } from '../source/raw.js'
import { agentHttpEntry } from './agent-http.js'
import { type AgentFolders, agentStdioEntry } from './agent-stdio.js'
import type { ContainedPath } from './contained.js'
import type { PluginServers } from './servers.js'

const SERVERS_SCHEMA = 'https://agent-plugins.org/schemas/1.0.0/mcp.schema.json'

/**
 * Reads the servers of an Agent Plugin 1.0 (reference: catalog, 7.3). Pure. A server that is refused doesn't touch its
 * siblings; unknown members are refused at both levels.
 *
 * @throws ConfigError for the document as a whole: `unsupported_schema`, `unknown_member`, `missing_member`
 */
export function readAgentPluginServers(
  document: RawTable,
  folders: AgentFolders,
  environmentId: string,
): PluginServers {
  const servers = new Map<string, ServerConfig>()
  const errors = new Map<string, ConfigError>()
  const warnings: { server: string; message: string }[] = []
  const paths: ContainedPath[] = []
  for (const [name, declared] of Object.entries(declaredServers(document))) {
    const warn = (message: string) => void warnings.push({ server: name, message })
    try {
      const read = readAgentServer(declared, ['mcpServers', name], { folders, environmentId, warn })
      servers.set(name, read.config)
      paths.push(...read.paths.map((path) => ({ server: name, ...path })))
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      errors.set(name, error)
    }
  }
  return { servers, errors, warnings, paths }
}

function declaredServers(document: RawTable): RawTable {
  const { $schema, mcpServers, ...others } = document
  if ($schema !== SERVERS_SCHEMA) {
    const said = typeof $schema === 'string' ? shortened($schema, 120) : 'none'
    throw fault('unsupported_schema', `$schema must be ${SERVERS_SCHEMA}, not ${said}`, ['$schema'])
  }
  refuseUnknown(others, [])
  if (!isTable(mcpServers)) throw fault('missing_member', 'mcpServers must be an object', ['mcpServers'])
  return mcpServers
}

interface Reading {
  readonly folders: AgentFolders
  readonly environmentId: string
  readonly warn: (message: string) => void
}

function readAgentServer(declared: Raw, path: Path, { folders, environmentId, warn }: Reading) {
  if (!isTable(declared)) throw fault('wrong_type', 'a server must be an object', path)
  const { type, ...members } = declared
  switch (type) {
    case 'stdio': {
      const { command, args, env, cwd, ...others } = members
      refuseUnknown(others, path)
      const { entry, paths } = agentStdioEntry(declared, path, folders)
      return { config: placed(entry, path, environmentId), paths }
    }
    case 'streamable-http': {
      const { url, headers, ...others } = members
      refuseUnknown(others, path)
      return { config: placed(agentHttpEntry(declared, path, warn), path, environmentId), paths: [] }
    }
    case 'sse':
      throw fault('unsupported_transport', 'the old SSE transport is not supported for Agent Plugins', path)
    default:
      throw fault('unknown_value', 'type must be `stdio` or `streamable-http`', [...path, 'type'])
  }
}

function placed(entry: Record<string, Raw>, path: Path, environmentId: string): ServerConfig {
  const table: Record<string, Raw> = Object.assign(emptyTable(), entry, { environment_id: environmentId })
  return readServer(table, path, { unknown: () => {} })
}

function refuseUnknown(others: RawTable, path: Path): void {
  const [unknown] = Object.keys(others)
  if (unknown === undefined) return
  throw fault('unknown_member', `unknown member \`${shortened(unknown)}\``, [...path, unknown])
}
