import type { Cli } from '../cli.js'
import { switchServer } from '../configuring/switch.js'
import type { ScopeOption } from '../configuring/target.js'

/** @throws UnknownServerError, ConfigError */
export function run(cli: Cli, name: string, options: ScopeOption): Promise<number> {
  return switchServer(cli, name, true, options)
}
