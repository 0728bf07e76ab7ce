import type { ServerConfig } from '../config/index.js'
import { type HostVariables, variable } from './referenced-variables.js'

/**
 * Whether credentials of the OAuth store would be used for this server (reference: connections, 2): HTTP, not `chatgpt`
 * outside the host, no bearer variable, and no `Authorization` that the configuration already gives.
 */
export function storedOAuthApplies(config: ServerConfig, env: HostVariables): boolean {
  const { transport } = config
  if (transport.type === 'stdio') return false
  if (transport.auth === 'chatgpt' && config.environmentId !== 'local') return false
  if (transport.bearerTokenEnvVar !== undefined) return false
  if (authorizationValues(transport.httpHeaders).some(isHeaderValue)) return false
  return !authorizationValues(transport.envHttpHeaders)
    .map((name) => variable(env, name))
    .some((value) => value !== undefined && value.trim() !== '' && isHeaderValue(value))
}

/** The narrower test: a static, usable `Authorization` and no other source of one (reference: connections, 2). */
export function hasExplicitAuthorization(config: ServerConfig): boolean {
  const { transport } = config
  if (transport.type === 'stdio' || transport.bearerTokenEnvVar !== undefined) return false
  if (Object.keys(transport.envHttpHeaders).length > 0) return false
  return authorizationValues(transport.httpHeaders).some((value) => value.trim() !== '' && isHeaderValue(value))
}

function authorizationValues(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers)
    .filter(([name]) => name.toLowerCase() === 'authorization')
    .map(([, value]) => value)
}

/** Only bytes that are TAB, or at least 0x20 and not 0x7f. */
function isHeaderValue(value: string): boolean {
  for (const byte of Buffer.from(value)) if (byte !== 0x09 && (byte < 0x20 || byte === 0x7f)) return false
  return true
}
