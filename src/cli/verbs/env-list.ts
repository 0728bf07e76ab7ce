import { type EnvironmentEntry, MASK } from '../../config/index.js'
import type { Cli } from '../cli.js'
import { loadForCli, tellProblems } from '../configuring/configuration.js'
import { entryMembers, shownWay } from '../environments/shown.js'

interface Row {
  readonly id: string
  /** Undefined for the host. */
  readonly entry: EnvironmentEntry | undefined
  readonly isDefault: boolean
}

/** Lists environments without connecting to any, the host first; 1 when part of the configuration is an error. */
export async function run(cli: Cli): Promise<number> {
  const loaded = await loadForCli(cli)
  const { entries, defaultSelection } = loaded.environments
  const rows: readonly Row[] = [
    { id: 'local', entry: undefined, isDefault: defaultSelection.includes('local') },
    ...entries.map((entry) => ({ id: entry.id, entry, isDefault: defaultSelection.includes(entry.id) })),
  ]
  if (cli.json) cli.out.json(rows.map(toJson))
  else showRows(cli, rows)
  return tellProblems(cli, { problems: loaded.problems, shadowed: [] })
}

function toJson({ id, entry, isDefault }: Row): Record<string, unknown> {
  return { id, selected_by_default: isDefault, ...(entry === undefined ? { kind: 'local' } : entryMembers(entry)) }
}

function showRows(cli: Cli, rows: readonly Row[]): void {
  cli.out.table(rows, [
    { title: 'ENVIRONMENT', value: ({ id }) => id },
    { title: 'DEFAULT', value: ({ isDefault }) => (isDefault ? 'yes' : 'no') },
    { title: 'TOKEN', value: ({ entry }) => entry && shownToken(entry) },
    { title: 'WORKSPACE', value: ({ entry }) => entry?.cwd },
    { title: 'REACHED BY', value: ({ entry }) => (entry === undefined ? 'this machine' : shownWay(entry)) },
  ])
}

function shownToken({ connection }: EnvironmentEntry): string | undefined {
  if (connection.kind !== 'url') return undefined
  return connection.bearerTokenEnvVar ?? (connection.bearerToken === undefined ? undefined : MASK)
}
