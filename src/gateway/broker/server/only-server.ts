import { ConfigError } from '../../../errors.js'
import { displayKey, type ServerKey } from '../../../identity/index.js'
import type { Reeve } from '../../../reeve.js'

/**
 * The one server that a transparent gateway stands in for.
 * @throws ConfigError `not_one_server` for none or several, with their names
 */
export function onlyServer({ servers }: Pick<Reeve, 'servers'>): ServerKey {
  const enabled = servers.filter(({ config }) => config.enabled).map(({ key }) => key)
  const [only] = enabled
  if (only !== undefined && enabled.length === 1) return only
  const found = only === undefined ? 'none is' : `${enabled.map(displayKey).join(', ')} are`
  throw new ConfigError(
    'not_one_server',
    `--transparent needs a configuration with exactly one enabled server: ${found} enabled`,
    { place: '--transparent' },
  )
}
