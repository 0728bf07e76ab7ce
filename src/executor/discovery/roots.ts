import { stat } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { invalidParams, invalidRequest } from '../wire/fault.js'
import type { Params } from '../wire/params.js'
import { pluginTexts } from './plugin-texts.js'
import { skillTexts } from './skills.js'

/** As real executors have it (seen). */
const MOST_ROOTS = 128

/** `capabilityRoots/discoverV1`: what stands in folders, each for itself (reference: executor-protocol, 9). */
export async function discoverRoots(params: Params): Promise<object> {
  const roots = params.requiredGroups('roots').map((root) => {
    if (root.has('sandbox')) throw invalidParams('this executor has no sandbox: leave it out or null')
    return { id: root.text('id'), folder: root.path('path') }
  })
  if (roots.length > MOST_ROOTS) throw invalidRequest(`capability root discovery accepts at most ${MOST_ROOTS} roots`)
  return { roots: await Promise.all(roots.map(({ id, folder }) => discoverRoot(id, folder))) }
}

async function discoverRoot(id: string, folder: string): Promise<object> {
  const path = pathToFileURL(folder).href
  const fault = await folderFault(folder, path)
  if (fault !== null) return { id, path, plugin: null, skills: [], namespaceManifests: [], warnings: [], error: fault }
  const [{ plugin, warnings }, { skills, warnings: ofSkills }] = await Promise.all([
    pluginTexts(folder),
    skillTexts(folder),
  ])
  return {
    id,
    path,
    plugin: plugin && { manifest: plugin.manifest, mcpConfig: plugin.mcpConfig, appsConfig: plugin.appsConfig },
    skills,
    namespaceManifests: plugin === null ? [] : [plugin.manifest],
    warnings: [...warnings, ...ofSkills],
    error: null,
  }
}

async function folderFault(folder: string, uri: string): Promise<string | null> {
  try {
    return (await stat(folder)).isDirectory() ? null : `capability root ${uri} is not a directory`
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    return `failed to inspect capability root ${uri}: ${code}`
  }
}
