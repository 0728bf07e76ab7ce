import { editing } from '../../config/index.js'
import type { Cli } from '../cli.js'
import { loadForCli, namesIn, unknownServer } from '../configuring/configuration.js'
import { entryFiles, mayHold, type ScopeOption } from '../configuring/target.js'

/**
 * Takes a server out of the file whose entry counts.
 *
 * @throws UnknownServerError unless `--ignore-missing`; ConfigError
 */
export async function run(
  cli: Cli,
  name: string,
  options: ScopeOption & { readonly ignoreMissing?: boolean },
): Promise<number> {
  const loaded = await loadForCli(cli)
  const { removeServer } = await editing()
  for (const file of entryFiles(cli, loaded, options)) {
    if (!mayHold(file, name, loaded) || !(await removeServer(file, name))) continue
    const below = loaded.shadowed.findLast((entry) => entry.name === name && entry.by.file === file)
    if (cli.json) cli.out.json({ name, removed: true, file })
    else cli.out.line(`removed '${name}' from ${file}`)
    if (below !== undefined) cli.err.line(`note: '${name}' of ${below.origin.file} counts now`)
    return 0
  }
  if (!options.ignoreMissing) throw unknownServer(name, namesIn(loaded))
  if (cli.json) cli.out.json({ name, removed: false, file: null })
  else cli.err.line(`there is no server '${name}'`)
  return 0
}
