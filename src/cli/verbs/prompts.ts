import { promptArguments } from '../calling/prompt-arguments.js'
import type { Cli } from '../cli.js'
import { type Listed, listEverything } from '../listing.js'
import { type EnvironmentOption, optionalSelector } from '../selection.js'
import { withServers } from '../session.js'
import { failuresJson, failuresOf, reportFailures } from '../showing/failures.js'
import { textMember } from '../showing/members.js'
import { keyColumns, keyMembers } from '../showing/server-names.js'

/** Lists the prompts of one server or of all; 1 when a server failed. */
export async function run(cli: Cli, name: string | undefined, options: EnvironmentOption): Promise<number> {
  const selector = optionalSelector(name, options)
  return withServers(cli, selector, async (thread) => {
    const prompts = await listEverything(thread.prompts, cli.signal)
    const failures = failuresOf(thread.servers(), prompts.failures)
    if (cli.json) {
      cli.out.json({
        prompts: prompts.items.map(({ key, item }) => ({ ...keyMembers(key), prompt: item })),
        failures: failuresJson(failures),
      })
    } else show(cli, prompts.items)
    return reportFailures(cli, failures)
  })
}

function show(cli: Cli, rows: readonly Listed[]): void {
  if (rows.length === 0) cli.err.line('no prompts')
  cli.out.table(rows, [
    ...keyColumns(rows),
    { title: 'PROMPT', value: ({ item }) => textMember(item, 'name') },
    { title: 'ARGUMENTS', value: ({ item }) => promptArguments(item).map(shortForm).join(' ') },
    { title: 'DESCRIPTION', value: ({ item }) => textMember(item, 'description') ?? textMember(item, 'title') },
  ])
}

const shortForm = ({ name, required }: { readonly name: string; readonly required: boolean }): string =>
  required ? name : `[${name}]`
