import { dirname, resolve } from 'node:path'
import { ConfigError } from '../../errors.js'
import { optional } from '../optional.js'
import { fault, flag, type Notes, text, wrongType } from '../schema/shape.js'
import type { ConfigOrigin } from '../server.js'
import { type Path, placeIn, type Raw, type SourceDocument } from '../source/raw.js'
import { REFERENCE_MEMBERS } from './members.js'
import { readEnvironmentEntry } from './read-entry.js'
import type { EnvironmentEntry } from './settings.js'

/** What one `environments.toml`, or the variables that stand for it, say. */
export interface EnvironmentsFile {
  readonly entries: readonly EnvironmentEntry[]
  readonly includeLocal: boolean
  /** An id, or `none`; absent: `local` if it is included. */
  readonly default?: string
}

const TOP_MEMBERS = ['default', 'include_local', 'environments'] as const

/**
 * Reads an `environments.toml` as the reference does: one fault rejects the whole file (reference: catalog, 8.1).
 *
 * @param otherIds environments configured elsewhere, which `default` may name too
 * @throws ConfigError with the reference's text; `place` is file, line and member
 */
export function readEnvironmentsFile(
  document: SourceDocument,
  layer: ConfigOrigin['layer'],
  otherIds: ReadonlySet<string> = new Set(),
): EnvironmentsFile {
  try {
    return read(document, layer, otherIds)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const path = Array.isArray(error.data?.path) ? error.data.path : []
    throw new ConfigError(error.code, error.message, { place: placeIn(document, path), data: { path } })
  }
}

function read(
  { root, file, position }: SourceDocument,
  layer: ConfigOrigin['layer'],
  otherIds: ReadonlySet<string>,
): EnvironmentsFile {
  for (const name of Object.keys(root))
    if (!TOP_MEMBERS.some((known) => known === name)) REFUSING.unknown([name], TOP_MEMBERS)
  const chosen = root.default === undefined ? undefined : text.read(root.default, ['default'], REFUSING)
  const includeLocal = root.include_local === undefined || flag.read(root.include_local, ['include_local'], REFUSING)
  const entries = listOf(root.environments).map((value, index): EnvironmentEntry => {
    const path = ['environments', String(index)]
    const place = { folder: dirname(resolve(file)), file: 'environments.toml' } as const
    const entry = readEnvironmentEntry(value, path, REFUSING, place)
    const origin = Object.freeze({ file, layer, ...optional('line', position(path)?.line) })
    return Object.freeze({ ...entry, origin })
  })
  refuseDuplicates(entries)
  const ids = new Set([...entries.map(({ id }) => id), ...otherIds, ...(includeLocal ? ['local'] : [])])
  return { entries, includeLocal, ...optional('default', defaultId(chosen, ids)) }
}

function listOf(value: Raw | undefined): readonly Raw[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw wrongType(value, 'a sequence', ['environments'])
  return value
}

function refuseDuplicates(entries: readonly EnvironmentEntry[]): void {
  const seen = new Set<string>()
  entries.forEach(({ id }, index) => {
    if (seen.has(id))
      throw fault('duplicate_id', `environment id \`${id}\` is duplicated`, ['environments', String(index), 'id'])
    seen.add(id)
  })
}

function defaultId(written: string | undefined, ids: ReadonlySet<string>): string | undefined {
  if (written === undefined) return undefined
  const id = written.trim()
  if (id === '') throw fault('empty', 'default environment id cannot be empty', ['default'])
  if (id.toLowerCase() === 'none') return 'none'
  if (ids.has(id)) return id
  throw fault('unknown_default', `default environment \`${id}\` is not configured`, ['default'])
}

/** What is not known is refused, in the reference's words: they do not list what only we know. */
const REFUSING: Notes = {
  unknown(path: Path, known: readonly string[]) {
    const expected = path[0] === 'environments' ? REFERENCE_MEMBERS : known
    const names = expected.map((name) => `\`${name}\``).join(', ')
    throw fault('unknown_member', `unknown field \`${path.at(-1)}\`, expected one of ${names}`, path)
  },
}
