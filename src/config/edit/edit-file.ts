import { isDeepStrictEqual } from 'node:util'
import { ConfigError } from '../../errors.js'
import { realPath } from '../project.js'
import { emptyTable, isTable, type Path, type Raw, type RawTable } from '../source/raw.js'
import { BYTE_ORDER_MARK, readMarkedText } from '../source/read-text.js'
import { parseToml } from '../source/toml.js'
import { refuseForeignFile } from './editable.js'
import { itemEdited } from './item-edit.js'
import { withFileLock } from './lock.js'
import { editToml, type TomlEdit } from './toml-edit.js'
import { writeConfigFile } from './write-file.js'

/**
 * Edits a TOML file under its lock. Nothing is written when there is nothing to do, when the file is not valid TOML
 * (half-written, say), or when the edited text would not mean exactly what was asked for.
 *
 * @param plan what to change, from what stands there; may throw to refuse.
 * @returns whether the file was written.
 * @throws ConfigError `syntax`, `not_editable`, `edit_failed`, `locked`, `unwritable`, and those of reading a file.
 */
export async function editConfigFile(file: string, plan: (root: RawTable) => readonly TomlEdit[]): Promise<boolean> {
  refuseForeignFile(file)
  const real = realPath(file)
  return withFileLock(real, () => {
    const marked = readMarkedText(real) ?? ''
    const mark = marked.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : ''
    const text = marked.slice(mark.length)
    const { root } = parseToml(file, text)
    const edits = plan(root)
    if (edits.length === 0) return false
    const edited = editToml(text, edits)
    verify(file, edited, root, edits)
    writeConfigFile(real, mark + edited)
    return true
  })
}

/** The edited text must say what the edits say, and everything else as before. */
function verify(file: string, edited: string, before: RawTable, edits: readonly TomlEdit[]): void {
  const wanted = edits.reduce(editedRoot, before)
  let failure: unknown
  try {
    if (isDeepStrictEqual(shed(parseToml(file, edited).root, edits), shed(wanted, edits))) return
  } catch (error) {
    failure = error
  }
  const message = 'this edit cannot be made without touching the rest of the file: make it by hand'
  throw new ConfigError('edit_failed', message, { place: file, cause: failure })
}

function editedRoot(root: RawTable, edit: TomlEdit): RawTable {
  if (edit.kind === 'set') return applied(root, edit.path, edit.value)
  return edit.kind === 'remove' ? applied(root, edit.path, undefined) : itemEdited(root, edit)
}

/** A copy with one member set, or removed when `value` is undefined. */
function applied(table: RawTable, [name, ...rest]: Path, value: Raw | undefined): RawTable {
  if (name === undefined) return table
  const inner = Object.hasOwn(table, name) ? table[name] : undefined
  if (rest.length === 0) return withMember(table, name, value)
  if (value === undefined && !isTable(inner)) return table
  return withMember(table, name, applied(isTable(inner) ? inner : emptyTable(), rest, value))
}

/** Tables that a removal left empty: whether they are still there depends on how they were written. */
function shed(root: RawTable, edits: readonly TomlEdit[]): RawTable {
  const removed = edits.filter((edit) => edit.kind === 'remove')
  return removed.reduce((table, { path }) => withoutEmpty(table, path.slice(0, -1)), root)
}

function withoutEmpty(table: RawTable, [name, ...rest]: Path): RawTable {
  const inner = name !== undefined && Object.hasOwn(table, name) ? table[name] : undefined
  if (name === undefined || !isTable(inner)) return table
  const left = withoutEmpty(inner, rest)
  return withMember(table, name, Object.keys(left).length === 0 ? undefined : left)
}

function withMember(table: RawTable, name: string, value: Raw | undefined): RawTable {
  const copy: Record<string, Raw> = Object.assign(emptyTable(), table)
  if (value === undefined) delete copy[name]
  else copy[name] = value
  return copy
}
