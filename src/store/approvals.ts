import {
  type ApprovalSubject,
  type DurableApprovals,
  LOCAL_PRINCIPAL,
  type RememberedApproval,
} from '../authority/index.js'
import { ReeveError } from '../errors.js'
import { displayKey, serverKey } from '../identity/index.js'
import type { Connection } from './database.js'

const COLUMNS =
  'server, environment, plugin_id, connector_id, link_id, tool, endpoint, definition, origin, given_at, principal' as const

/**
 * Decisions that outlive their conversation, all of them. A row that is not what was put there counts as absent: the
 * call is asked for again.
 */
export class SqliteApprovals implements DurableApprovals {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  get(subject: ApprovalSubject, principal = LOCAL_PRINCIPAL): RememberedApproval | undefined {
    const text = rowOf(subject, principal)
    const row = this.#connection.prepare(`SELECT ${COLUMNS} FROM approvals WHERE subject = ?`).get(text)
    const read = readRow(row)
    // Whose subject and columns disagree was not written by us.
    return read !== undefined && rowOf(read.subject, read.principal) === text ? read : undefined
  }

  put({ subject, binding, origin, givenAt, principal = LOCAL_PRINCIPAL }: RememberedApproval): void {
    const { key, pluginId, connectorId, linkId, tool } = subject
    try {
      this.#refuseInMemory()
      this.#connection
        .prepare(`INSERT OR REPLACE INTO approvals (subject, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
        .run(
          rowOf(subject, principal),
          key.name,
          key.environment,
          pluginId,
          connectorId,
          linkId,
          tool,
          binding.endpoint,
          binding.definition,
          origin,
          givenAt,
          principal,
        )
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw new ReeveError(
        'state_not_written',
        `the approval of '${tool}' of MCP server '${displayKey(key)}' can't be kept: ${why}`,
        { key, cause: error },
      )
    }
  }

  list(): readonly RememberedApproval[] {
    const rows = this.#connection.prepare(`SELECT ${COLUMNS} FROM approvals ORDER BY given_at, subject`).all()
    return rows.flatMap((row) => readRow(row) ?? [])
  }

  revoke(subject: ApprovalSubject, principal = LOCAL_PRINCIPAL): boolean {
    return (
      this.#connection.prepare('DELETE FROM approvals WHERE subject = ?').run(rowOf(subject, principal)).changes > 0
    )
  }

  /** Where the file can't be used there is a database in memory, and nothing in it is for good. */
  #refuseInMemory(): void {
    const [main] = this.#connection.prepare('PRAGMA database_list').all() as { file?: unknown }[]
    if (!main?.file) throw new Error('the state is not kept on disk this time')
  }
}

/** The primary key: one text for one subject of one principal; of the local user as it was before there were others. */
function rowOf({ key, pluginId, connectorId, linkId, tool }: ApprovalSubject, principal = LOCAL_PRINCIPAL): string {
  const whose = principal === LOCAL_PRINCIPAL ? [] : [principal]
  return JSON.stringify([key.name, key.environment, pluginId, connectorId, linkId, tool, ...whose])
}

function readRow(row: unknown): RememberedApproval | undefined {
  if (typeof row !== 'object' || row === null) return undefined
  const {
    server,
    environment,
    plugin_id,
    connector_id,
    link_id,
    tool,
    endpoint,
    definition,
    origin,
    given_at,
    principal,
  } = row as Partial<Record<string, unknown>>
  if (typeof server !== 'string' || !isText(environment) || typeof tool !== 'string') return undefined
  if (!isText(plugin_id) || !isText(connector_id) || !isText(link_id)) return undefined
  if (typeof endpoint !== 'string' || typeof definition !== 'string' || typeof given_at !== 'number') return undefined
  if (typeof principal !== 'string') return undefined
  if (origin !== 'answer' && origin !== 'operator') return undefined
  return Object.freeze({
    subject: Object.freeze({
      key: serverKey(server, environment),
      pluginId: plugin_id,
      connectorId: connector_id,
      linkId: link_id,
      tool,
    }),
    binding: Object.freeze({ endpoint, definition }),
    origin,
    givenAt: given_at,
    ...(principal !== LOCAL_PRINCIPAL && { principal }),
  })
}

function isText(value: unknown): value is string | null {
  return value === null || typeof value === 'string'
}
