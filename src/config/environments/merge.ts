import type { EnvironmentsFile } from './read-file.js'
import type { EnvironmentSections } from './read-sections.js'
import { type CapabilityRootEntry, type EnvironmentEntry, type EnvironmentSettings, HOST_ALONE } from './settings.js'

/**
 * Puts what is said of environments on each other: the files' entries, and over them by id those of `config.toml`,
 * lowest first. A later one wins by the whole entry; a broken one leaves nothing under its id.
 */
export function mergeEnvironments(
  files: readonly EnvironmentsFile[],
  sections: readonly EnvironmentSections[],
): EnvironmentSettings {
  const entries = new Map<string, EnvironmentEntry>()
  const roots = new Map<string, CapabilityRootEntry>()
  let includeLocal = true
  let chosen: string | undefined
  for (const file of files) {
    for (const entry of file.entries) entries.set(entry.id, entry)
    includeLocal = file.includeLocal
    chosen = file.default
  }
  for (const { entries: own, broken, capabilityRoots } of sections) {
    for (const id of broken) entries.delete(id)
    for (const entry of own) entries.set(entry.id, entry)
    for (const root of capabilityRoots) roots.set(root.id, root)
  }
  if (files.length === 0 && entries.size === 0 && roots.size === 0) return HOST_ALONE
  return Object.freeze({
    entries: Object.freeze([...entries.values()]),
    includeLocal,
    defaultSelection: Object.freeze(defaultSelection([...entries.keys()], includeLocal, chosen)),
    capabilityRoots: Object.freeze([...roots.values()]),
  })
}

/** The default first, then the host, then the others in order (reference: catalog, 8.1). */
function defaultSelection(ids: readonly string[], includeLocal: boolean, chosen: string | undefined): string[] {
  const all = [...(includeLocal ? ['local'] : []), ...ids]
  const first = chosen ?? (includeLocal ? 'local' : 'none')
  // One that was named by the file, and whose entry in `config.toml` turned out broken, is not there.
  if (first === 'none' || !all.includes(first)) return []
  return [first, ...all.filter((id) => id !== first)]
}
