import { HOSTED_APPS_NAME, isServerName } from '../identity/index.js'
import type { ServerConfig } from './server.js'
import type { Path } from './source/raw.js'

export interface ServerWarning {
  readonly code: string
  readonly message: string
  /** The member below the server's entry. */
  readonly at: Path
}

/** What is accepted at load but bound to fail at startup (reference: known-quirks, 41). */
export function serverWarnings(name: string, config: ServerConfig): readonly ServerWarning[] {
  const { transport } = config
  const warnings: ServerWarning[] = []
  if (!isServerName(name)) {
    const message = `the name '${name}' keeps this server from starting: use only letters, digits and _ : @ / . -`
    warnings.push({ code: 'invalid_server_name', message, at: [] })
  }
  if (name === HOSTED_APPS_NAME)
    warnings.push({
      code: 'reserved_name',
      message: `'${name}' is the name of the hosted apps: choose another`,
      at: [],
    })
  if (transport.type === 'stdio') {
    if (transport.command === '') warnings.push({ code: 'empty_command', message: 'command is empty', at: ['command'] })
    if (config.environmentId !== 'local' && transport.cwd === undefined)
      warnings.push({ code: 'missing_cwd', message: 'executor stdio server requires an explicit cwd', at: [] })
    return warnings
  }
  if (!isHttpUrl(transport.url))
    warnings.push({ code: 'invalid_url', message: 'url is no http:// or https:// URL', at: ['url'] })
  if (transport.auth === 'ema_auth') {
    const message = 'auth "ema_auth" is not supported: the server stays disabled'
    warnings.push({ code: 'unsupported_auth', message, at: ['auth'] })
  }
  return warnings
}

function isHttpUrl(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol } = new URL(url)
  return protocol === 'http:' || protocol === 'https:'
}
