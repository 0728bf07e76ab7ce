import { type PluginServers, plugins, type RawTable } from '../../config/index.js'
import { ConfigError, RpcError } from '../../errors.js'
import { pathOfFileUri } from '../../protocol/index.js'
import type { PluginFolder, PluginProblem, PluginReading } from './plugin-folder.js'

/** An Agent Plugin 1.0 (reference: catalog, 7.3); undefined when its folder holds none. */
export async function readAgentPlugin(folder: PluginFolder): Promise<PluginReading | undefined> {
  const { AGENT_PLUGIN_MANIFEST, AGENT_PLUGIN_SERVERS, parsePluginDocument, pathRules, readAgentManifest } =
    await plugins()
  const place = (name: string) => pathRules(folder.root.path).join(folder.root.path, name)
  const file = await folder.read(place(AGENT_PLUGIN_MANIFEST))
  const manifest = file && readAgentManifest(file.path, file.text)
  if (file === undefined || manifest === undefined) return undefined
  const warnings = manifest.warnings.map(
    (message): PluginProblem => ({ code: 'plugin_warning', path: file.path, message }),
  )
  const declared = await folder.read(place(AGENT_PLUGIN_SERVERS))
  if (declared === undefined)
    return { displayName: manifest.name, agentPlugin: true, servers: new Map(), problems: warnings }
  const { servers, problems } = await readAgentServers(folder, parsePluginDocument(declared.path, declared.text))
  const checked = await folder.contained(servers, declared.path)
  return {
    displayName: manifest.name,
    agentPlugin: true,
    servers: checked.servers,
    problems: [...warnings, ...problems, ...checked.problems],
  }
}

/** Servers as a document declares them: their paths are still to be followed. */
export interface DeclaredServers {
  readonly servers: PluginServers
  readonly problems: readonly PluginProblem[]
}

/** @throws ConfigError for the document as a whole */
export async function readAgentServers(folder: PluginFolder, document: RawTable): Promise<DeclaredServers> {
  const { readAgentPluginServers } = await plugins()
  const { id, path, environment } = folder.root
  const data = await dataFolder(folder, id)
  const servers = readAgentPluginServers(document, { root: path, data }, environment)
  const needsData = [...servers.servers.values()].some(({ transport }) => transport.type === 'stdio')
  return { servers, problems: needsData ? await makeFolder(folder, data) : [] }
}

/** Below the home folder of the executor's user, so that it lasts and survives an update of the plugin. */
async function dataFolder({ environment }: PluginFolder, id: string): Promise<string> {
  const { pluginDataFolder } = await plugins()
  const [{ userHomeDir }, style] = await Promise.all([environment.info(), environment.pathStyle()])
  const home = pathOfFileUri(userHomeDir, style)
  if (home !== undefined) return pluginDataFolder(home, id)
  const message = 'the environment names no home folder, so that there is no place for the data of an Agent Plugin'
  throw new ConfigError('no_data_folder', message, { place: 'userHomeDir' })
}

/** A folder that can't be made may still be there later: its servers are not left out. */
async function makeFolder({ files, signal }: PluginFolder, data: string): Promise<readonly PluginProblem[]> {
  try {
    await files.createDirectory?.(data, signal)
    return []
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    const message = `the folder ${data} for the plugin's data could not be made: ${error.message}`
    return [{ code: 'plugin_warning', path: data, message }]
  }
}
