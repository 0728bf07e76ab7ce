import { dirname, resolve } from 'node:path'
import { type Environment, expandEntry } from '../expand.js'
import { optional } from '../optional.js'
import { fault, type Notes, wrongType } from '../schema/shape.js'
import type { ConfigOrigin } from '../server.js'
import { isTable, type Path, type Raw, type RawTable, type SourceDocument } from '../source/raw.js'
import { capabilityRoot } from './members.js'
import { type EntryPlace, isAbsoluteSomewhere, readEnvironmentEntry } from './read-entry.js'
import type { CapabilityRootEntry, EnvironmentEntry } from './settings.js'

/** `[[environments]]` and `[[capability_roots]]` of one `config.toml`. */
export interface EnvironmentSections {
  readonly entries: readonly EnvironmentEntry[]
  /** Ids whose entry is an error: they hide the same id of lower layers rather than fall back to it. */
  readonly broken: ReadonlySet<string>
  readonly capabilityRoots: readonly CapabilityRootEntry[]
}

/** What collects problems while a document is read. */
export interface SectionReading extends Notes {
  readonly document: SourceDocument
  readonly options: { readonly layer: ConfigOrigin['layer']; readonly variables?: Environment }
  attempt<T>(read: () => T): T | undefined
  warn(code: string, message: string, path: Path): void
  error(code: string, message: string, path: Path): void
}

/** Members in which `${VAR}` is replaced. */
const EXPANDED: readonly string[] = ['url', 'auth_bearer_token', 'program', 'args', 'env', 'cwd', 'workspace']
const NONE: EnvironmentSections = Object.freeze({ entries: [], broken: new Set<string>(), capabilityRoots: [] })

/** Each broken entry is one problem and stops only itself. */
export function readEnvironmentSections(reading: SectionReading): EnvironmentSections {
  const { environments, capability_roots: roots } = reading.document.root
  if (environments === undefined && roots === undefined) return NONE
  const { entries, broken } = readEntries(reading, environments)
  return { entries, broken, capabilityRoots: readRoots(reading, roots) }
}

function readEntries(
  reading: SectionReading,
  section: Raw | undefined,
): Pick<EnvironmentSections, 'entries' | 'broken'> {
  const entries = new Map<string, EnvironmentEntry>()
  const broken = new Set<string>()
  listOf(reading, section, 'environments').forEach((value, index) => {
    const path = ['environments', String(index)]
    const id = isTable(value) && typeof value.id === 'string' ? value.id : undefined
    const entry = reading.attempt(() => readEntry(reading, value, path))
    if (entry === undefined) {
      if (id !== undefined) broken.add(id)
    } else if (entries.has(entry.id) || broken.has(entry.id)) {
      // Which of them is meant is not ours to guess.
      reading.error('duplicate_id', `environment id \`${entry.id}\` is duplicated: none of them counts`, path)
      broken.add(entry.id)
    } else entries.set(entry.id, entry)
  })
  return { entries: [...entries.values()].filter(({ id }) => !broken.has(id)), broken }
}

function readEntry(reading: SectionReading, value: Raw, path: Path): EnvironmentEntry | undefined {
  const { document, options } = reading
  const place: EntryPlace = { folder: dirname(resolve(document.file)), file: 'config.toml' }
  const written = readEnvironmentEntry(value, path, reading, place)
  const entry = isTable(value) ? readExpanded(reading, value, written, path, place) : written
  if (entry === undefined) return undefined
  const origin = { file: document.file, layer: options.layer, ...optional('line', document.position(path)?.line) }
  return Object.freeze({
    ...entry,
    ...(entry !== written && { written: written.connection }),
    origin: Object.freeze(origin),
  })
}

function readExpanded(
  reading: SectionReading,
  value: RawTable,
  written: Omit<EnvironmentEntry, 'origin'>,
  path: Path,
  place: EntryPlace,
): Omit<EnvironmentEntry, 'origin'> | undefined {
  const { variables } = reading.options
  if (variables === undefined) return written
  const { entry, changed, faults } = expandEntry(value, path, variables, EXPANDED)
  if (!changed) return written
  for (const { code, message, path: at } of faults) reading.error(code, message, at)
  return faults.length > 0 ? undefined : readEnvironmentEntry(entry, path, SILENT, place)
}

const SILENT: Notes = { unknown: () => {} }

function readRoots(reading: SectionReading, section: Raw | undefined): readonly CapabilityRootEntry[] {
  const roots = new Map<string, CapabilityRootEntry>()
  listOf(reading, section, 'capability_roots').forEach((value, index) => {
    const path = ['capability_roots', String(index)]
    const root = reading.attempt(() => readRoot(reading, value, path))
    if (root === undefined) return
    // The first is kept, as among the roots of a thread (reference: catalog, 3.2).
    if (roots.has(root.id))
      reading.warn('duplicate_root', `the root id \`${root.id}\` is used twice: the first counts`, path)
    else roots.set(root.id, root)
  })
  return [...roots.values()]
}

function readRoot(reading: SectionReading, value: Raw, path: Path): CapabilityRootEntry {
  const { document, options } = reading
  const { id, environment, path: folder } = capabilityRoot.read(value, path, reading)
  if (id === undefined || environment === undefined || folder === undefined) {
    const missing = id === undefined ? 'id' : environment === undefined ? 'environment' : 'path'
    throw fault('missing_member', `missing field \`${missing}\``, path)
  }
  if (id.trim() === '') throw fault('empty', 'capability root id cannot be empty', [...path, 'id'])
  if (environment.trim() === '') throw fault('empty', 'environment id cannot be empty', [...path, 'environment'])
  if (!isAbsoluteSomewhere(folder)) {
    const message = 'must be an absolute path of the environment, POSIX or Windows'
    throw fault('relative_path', message, [...path, 'path'])
  }
  const origin = { file: document.file, layer: options.layer, ...optional('line', document.position(path)?.line) }
  return Object.freeze({ id, environment, path: folder, origin: Object.freeze(origin) })
}

function listOf(reading: SectionReading, value: Raw | undefined, member: string): readonly Raw[] {
  if (value === undefined) return []
  if (Array.isArray(value)) return value
  reading.attempt(() => {
    throw wrongType(value, 'a sequence', [member])
  })
  return []
}
