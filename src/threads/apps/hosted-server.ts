import type { BackendPlaces } from '../../auth/index.js'
import { hostedAppsRegistration, type Registration } from '../../catalog/index.js'
import type { ServerConfig } from '../../config/index.js'
import type { HostVariables } from '../../connections/index.js'
import { LOCAL_ENVIRONMENT } from '../../identity/index.js'
import { hostedAppsUrl } from './hosted-url.js'

/** A bearer for debugging, which stands in for the thread's own auth (reference: auth, 5.1). */
export const TOKEN_VARIABLE = 'CODEX_CONNECTORS_TOKEN'
export const DEFAULT_SKU = 'codex'
const STARTUP_MS = 30_000

export interface HostedServerFacts {
  readonly places: BackendPlaces
  readonly env: HostVariables
  readonly productSku: string
  /** Of the program that the thread works for. */
  readonly originator: string | undefined
}

/** The server of the hosted apps, as the host itself registers it (reference: auth, 5.1). */
export function hostedAppsServer(facts: HostedServerFacts): Registration {
  const { places, env, productSku, originator } = facts
  const config: ServerConfig = {
    transport: {
      type: 'streamable_http',
      url: hostedAppsUrl(places.baseUrl),
      ...(isOverridden(env) && { bearerTokenEnvVar: TOKEN_VARIABLE }),
      httpHeaders: { 'X-OpenAI-Product-Sku': productSku, ...(originator !== undefined && { originator }) },
      envHttpHeaders: {},
      auth: 'chatgpt',
    },
    environmentId: LOCAL_ENVIRONMENT,
    enabled: true,
    required: false,
    startupTimeoutMs: STARTUP_MS,
    startupReadiness: 'connection',
    supportsParallelToolCalls: false,
    omitToolsFrom: [],
    tools: {},
  }
  return hostedAppsRegistration({ id: 'hosted_apps', order: 0 }, config)
}

/** Whether another bearer is used than the thread's: whose it is nobody knows, so nothing is kept of what it is told. */
export function isOverridden(env: HostVariables): boolean {
  const token = env[TOKEN_VARIABLE]
  return token !== undefined && token.trim() !== ''
}

/** A program's name as a header takes it; undefined where there is none. */
export function originatorOf(name: unknown): string | undefined {
  return typeof name === 'string' && /^[\x21-\x7e](?:[\x20-\x7e]{0,126}[\x21-\x7e])?$/.test(name) ? name : undefined
}
