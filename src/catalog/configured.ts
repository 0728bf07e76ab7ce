import type { LoadedConfig } from '../config/index.js'
import { serverKey } from '../identity/index.js'
import { type Catalog, CatalogBuilder } from './catalog.js'
import { underPolicies } from './policies.js'
import type { CatalogOptions, Registration } from './types.js'

/**
 * The catalog of a configuration alone: each server it names, thread-wide, under the managed requirements. What
 * environments and plugins contribute is built on top (`toBuilder`).
 *
 * @example
 * ```ts
 * const servers = effectiveServers(configuredCatalog(await loadConfig()))
 * ```
 */
export function configuredCatalog(
  config: Pick<LoadedConfig, 'servers' | 'requirements'>,
  options: CatalogOptions = {},
): Catalog {
  const { requirements } = config
  const builder = new CatalogBuilder(options)
  for (const server of config.servers) {
    const registration: Registration = {
      key: serverKey(server.name),
      source: { kind: 'config' },
      config: server.config,
    }
    builder.register(underPolicies(registration, requirements === undefined ? {} : { requirements }))
  }
  return builder.build()
}
