import type { ServerConfig } from '../config/index.js'
import { HOSTED_APPS_NAME, LOCAL_ENVIRONMENT, serverKey } from '../identity/index.js'
import type { Registration } from './types.js'

/**
 * The registration of the hosted apps: always `codex_apps`, always an extension; owned by the host only if it executes
 * locally (reference: catalog, 2).
 */
export function hostedAppsRegistration(
  extension: { readonly id: string; readonly order: number },
  config: ServerConfig,
): Registration {
  const hostOwnedApps = config.environmentId === LOCAL_ENVIRONMENT
  return { key: serverKey(HOSTED_APPS_NAME), source: { kind: 'extension', ...extension, hostOwnedApps }, config }
}

/** Whether the host itself stands behind this server; its name alone proves nothing (reference: catalog, 6). */
export function isHostOwnedApps({ key, source, config }: Registration): boolean {
  return (
    key.name === HOSTED_APPS_NAME &&
    key.environment === null &&
    config.environmentId === LOCAL_ENVIRONMENT &&
    (source.kind === 'compatibility' || (source.kind === 'extension' && source.hostOwnedApps))
  )
}
