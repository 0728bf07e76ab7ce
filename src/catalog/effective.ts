import type { ServerConfig } from '../config/index.js'
import { HOSTED_APPS_NAME } from '../identity/index.js'
import type { Catalog } from './catalog.js'
import { deepFreeze } from './freeze.js'
import type { EffectiveServer, RegistrationSource } from './types.js'

const CHATGPT_ORIGIN = 'https://chatgpt.com'
const STAGING_HOST = 'chatgpt-staging.com'

/** What is known of the signed-in account. */
export interface AccountFacts {
  /** The configured ChatGPT base URL, if any. */
  readonly chatgptBaseUrl?: string
  /** Exact origins of a deployment that the embedding program trusts as the built-in one. */
  readonly trustedOrigins?: readonly string[]
  readonly appsEnabled: boolean
  /** Whether the session's auth uses the Codex backend. */
  readonly usesCodexBackend: boolean
}

/** Signed out, no apps. */
export const NO_ACCOUNT: AccountFacts = Object.freeze({ appsEnabled: false, usesCodexBackend: false })

/**
 * The winners as they may run (reference: catalog, 6): `auth: chatgpt` falls back to `oauth` off the first-party origin,
 * and `codex_apps` goes where there are no apps. Nothing is ever added.
 */
export function effectiveServers(catalog: Catalog, account: AccountFacts = NO_ACCOUNT): readonly EffectiveServer[] {
  const hasApps = account.appsEnabled && account.usesCodexBackend
  return deepFreeze(
    catalog.servers
      .filter(({ key }) => hasApps || key.name !== HOSTED_APPS_NAME)
      .map(({ key, source, config }) => ({ key, source, config: withTrustedAuth(config, account) })),
  )
}

/** Whether the server came with an Agent Plugin, whose redirects are stricter. */
export function isAgentPlugin(source: RegistrationSource): boolean {
  return 'plugin' in source && source.plugin.agentPlugin
}

function withTrustedAuth(config: ServerConfig, account: AccountFacts): ServerConfig {
  const { transport } = config
  if (transport.type === 'stdio' || transport.auth !== 'chatgpt' || isTrusted(transport.url, account)) return config
  return { ...config, transport: { ...transport, auth: 'oauth' } }
}

/** The built-in origin; or the configured one if that is staging. A base URL that is merely configured proves nothing. */
function isTrusted(url: string, { chatgptBaseUrl: baseUrl, trustedOrigins = [] }: AccountFacts): boolean {
  const target = parseUrl(url)
  const base = baseUrl === undefined ? undefined : parseUrl(baseUrl)
  // `blob:https://…` has the origin of what it wraps.
  if (target?.protocol !== 'https:' && target?.protocol !== 'http:') return false
  if (trustedOrigins.includes(target.origin)) return true
  return target.origin === CHATGPT_ORIGIN || (base !== undefined && isStaging(base) && target.origin === base.origin)
}

function isStaging({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' && (hostname === STAGING_HOST || hostname.endsWith(`.${STAGING_HOST}`))
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined
}
