import { resolve } from 'node:path'
import { optional } from '../optional.js'
import { milliseconds } from '../schema/milliseconds.js'
import { fault, type Notes, wrongType } from '../schema/shape.js'
import { isTable, type Path, type Raw } from '../source/raw.js'
import { environmentEntry } from './members.js'
import { environmentIdFault, environmentUrlFault } from './rules.js'
import type { EnvironmentConnection, EnvironmentEntry } from './settings.js'

/** Where an entry is written, for what differs. */
export interface EntryPlace {
  /** Absolute; relative working directories of programs start there. */
  readonly folder: string
  /** In `config.toml` the `cwd` of a url entry is its `workspace`; `environments.toml` refuses it there. */
  readonly file: 'environments.toml' | 'config.toml'
}

type EntryMembers = ReturnType<typeof environmentEntry.read>

/**
 * Reads one `[[environments]]` entry (reference: executor-protocol, 11): first every member by itself, then all together.
 *
 * @throws ConfigError with the reference's texts: `wrong_type`, `unknown_member`, `missing_member`, `empty`, `padded_id`,
 * `reserved_id`, `id_too_long`, `id_charset`, `transport_choice`, `needs_url`, `needs_program`, `url_scheme`,
 * `url_invalid`, `url_credentials`, `insecure_token`, `conflicting_members`, `negative_duration`, `invalid_value`,
 * `relative_path`.
 */
export function readEnvironmentEntry(
  value: Raw,
  path: Path,
  notes: Notes,
  place: EntryPlace,
): Omit<EnvironmentEntry, 'origin'> {
  if (!isTable(value)) throw wrongType(value, 'struct EnvironmentToml', path)
  const members = environmentEntry.read(value, path, notes)
  const { id } = members
  if (id === undefined) throw fault('missing_member', 'missing field `id`', path)
  // The reference judges durations while it parses.
  const connectTimeoutMs = milliseconds(members.connect_timeout_sec, [...path, 'connect_timeout_sec'])
  const initializeTimeoutMs = milliseconds(members.initialize_timeout_sec, [...path, 'initialize_timeout_sec'])
  const wrongId = environmentIdFault(id)
  if (wrongId !== undefined) throw fault(wrongId.code, wrongId.message, [...path, 'id'])
  const connection = readConnection(id, members, path, connectTimeoutMs, place)
  return Object.freeze({
    id,
    connection,
    ...optional('initializeTimeoutMs', initializeTimeoutMs),
    ...optional('cwd', readWorkspace(members, path, place)),
    ...optional('permissions', members.permissions),
  })
}

function readConnection(
  id: string,
  members: EntryMembers,
  path: Path,
  connectTimeoutMs: number | undefined,
  place: EntryPlace,
): EnvironmentConnection {
  const { url, program } = members
  const named = `environment \`${id}\``
  if ((url === undefined) === (program === undefined))
    throw fault('transport_choice', `${named} must set exactly one of url or program`, path)
  if (program !== undefined) return readCommand(named, program, members, path, place)
  const command = (['args', 'env', 'cwd'] as const).find((member) => members[member] !== undefined)
  if (command !== undefined && !(command === 'cwd' && place.file === 'config.toml'))
    throw fault('needs_program', `${named} args, env, and cwd require program`, [...path, command])
  return readUrl(url ?? '', members, path, connectTimeoutMs)
}

function readCommand(
  named: string,
  program: string,
  members: EntryMembers,
  path: Path,
  { folder }: EntryPlace,
): EnvironmentConnection {
  const ofUrl = (['connect_timeout_sec', 'auth_bearer_token', 'auth_bearer_token_env_var'] as const).find(
    (member) => members[member] !== undefined,
  )
  if (ofUrl !== undefined) throw fault('needs_url', `${named} ${ofUrl} requires url`, [...path, ofUrl])
  if (program.trim() === '') throw fault('empty', `${named} program cannot be empty`, [...path, 'program'])
  return Object.freeze({
    kind: 'command',
    program,
    args: Object.freeze(members.args ?? []),
    env: Object.freeze(members.env ?? Object.create(null)),
    ...(members.cwd !== undefined && { cwd: resolve(folder, members.cwd) }),
  })
}

function readUrl(
  url: string,
  members: EntryMembers,
  path: Path,
  connectTimeoutMs: number | undefined,
): EnvironmentConnection {
  const { auth_bearer_token: token, auth_bearer_token_env_var: variable } = members
  if (token !== undefined && variable !== undefined) {
    const message = 'auth_bearer_token and auth_bearer_token_env_var are two answers to one question: keep one'
    throw fault('conflicting_members', message, [...path, 'auth_bearer_token'])
  }
  if (variable?.trim() === '')
    throw fault('empty', 'the name of a variable cannot be empty', [...path, 'auth_bearer_token_env_var'])
  const hasToken = (token !== undefined && token !== '') || variable !== undefined
  const wrong = environmentUrlFault(url, { hasToken })
  if (wrong !== undefined) throw fault(wrong.code, wrong.message, [...path, 'url'])
  return Object.freeze({
    kind: 'url',
    url: url.trim(),
    ...optional('connectTimeoutMs', connectTimeoutMs),
    ...optional('bearerToken', token),
    ...optional('bearerTokenEnvVar', variable),
  })
}

function readWorkspace(members: EntryMembers, path: Path, place: EntryPlace): string | undefined {
  const alias = place.file === 'config.toml' && members.url !== undefined ? members.cwd : undefined
  const workspace = members.workspace ?? alias
  if (workspace === undefined || isAbsoluteSomewhere(workspace)) return workspace
  const member = members.workspace === undefined ? 'cwd' : 'workspace'
  throw fault('relative_path', 'must be an absolute path of the environment, POSIX or Windows', [...path, member])
}

/** Absolute as POSIX or as Windows has it: which of them counts is known only there. */
export function isAbsoluteSomewhere(path: string): boolean {
  return /^(?:\/|[A-Za-z]:[\\/]|\\\\[^\\])/.test(path)
}
