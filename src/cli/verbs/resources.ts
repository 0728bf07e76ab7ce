import type { Cli } from '../cli.js'
import { type Listed, listEverything } from '../listing.js'
import { type EnvironmentOption, optionalSelector } from '../selection.js'
import { withServers } from '../session.js'
import { failuresJson, failuresOf, reportFailures } from '../showing/failures.js'
import { textMember } from '../showing/members.js'
import { keyColumns, keyMembers } from '../showing/server-names.js'

/** Lists the resources and resource templates of one server or of all; 1 when a server failed. */
export async function run(cli: Cli, name: string | undefined, options: EnvironmentOption): Promise<number> {
  const selector = optionalSelector(name, options)
  return withServers(cli, selector, async (thread) => {
    const [resources, templates] = await Promise.all([
      listEverything(thread.resources, cli.signal),
      listEverything(thread.resources.templates, cli.signal),
    ])
    const failures = failuresOf(thread.servers(), [...resources.failures, ...templates.failures])
    if (cli.json) {
      cli.out.json({
        resources: resources.items.map(({ key, item }) => ({ ...keyMembers(key), resource: item })),
        resource_templates: templates.items.map(({ key, item }) => ({ ...keyMembers(key), resource_template: item })),
        failures: failuresJson(failures),
      })
    } else show(cli, [...resources.items, ...templates.items])
    return reportFailures(cli, failures)
  })
}

function show(cli: Cli, rows: readonly Listed[]): void {
  if (rows.length === 0) cli.err.line('no resources')
  cli.out.table(rows, [
    ...keyColumns(rows),
    { title: 'URI', value: ({ item }) => textMember(item, 'uri') ?? textMember(item, 'uriTemplate') },
    { title: 'TYPE', value: ({ item }) => textMember(item, 'mimeType') },
    { title: 'NAME', value: ({ item }) => textMember(item, 'title') ?? textMember(item, 'name') },
    { title: 'DESCRIPTION', value: ({ item }) => textMember(item, 'description') },
  ])
}
