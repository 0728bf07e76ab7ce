import type { LoadedConfig } from '../../config/index.js'
import { createHttpClient } from '../../environments/index.js'
import { ReeveError } from '../../errors.js'
import { oneLine } from '../printable.js'
import { fromSettings } from '../serving/gateway-auth.js'
import type { Finding } from './finding.js'

const MEND: Readonly<Record<string, string>> = {
  oauth_unreachable: 'see whether the issuer is up, and can be reached from here',
  oauth_issuer_mismatch: 'write the issuer exactly as its metadata has it',
  oauth_invalid_metadata: 'see what the issuer publishes, or name its keys with jwks_url',
  oauth_invalid_answer: 'see what is behind jwks_url',
  oauth_insecure_endpoint: 'use https',
  redirect_refused: 'name the URL that it redirects to',
}

/** Whether clients of the gateway could log in: asks the configured issuer for its keys, as `reeve serve` would. */
export async function gatewayAuthFindings(
  { gatewayAuth }: Pick<LoadedConfig, 'gatewayAuth'>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly Finding[]> {
  if (gatewayAuth === undefined) return []
  const { ProtectedResource } = await import('../serving/endpoints.js')
  const http = createHttpClient({ env })
  try {
    const url = () => gatewayAuth.resource ?? 'http://127.0.0.1/mcp'
    await new ProtectedResource(fromSettings(gatewayAuth), { http, url, onWarning: () => undefined }).check()
    return []
  } catch (error) {
    const code = error instanceof ReeveError ? error.code : 'internal'
    const mend = MEND[code]
    const message = `clients of the gateway can't log in: ${oneLine(error instanceof Error ? error.message : String(error))}`
    return [{ severity: 'error', code: `gateway_auth_${code}`, message, place: 'gateway.auth', ...(mend && { mend }) }]
  } finally {
    await http.close()
  }
}
