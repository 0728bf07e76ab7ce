import { editing } from '../../config/index.js'
import type { Cli } from '../cli.js'
import { loadForCli, namesIn, unknownServer } from './configuration.js'
import { entryFiles, mayHold, type ScopeOption } from './target.js'

/** Switches a server on or off in the file whose entry counts, and says where. */
export async function switchServer(cli: Cli, name: string, enabled: boolean, options: ScopeOption): Promise<number> {
  const loaded = await loadForCli(cli)
  const { setEnabled } = await editing()
  for (const file of entryFiles(cli, loaded, options)) {
    if (!mayHold(file, name, loaded)) continue
    const outcome = await setEnabled(file, name, enabled)
    if (outcome === 'unknown') continue
    if (cli.json) cli.out.json({ name, enabled, changed: outcome === 'changed', file })
    else
      cli.out.line(
        `${enabled ? 'enabled' : 'disabled'} '${name}' in ${file}${outcome === 'changed' ? '' : ' (it was already)'}`,
      )
    return 0
  }
  throw unknownServer(name, namesIn(loaded))
}
