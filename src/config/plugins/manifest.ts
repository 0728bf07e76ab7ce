import { ConfigError } from '../../errors.js'
import { parseJson } from '../source/json.js'
import { isTable, type RawTable } from '../source/raw.js'

/** Where a plugin's manifest may stand, below its root; the first that exists counts (reference: catalog, 7.1). */
export const PLUGIN_MANIFESTS: readonly string[] = [
  '.codex-plugin/plugin.json',
  '.claude-plugin/plugin.json',
  '.cursor-plugin/plugin.json',
]

/** What a manifest says about MCP servers. */
export type PluginServersSource =
  /** Written in the manifest itself; no file is read. */
  | { readonly kind: 'inline'; readonly servers: RawTable }
  /** In that file, below the root. `declared` false: `.mcp.json` by default, which may be missing. */
  | { readonly kind: 'file'; readonly path: string; readonly declared: boolean }

export interface PluginManifest {
  readonly name: string | undefined
  readonly servers: PluginServersSource
}

/**
 * Reads a plugin's manifest. Pure: the text comes from the environment that the plugin is in. A path must start with `./`,
 * as the reference demands; where it leads is for the reader of the file to check.
 *
 * @throws ConfigError `syntax` with line and column in the message, as the reference words it; `wrong_type`;
 * `invalid_value` for another path.
 */
export function readPluginManifest(file: string, text: string): PluginManifest {
  const { root } = parseJson(file, text)
  const name = typeof root.name === 'string' && root.name.trim() !== '' ? root.name : undefined
  const servers = root.mcpServers
  if (servers === undefined || servers === null)
    return { name, servers: { kind: 'file', path: '.mcp.json', declared: false } }
  if (isTable(servers)) return { name, servers: { kind: 'inline', servers } }
  if (typeof servers !== 'string')
    throw new ConfigError('wrong_type', 'mcpServers is either an object or the path of a file', { place: file })
  if (!servers.startsWith('./') || servers.includes('\0'))
    throw new ConfigError('invalid_value', 'the path in mcpServers must start with `./`', { place: file })
  return { name, servers: { kind: 'file', path: servers, declared: true } }
}
