import type { ServerKey } from '../../identity/index.js'
import type { Column } from '../table.js'

interface Keyed {
  readonly key: ServerKey
}

/** SERVER, and ENVIRONMENT where any row has one. */
export function keyColumns<Row extends Keyed>(rows: readonly Row[]): Column<Row>[] {
  const server: Column<Row> = { title: 'SERVER', value: ({ key }) => key.name }
  const environment: Column<Row> = { title: 'ENVIRONMENT', value: ({ key }) => key.environment ?? undefined }
  return rows.some(({ key }) => key.environment !== null) ? [server, environment] : [server]
}

/** The members that name a server in `--json`. */
export function keyMembers(key: ServerKey): { server: string; environment_id: string | null } {
  return { server: key.name, environment_id: key.environment }
}
