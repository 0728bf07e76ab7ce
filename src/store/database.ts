import { chmodSync, mkdirSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'libsql'
import { ReeveError } from '../errors.js'
import { MIGRATIONS } from './migrations.js'

/** Milliseconds that a write waits for other processes that write. */
export const BUSY_MS = 5000

export type Connection = InstanceType<typeof Database>

/** What happened on the way to an open database, for the user. */
export interface OpenedDatabase {
  readonly connection: Connection
  readonly warnings: readonly ReeveError[]
}

/**
 * Opens the state database, creating it and its folder (0700) when absent and bringing its schema up to date. A file
 * that is no database is kept beside it under another name and named in a warning; a file that cannot be opened at all
 * (read-only home, full disk) gives a database in memory and a warning. Never throws for the state of the disk.
 */
export function openDatabase(file: string, now: () => number = Date.now): OpenedDatabase {
  try {
    return { connection: prepared(file), warnings: [] }
  } catch (error) {
    if (!isDamaged(error)) return inMemory(file, error)
    return setAside(file, now(), error)
  }
}

function prepared(file: string): Connection {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const connection = new Database(file)
  try {
    // Before the journal: SQLite gives its side files the rights of the main one.
    chmodSync(file, 0o600)
    connection.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
    connection.exec('PRAGMA journal_mode = WAL')
    migrate(connection, file)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

function migrate(connection: Connection, file: string): void {
  if (version(connection) === MIGRATIONS.length) return
  // Two processes may open a new file at once: the version is read again under the write lock.
  connection.exec('BEGIN IMMEDIATE')
  try {
    const from = version(connection)
    if (from > MIGRATIONS.length) throw newerState(file, from)
    for (const migration of MIGRATIONS.slice(from)) connection.exec(migration)
    connection.exec(`PRAGMA user_version = ${MIGRATIONS.length}`)
    connection.exec('COMMIT')
  } catch (error) {
    connection.exec('ROLLBACK')
    throw error
  }
}

function version(connection: Connection): number {
  const row = connection.prepare('PRAGMA user_version').get() as { user_version?: unknown } | undefined
  return typeof row?.user_version === 'number' ? row.user_version : 0
}

function newerState(file: string, found: number): ReeveError {
  return new ReeveError(
    'state_from_newer_version',
    `${file} was written by a newer version of Reeve (schema ${found})`,
    {
      place: file,
    },
  )
}

function setAside(file: string, at: number, cause: unknown): OpenedDatabase {
  const kept = `${file}.damaged-${at}`
  try {
    renameSync(file, kept)
    for (const suffix of ['-wal', '-shm']) renameIfThere(`${file}${suffix}`, `${kept}${suffix}`)
    const warning = new ReeveError(
      'state_damaged',
      `${file} was damaged; it is kept as ${kept} and a new one was begun`,
      {
        place: file,
        cause,
      },
    )
    return { connection: prepared(file), warnings: [warning] }
  } catch (error) {
    return inMemory(file, error)
  }
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

function inMemory(file: string, cause: unknown): OpenedDatabase {
  const why = cause instanceof Error ? cause.message : String(cause)
  const connection = new Database(':memory:')
  migrate(connection, ':memory:')
  const warning = new ReeveError(
    'state_unavailable',
    `cannot use ${file} (${why}): nothing will be remembered this time`,
    {
      place: file,
      cause,
    },
  )
  return { connection, warnings: [warning] }
}

function isDamaged(error: unknown): boolean {
  const code = (error as { code?: unknown }).code
  return typeof code === 'string' && /^SQLITE_(NOTADB|CORRUPT)/.test(code)
}
