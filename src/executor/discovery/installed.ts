import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { invalidParams } from '../wire/fault.js'
import { isObject, own } from '../wire/frame.js'
import type { Params } from '../wire/params.js'
import type { Homes } from './homes.js'
import { isBelow, type PluginTexts, pluginTexts } from './plugin-texts.js'
import { currentVersion } from './versions.js'

/** All of them together: a folder that is none of plugins would otherwise be read for long. */
const MOST_PLUGINS = 1000

/** Marketplaces and plugins have such names, so that an id says where its plugin is. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]*$/

interface Place {
  readonly id: string
  readonly name: string
  readonly cache: string
  readonly folder: string
  readonly version: string
}

/**
 * `capabilities/discoverV2`: the plugins below `plugins/cache/<marketplace>/<plugin>/<version>` of the homes of this
 * machine (reference: catalog, 9.1). Which of them are used is for the host to say.
 */
export async function discoverInstalled(params: Params, homes: Homes): Promise<object> {
  params.path('cwd')
  if (params.has('sandbox')) throw invalidParams('this executor has no sandbox: leave it out or null')
  const plugins = new Map<string, object>()
  const warnings: string[] = []
  for (const home of await homes()) {
    for (const place of await installedIn(join(home, 'plugins', 'cache'), warnings)) {
      if (plugins.has(place.id)) warnings.push(`plugin '${place.id}' is installed twice: the first one counts`)
      else if (plugins.size === MOST_PLUGINS) warnings.push(`only the first ${MOST_PLUGINS} plugins are told`)
      else {
        const plugin = await discoverPlugin(place, warnings)
        if (plugin !== undefined) plugins.set(place.id, plugin)
      }
      if (plugins.size === MOST_PLUGINS) break
    }
  }
  const sorted = [...plugins].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, plugin]) => plugin)
  return { plugins: sorted, skills: [], warnings: [...new Set(warnings)] }
}

async function* versions(cache: string): AsyncIterable<Omit<Place, 'version'> & { readonly all: readonly string[] }> {
  for (const marketplace of await folders(cache)) {
    for (const name of await folders(join(cache, marketplace))) {
      const folder = join(cache, marketplace, name)
      // A version is a folder of its own, never a link.
      const all = (await entries(folder)).filter((entry) => entry.isDirectory()).map((entry) => entry.name)
      yield { id: `${name}@${marketplace}`, name, cache, folder, all }
    }
  }
}

async function installedIn(cache: string, warnings: string[]): Promise<readonly Place[]> {
  const places: Place[] = []
  for await (const { all, ...place } of versions(cache)) {
    const version = currentVersion(all)
    if (version === undefined) warnings.push(`plugin '${place.id}' has no version`)
    else places.push({ ...place, version, folder: join(place.folder, version) })
    if (places.length === MOST_PLUGINS) break
  }
  return places
}

async function discoverPlugin(
  { id, name, cache, folder, version }: Place,
  warnings: string[],
): Promise<object | undefined> {
  if (!(await isBelow(cache, folder).catch(() => false))) {
    warnings.push(`plugin '${id}' leads out of ${cache}`)
    return undefined
  }
  const { plugin: texts, warnings: ofFiles } = await pluginTexts(folder)
  for (const warning of ofFiles) warnings.push(warning)
  if (texts?.content === undefined) {
    warnings.push(`plugin '${id}' has no manifest that can be read`)
    return undefined
  }
  const displayName = own(texts.content, 'name')
  return {
    id,
    displayName: typeof displayName === 'string' && displayName !== '' ? displayName : name,
    remotePluginId: null,
    version,
    root: pathToFileURL(folder).href,
    files: { manifest: texts.manifest, mcpConfig: serversOf(texts), appsConfig: texts.appsConfig },
    skills: [],
  }
}

/** Servers that stand in the manifest are told as if they were a file of their own. */
function serversOf({ manifest, content, mcpConfig }: PluginTexts) {
  const inline = content && own(content, 'mcpServers')
  return isObject(inline) ? { path: manifest.path, contents: JSON.stringify(inline) } : mcpConfig
}

async function folders(folder: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const entry of await entries(folder)) {
    if (!NAME.test(entry.name)) continue
    const isFolder = entry.isSymbolicLink()
      ? await stat(join(folder, entry.name)).then(
          (facts) => facts.isDirectory(),
          () => false,
        )
      : entry.isDirectory()
    if (isFolder) found.push(entry.name)
  }
  return found.sort()
}

/** Nothing where there is no such folder: most machines have none. */
async function entries(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
