import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { readEnvironmentEntry } from '../environments/read-entry.js'
import { emptyTable, isTable, type Raw, type RawTable, rawCopy } from '../source/raw.js'
import { editConfigFile } from './edit-file.js'
import type { AddOutcome } from './servers.js'
import type { TomlEdit } from './toml-edit.js'

const SECTION = 'environments'
/** What says how an environment is reached: a new way replaces the old one with all its members. */
const WAY: readonly string[] = [
  'url',
  'auth_bearer_token',
  'auth_bearer_token_env_var',
  'connect_timeout_sec',
  'program',
  'args',
  'env',
  'cwd',
]

/**
 * Adds an `[[environments]]` entry to a file, or changes the one of that id. What the new entry doesn't mention stays,
 * unless `replace` is given; another way to reach it replaces the old way with everything that belongs to it.
 *
 * @param entry its members beside `id`; integers as `bigint`.
 * @throws ConfigError also when the resulting entry would be refused, or stands twice in the file.
 */
export async function addEnvironment(
  file: string,
  id: string,
  entry: RawTable,
  options: { readonly replace?: boolean } = {},
): Promise<AddOutcome> {
  let outcome: AddOutcome = 'unchanged'
  await editConfigFile(file, (root) => {
    const index = indexOf(root, id)
    const before = index === undefined ? undefined : itemAt(root, index)
    const asked: RawTable = Object.assign(emptyTable(), { id }, rawCopy(entry))
    const wanted = before === undefined || options.replace ? asked : merged(before, asked)
    const place = { folder: dirname(file), file: 'environments.toml' } as const
    readEnvironmentEntry(wanted, [SECTION, String(index ?? 0)], { unknown: () => {} }, place)
    if (before === undefined || index === undefined) {
      outcome = 'added'
      return [{ kind: 'append item', array: SECTION, value: wanted }]
    }
    const edits = difference(before, wanted, index)
    if (edits.length > 0) outcome = options.replace ? 'replaced' : 'merged'
    return edits
  })
  return outcome
}

/**
 * Takes every entry of that id out of a file, and the `default` that names it: the file would be refused with it.
 *
 * @returns `unknown` when there is none of that id.
 */
export async function removeEnvironment(
  file: string,
  id: string,
): Promise<'removed' | 'removed_with_default' | 'unknown'> {
  let outcome: 'removed' | 'removed_with_default' | 'unknown' = 'unknown'
  await editConfigFile(file, (root) => {
    const found = items(root).flatMap((item, index) => (isTable(item) && item.id === id ? [index] : []))
    if (found.length === 0) return []
    const isDefault = typeof root.default === 'string' && root.default.trim() === id
    outcome = isDefault ? 'removed_with_default' : 'removed'
    return [
      // From the back, so that the other indexes stay true.
      ...found.reverse().map((index): TomlEdit => ({ kind: 'remove item', array: SECTION, index })),
      ...(isDefault ? [{ kind: 'remove', path: ['default'] } as const] : []),
    ]
  })
  return outcome
}

function items(root: RawTable): readonly Raw[] {
  const section = root[SECTION]
  return Array.isArray(section) ? section : []
}

function indexOf(root: RawTable, id: string): number | undefined {
  const index = items(root).findIndex((item) => isTable(item) && item.id === id)
  return index === -1 ? undefined : index
}

function itemAt(root: RawTable, index: number): RawTable {
  const item = items(root)[index]
  return isTable(item) ? item : emptyTable()
}

function merged(before: RawTable, asked: RawTable): RawTable {
  const result: Record<string, Raw> = Object.assign(emptyTable(), before)
  if (asked.url !== undefined || asked.program !== undefined) for (const member of WAY) delete result[member]
  return Object.assign(result, asked)
}

function difference(before: RawTable, wanted: RawTable, index: number): readonly TomlEdit[] {
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(wanted, name))
  return [
    ...gone.map((name): TomlEdit => ({ kind: 'remove in item', array: SECTION, index, name })),
    ...Object.entries(wanted).flatMap(([name, value]): readonly TomlEdit[] =>
      isDeepStrictEqual(before[name], value)
        ? []
        : [{ kind: 'set in item', array: SECTION, index, member: { name, value } }],
    ),
  ]
}
