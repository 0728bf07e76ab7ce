import { isDeepStrictEqual } from 'node:util'
import { InvalidServerNameError } from '../../errors.js'
import { isServerName } from '../../identity/index.js'
import { readServer } from '../schema/read-server.js'
import { HTTP_MEMBERS, STDIO_MEMBERS } from '../schema/server-shape.js'
import { emptyTable, isTable, type Path, type Raw, type RawTable, rawCopy } from '../source/raw.js'
import { editConfigFile } from './edit-file.js'
import type { TomlEdit } from './toml-edit.js'

export type AddOutcome = 'added' | 'merged' | 'replaced' | 'unchanged'

/**
 * Adds a server to a `config.toml`, or changes the one of that name. What the new entry doesn't mention stays (tool
 * approvals, timeouts, further variables), unless `replace` is given; members of the other transport go.
 *
 * @param entry in the members of `[mcp_servers.<name>]`; integers as `bigint`.
 * @throws ConfigError also when the resulting entry would be invalid; InvalidServerNameError.
 */
export async function addServer(
  file: string,
  name: string,
  entry: RawTable,
  options: { readonly replace?: boolean } = {},
): Promise<AddOutcome> {
  if (!isServerName(name)) throw new InvalidServerNameError(name)
  const path = ['mcp_servers', name]
  let outcome: AddOutcome = 'unchanged'
  await editConfigFile(file, (root) => {
    const before = serverEntry(root, name)
    const asked = tableCopy(entry)
    const wanted = options.replace || !isTable(before) ? asked : merged(before, asked)
    readServer(wanted, path, { unknown: () => {} })
    if (!isTable(before)) {
      outcome = before === undefined ? 'added' : 'replaced'
      return [{ kind: 'set', path, value: wanted }]
    }
    const edits = difference(before, wanted, path)
    if (edits.length > 0) outcome = options.replace ? 'replaced' : 'merged'
    return edits
  })
  return outcome
}

/** Adds several servers in one write. Each entry replaces what stands under its name. */
export async function putServers(file: string, entries: ReadonlyMap<string, RawTable>): Promise<boolean> {
  return editConfigFile(file, (root) =>
    [...entries].flatMap(([name, entry]): readonly TomlEdit[] => {
      const path = ['mcp_servers', name]
      const before = serverEntry(root, name)
      const wanted = tableCopy(entry)
      return isTable(before) ? difference(before, wanted, path) : [{ kind: 'set', path, value: wanted }]
    }),
  )
}

/**
 * Takes a server out of a `config.toml`, with its sub-tables and the comment right above it.
 *
 * @returns false when there is none of that name.
 */
export async function removeServer(file: string, name: string): Promise<boolean> {
  return editConfigFile(file, (root) =>
    serverEntry(root, name) === undefined ? [] : [{ kind: 'remove', path: ['mcp_servers', name] }],
  )
}

/**
 * Switches a server on or off in a `config.toml`.
 *
 * @returns `unknown` when there is none of that name.
 */
export async function setEnabled(
  file: string,
  name: string,
  enabled: boolean,
): Promise<'changed' | 'unchanged' | 'unknown'> {
  let outcome: 'changed' | 'unchanged' | 'unknown' = 'unknown'
  await editConfigFile(file, (root) => {
    const entry = serverEntry(root, name)
    if (!isTable(entry)) return []
    outcome = (entry.enabled ?? true) === enabled ? 'unchanged' : 'changed'
    return outcome === 'changed' ? [{ kind: 'set', path: ['mcp_servers', name, 'enabled'], value: enabled }] : []
  })
  return outcome
}

/** Records in the user's `config.toml` that the project in `folder` (absolute, links resolved) is trusted, or not. */
export async function setTrust(file: string, folder: string, trust: 'trusted' | 'untrusted'): Promise<boolean> {
  const path = ['projects', folder, 'trust_level']
  return editConfigFile(file, ({ projects }) => {
    const entry = isTable(projects) && Object.hasOwn(projects, folder) ? projects[folder] : undefined
    return isTable(entry) && entry.trust_level === trust ? [] : [{ kind: 'set', path, value: trust }]
  })
}

function tableCopy(table: RawTable): RawTable {
  const copy = rawCopy(table)
  return isTable(copy) ? copy : emptyTable()
}

function serverEntry(root: RawTable, name: string): Raw | undefined {
  const servers = root.mcp_servers
  return isTable(servers) && Object.hasOwn(servers, name) ? servers[name] : undefined
}

/** Members that are added to, key by key. */
const MERGED_MEMBERS: readonly string[] = ['env', 'http_headers', 'env_http_headers', 'oauth', 'tools']

function merged(before: RawTable, entry: RawTable): RawTable {
  const result: Record<string, Raw> = Object.assign(emptyTable(), before)
  const foreign = entry.command === undefined ? STDIO_MEMBERS : HTTP_MEMBERS
  if (entry.command !== undefined || entry.url !== undefined) {
    for (const member of Object.keys(foreign)) delete result[member]
    delete result.type
    // A command line is one thing: arguments of the old one don't fit the new.
    delete result.args
  }
  for (const [member, value] of Object.entries(entry)) {
    const old = result[member]
    const joins = MERGED_MEMBERS.includes(member) && isTable(old) && isTable(value)
    result[member] = joins ? Object.assign(emptyTable(), old, value) : value
  }
  return result
}

/** The smallest edits from one entry to another, so that comments on what stays stay too. */
function difference(before: RawTable, wanted: RawTable, path: Path): readonly TomlEdit[] {
  const gone = Object.keys(before).filter((member) => !Object.hasOwn(wanted, member))
  return [
    ...gone.map((member): TomlEdit => ({ kind: 'remove', path: [...path, member] })),
    ...Object.entries(wanted).flatMap(([member, value]): readonly TomlEdit[] => {
      const old = Object.hasOwn(before, member) ? before[member] : undefined
      if (isDeepStrictEqual(old, value)) return []
      if (isTable(old) && isTable(value)) return difference(old, value, [...path, member])
      return [{ kind: 'set', path: [...path, member], value }]
    }),
  ]
}
