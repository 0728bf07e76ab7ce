import { plugins, type RawTable } from '../../config/index.js'
import { ConfigError } from '../../errors.js'
import { checkedText, type FileText } from './plugin-files.js'
import type { PluginFolder, PluginReading } from './plugin-folder.js'
import { type DeclaredServers, readAgentServers } from './read-agent-plugin.js'

/** Files that came with an answer of the executor; what is not here is read as ever. */
export interface PrefetchedFiles {
  /** Null: none of the places for one has a manifest. */
  readonly manifest: FileText | null
  readonly servers?: FileText
}

/** A plugin with a manifest of one of the clients (reference: catalog, 7.1 and 7.2); undefined when it has none. */
export async function readClientPlugin(
  folder: PluginFolder,
  prefetched: PrefetchedFiles | undefined,
): Promise<PluginReading | undefined> {
  const { readPluginManifest } = await plugins()
  const file = await manifestFile(folder, prefetched)
  if (file === undefined) return undefined
  const { name, servers } = readPluginManifest(file.path, file.text)
  if (servers.kind === 'inline')
    return reading(folder, name, await readDocument(folder, servers.servers, true), file.path)
  const declared = await serversFile(folder, servers, prefetched)
  if (declared === undefined) return { displayName: name, agentPlugin: false, servers: new Map(), problems: [] }
  const { parsePluginDocument } = await plugins()
  const document = parsePluginDocument(declared.path, declared.text)
  return reading(folder, name, await readDocument(folder, document, false), declared.path)
}

async function reading(
  folder: PluginFolder,
  displayName: string | undefined,
  { servers, problems, agentPlugin }: DeclaredServers & { readonly agentPlugin: boolean },
  file: string,
): Promise<PluginReading> {
  const checked = await folder.contained(servers, file)
  return { displayName, agentPlugin, servers: checked.servers, problems: [...problems, ...checked.problems] }
}

async function manifestFile(
  folder: PluginFolder,
  prefetched: PrefetchedFiles | undefined,
): Promise<FileText | undefined> {
  if (prefetched?.manifest === null) return undefined
  if (prefetched !== undefined) return insideFolder(folder, prefetched.manifest)
  const { PLUGIN_MANIFESTS, pathRules } = await plugins()
  for (const place of PLUGIN_MANIFESTS) {
    const file = await folder.read(pathRules(folder.root.path).join(folder.root.path, place))
    if (file !== undefined) return file
  }
  return undefined
}

/** The file that a manifest names must be there; the one by default need not. */
async function serversFile(
  folder: PluginFolder,
  { path, declared }: { readonly path: string; readonly declared: boolean },
  prefetched: PrefetchedFiles | undefined,
): Promise<FileText | undefined> {
  const { inside } = await plugins()
  const place = inside(folder.root.path, path)
  if (place === undefined) throw new ConfigError('outside_root', 'leads out of the plugin', { place: path })
  if (prefetched?.servers?.path === place) return insideFolder(folder, prefetched.servers)
  const file = await folder.read(place)
  if (file === undefined && declared)
    throw new ConfigError('missing_file', 'is not there, though the manifest names it', { place })
  return file
}

async function insideFolder(folder: PluginFolder, file: FileText): Promise<FileText> {
  await folder.refuseOutside(file.path)
  return checkedText(file)
}

/** A document that says it is of Agent Plugins is taken at its word, wherever it stands. */
async function readDocument(folder: PluginFolder, document: RawTable, isInline: boolean) {
  const { isAgentPluginDocument, readPluginServers } = await plugins()
  const { path, environment } = folder.root
  if (!isInline && isAgentPluginDocument(document)) {
    return { ...(await readAgentServers(folder, document)), agentPlugin: true }
  }
  const servers = readPluginServers(document, { root: path, environmentId: environment })
  return { servers, problems: [], agentPlugin: false }
}
