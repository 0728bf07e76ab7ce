import { type ConfiguredServer, maskServer, type ServerConfig } from '../../config/index.js'

/** A server as surfaces show it: as written, so that no `${VAR}` gives its value away, and masked unless asked not to. */
export function shownConfig(
  { config, written }: ConfiguredServer,
  { showSecrets }: { readonly showSecrets?: boolean },
): ServerConfig {
  const { enabled, disabledReason } = config
  const shown = { ...(written ?? config), enabled, ...(disabledReason && { disabledReason }) }
  return showSecrets ? shown : maskServer(shown)
}
