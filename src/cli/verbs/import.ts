import {
  type ClientId,
  editing,
  type ImportDecision,
  type ImportOutcome,
  importing,
  maskServer,
  referenceListEntry,
  userHome,
} from '../../config/index.js'
import type { Cli } from '../cli.js'
import { didYouMean } from '../closest.js'
import { tellProblems } from '../configuring/configuration.js'
import { targetFile } from '../configuring/target.js'
import { UsageError } from '../usage.js'

export interface ImportOptions {
  /** Show what would happen. */
  readonly dryRun?: boolean
  /** Take servers whose name is taken under another one. */
  readonly rename?: boolean
  /** Take servers of project files too. */
  readonly project?: boolean
}

/**
 * Copies servers of other clients into the user's file, and says what wins where a name comes twice; 1 when something
 * that was found could not be read, or nothing was found of the client that was named.
 */
export async function run(cli: Cli, client: string | undefined, options: ImportOptions): Promise<number> {
  const { CLIENTS, existingServers, findClientServers, planImport, entriesOf } = await importing()
  const clients = client === undefined ? [...CLIENTS.keys()] : [clientNamed(client, CLIENTS)]
  const file = targetFile(cli, {})
  const world = { home: userHome(cli.env), cwd: cli.cwd, env: cli.env, platform: process.platform }
  const found = findClientServers(clients, world)
  const { rename = false, project = false, dryRun = false } = options
  const plan = planImport(found.servers, existingServers(file), { rename, project })
  const entries = entriesOf(plan)
  if (!dryRun && entries.size > 0) {
    const { putServers } = await editing()
    await putServers(file, entries)
  }
  if (cli.json)
    cli.out.json({ file, dry_run: dryRun, files: found.files, servers: plan.map(toJson), problems: found.problems })
  else showPlan(cli, plan, CLIENTS)
  const code = tellProblems(cli, { problems: found.problems, shadowed: [] })
  const shown = clients.map((id) => CLIENTS.get(id)).join(', ')
  if (found.files.length === 0) cli.err.line(`no configuration was found of ${shown}`)
  else cli.err.line(`${dryRun ? 'would import' : 'imported'} ${entries.size} of ${plan.length} into ${file}`)
  return found.files.length === 0 && client !== undefined ? 1 : code
}

function clientNamed(name: string, clients: ReadonlyMap<ClientId, string>): ClientId {
  const ids = [...clients.keys()]
  const id = ids.find((one) => one === name)
  if (id !== undefined) return id
  throw new UsageError(`unknown client '${name}' (known are ${ids.join(', ')})${didYouMean(name, ids)}`)
}

function showPlan(cli: Cli, plan: readonly ImportDecision[], clients: ReadonlyMap<ClientId, string>): void {
  cli.out.table(plan, [
    { title: 'NAME', value: ({ found }) => found.name },
    { title: 'CLIENT', value: ({ found }) => clients.get(found.client) },
    {
      title: 'RESULT',
      value: resultText,
      paint: (text, { as }) => (as === undefined ? cli.style.dim(text) : cli.style.green(text)),
    },
    { title: 'FILE', value: ({ found }) => (found.line === undefined ? found.file : `${found.file}:${found.line}`) },
    { title: 'WHY', value: ({ reason }) => reason },
  ])
}

function resultText({ outcome, as }: ImportDecision): string {
  return outcome === 'rename' ? `imported as ${as}` : RESULTS[outcome]
}

const RESULTS: Readonly<Record<ImportOutcome, string>> = {
  import: 'imported',
  rename: 'imported',
  duplicate: 'duplicate',
  conflict: 'left out',
  project: 'left out',
  broken: 'broken',
  self: 'left out',
}

function toJson({ found, outcome, as, reason }: ImportDecision): Record<string, unknown> {
  const { name, client, scope, file, line, config, inputs } = found
  return {
    name,
    client,
    scope,
    outcome,
    as: as ?? null,
    reason,
    inputs,
    transport: config === undefined ? null : referenceListEntry(name, maskServer(config)).transport,
    source: { file, line: line ?? null },
  }
}
