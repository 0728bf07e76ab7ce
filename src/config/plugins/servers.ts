import { ConfigError } from '../../errors.js'
import { readServer } from '../schema/read-server.js'
import { fault } from '../schema/shape.js'
import type { ServerConfig } from '../server.js'
import { emptyTable, isTable, type Path, type Raw, type RawTable, rawCopy, shortened } from '../source/raw.js'
import type { ContainedPath } from './contained.js'
import { cwdInside, cwdJoined, rootUri } from './cwd.js'

/** Where a plugin's files are. */
export interface PluginPlace {
  /** Absolute, in the path style of its machine. */
  readonly root: string
  /** The environment that contributes it; null for a plugin of the host, which may say for itself. */
  readonly environmentId: string | null
}

export interface PluginServers {
  readonly servers: ReadonlyMap<string, ServerConfig>
  /** One for each server that is refused; its siblings are in `servers`. */
  readonly errors: ReadonlyMap<string, ConfigError>
  readonly warnings: readonly { readonly server: string; readonly message: string }[]
  /** What must also hold once links are followed; the reader of the files checks it. */
  readonly paths: readonly ContainedPath[]
}

/**
 * Reads the servers that a plugin declares, in the plain shape (reference: catalog, 7.2): `{ mcpServers }` or the bare
 * map. Pure: the document comes from the environment. A server that is refused doesn't touch its siblings.
 */
export function readPluginServers(document: RawTable, place: PluginPlace): PluginServers {
  const declared = isTable(document.mcpServers) ? document.mcpServers : document
  const servers = new Map<string, ServerConfig>()
  const errors = new Map<string, ConfigError>()
  const warnings: { server: string; message: string }[] = []
  for (const [name, entry] of Object.entries(declared)) {
    const warn = (message: string) => warnings.push({ server: name, message })
    try {
      servers.set(name, readPluginServer(isTable(entry) ? entry : emptyTable(), ['mcpServers', name], place, warn))
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      errors.set(name, error)
    }
  }
  return { servers, errors, warnings, paths: place.environmentId === null ? [] : workingFolders(servers, place.root) }
}

function workingFolders(servers: ReadonlyMap<string, ServerConfig>, root: string): ContainedPath[] {
  return [...servers].flatMap(([server, { transport }]): ContainedPath[] =>
    transport.type === 'stdio' && transport.cwd !== undefined
      ? [{ server, member: 'cwd', path: transport.cwd, within: root, may: 'not be new' }]
      : [],
  )
}

function readPluginServer(
  declared: RawTable,
  path: Path,
  place: PluginPlace,
  warn: (message: string) => void,
): ServerConfig {
  const entry = withoutForeignMembers(declared, warn)
  const { environmentId } = place
  if (environmentId !== null) {
    refuseSandbox(entry, path)
    entry.environment_id = environmentId
    restrictVariables(entry, path, environmentId)
  }
  if (entry.command !== undefined) placeInRoot(entry, path, place)
  return readServer(rawTable(entry), path, {
    unknown: (at) => void warn(`unknown configuration field \`${at.slice(path.length).join('.')}\``),
  })
}

/** Of another machine's plugin: nothing here could keep what it promises. */
function refuseSandbox(entry: RawTable, path: Path): void {
  const member = ['sandbox', 'sandbox_network'].find((name) => Object.hasOwn(entry, name))
  if (member === undefined) return
  const message = `${member} is not supported for a plugin of an environment`
  throw fault('member_not_supported', message, path, { member })
}

const KNOWN_TYPES: readonly Raw[] = ['http', 'streamable_http', 'streamable-http', 'stdio']

function withoutForeignMembers(declared: RawTable, warn: (message: string) => void): Record<string, Raw> {
  const entry: Record<string, Raw> = Object.assign(emptyTable(), declared)
  if (entry.type !== undefined && !KNOWN_TYPES.includes(entry.type)) warn(`unknown type ${JSON.stringify(entry.type)}`)
  delete entry.type
  if (!isTable(entry.oauth)) return entry
  const { callbackPort, clientId, ...others } = entry.oauth
  const oauth: Record<string, Raw> = others
  if (callbackPort !== undefined) warn('oauth.callbackPort is ignored')
  if (clientId !== undefined && oauth.client_id === undefined) oauth.client_id = clientId
  if (Object.keys(oauth).length > 0) entry.oauth = rawTable(oauth)
  else delete entry.oauth
  return entry
}

/** A plugin on another machine takes its variables from there, never the host's; a bearer token too, which then stays there. */
function restrictVariables(entry: Record<string, Raw>, path: Path, environmentId: string): void {
  const local = environmentId === 'local'
  if (Array.isArray(entry.env_vars))
    entry.env_vars = entry.env_vars.map((variable: Raw) => placedVariable(variable, path, local))
  if (local || entry.env_http_headers === undefined) return
  const member = 'env_http_headers'
  throw fault('local_only', `${member} is not supported for a plugin of another environment`, path, { member })
}

function placedVariable(variable: Raw, path: Path, local: boolean): Raw {
  const source = isTable(variable) ? variable.source : undefined
  const refused = local ? 'remote' : 'local'
  if (source === refused) {
    const message = `env_vars source \`${refused}\` is not supported for a plugin of ${local ? 'the local' : 'another'} environment`
    throw fault('local_only', message, path, { member: 'env_vars' })
  }
  if (local) return variable
  if (typeof variable === 'string') return rawTable({ name: variable, source: 'remote' })
  return isTable(variable) && source === undefined ? rawTable({ ...variable, source: 'remote' }) : variable
}

function placeInRoot(entry: Record<string, Raw>, path: Path, { root, environmentId }: PluginPlace): void {
  const { cwd } = entry
  if (cwd === null) delete entry.cwd
  if (environmentId === null) {
    if (typeof cwd === 'string') entry.cwd = cwdJoined(root, cwd)
    return
  }
  if (cwd === undefined || cwd === null) {
    entry.cwd = root
    return
  }
  // Another type is the server reader's to refuse.
  if (typeof cwd !== 'string') return
  const inside = cwdInside(root, cwd)
  if (inside === undefined) {
    const message = `cwd \`${shortened(cwd, 400)}\` must remain within plugin root \`${rootUri(root)}\``
    throw fault('outside_root', message, path, { member: 'cwd' })
  }
  entry.cwd = inside
}

function rawTable(table: RawTable): RawTable {
  const copy = rawCopy(table)
  return isTable(copy) ? copy : emptyTable()
}
