import type { HttpServer } from '../../config/index.js'
import type { Environment, HttpClient } from '../../environments/index.js'
import { ConfigError } from '../../errors.js'
import type { Transport } from '../../protocol/index.js'
import { bearerToken, ConfiguredAuth, helperNeedsHost, LayeredAuth } from './configured-auth.js'
import { executorCredentials } from './executor-headers.js'
import { configuredHeaders, type HeaderField } from './header-fields.js'
import type { HttpAuth } from './http-auth.js'
import { NegotiatingTransport } from './negotiating.js'
import { HttpOperations } from './operations.js'
import type { RedirectPolicy } from './redirects.js'
import { SseTransport } from './sse.js'
import { StreamableHttpTransport } from './streamable.js'
import { systemTimers, type Timers } from './timers.js'

export interface OpenHttpOptions {
  readonly http: HttpClient
  readonly server: HttpServer
  /** Where bearer tokens, header variables and the helper's environment come from. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The server's name for people, in error texts. */
  readonly label: string
  /** Credentials beyond the configuration: OAuth, runtime authentication. Not asked where the configuration has its own. */
  readonly auth?: HttpAuth
  readonly redirects?: RedirectPolicy
  /** What stays of the configured headers under those of `auth`. Default: all. */
  readonly owned?: (configured: readonly HeaderField[]) => readonly HeaderField[]
  /** For `http_headers_helper`: how the host starts processes. Absent for servers of other environments. */
  readonly spawn?: Environment['spawn']
  /** Where the helper runs. */
  readonly cwd?: string
  /** Where the server is reached from, when that is not the host: the configured variables are read there. */
  readonly executor?: Pick<Environment, 'id' | 'info'>
  readonly timers?: Timers
}

/** How long a server that refused the newer transport may take to show that it speaks the older one, milliseconds. */
const ENDPOINT_TIME = 5000

/**
 * A transport to one HTTP server, not started; nothing is sent yet. It speaks streamable HTTP and changes to HTTP+SSE
 * when the server does not know `initialize` by POST; a server of type `sse` is spoken to in HTTP+SSE at once. The
 * credential is chosen here, once (reference: connections, 10.1): a bearer variable, else a static `Authorization`, else
 * `auth`.
 *
 * Variables of a server that an executor reaches are named to it and never read here.
 *
 * Rejects with `ConfigError` (an unusable URL or bearer variable), `UnsupportedError` (a headers helper without a host to
 * run it, or variables that the executor cannot read) or `EnvironmentError`.
 */
export async function openHttp(options: OpenHttpOptions): Promise<Transport> {
  const { server, env, label, timers = systemTimers } = options
  const url = usableUrl(server.url, label)
  const there = options.executor && (await executorCredentials(server, options.executor, label))
  const token = there === undefined ? bearerToken(server, env, label) : undefined
  const here = configuredHeaders(there === undefined ? server : { ...server, envHttpHeaders: {} }, env, label)
  const executorHeaders = there?.headers ?? []
  const names = [...here.fields.map(([name]) => name), ...executorHeaders.map(({ name }) => name)]
  const hasOwn = token !== undefined || names.some((name) => name.toLowerCase() === 'authorization')
  const warnings = [...here.warnings, ...(there?.warnings ?? [])]
  const operations = new HttpOperations({
    http: options.http,
    auth: credentials(options, token, hasOwn ? undefined : options.auth, timers),
    configured: options.owned?.(here.fields) ?? here.fields,
    executorHeaders,
    redirects: options.redirects ?? 'same-origin',
    timers,
  })
  const settings = { operations, url, timers }
  if (server.type === 'sse') return new SseTransport({ ...settings, warnings })
  return new NegotiatingTransport(
    new StreamableHttpTransport({ ...settings, warnings }),
    () => new SseTransport({ ...settings, endpointMs: ENDPOINT_TIME }),
  )
}

function usableUrl(text: string, label: string): string {
  const refuse = (reason: string) =>
    new ConfigError('invalid_url', `MCP server '${label}': ${reason}`, { place: `${label} url` })
  if (!URL.canParse(text)) throw refuse('its url is no URL')
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refuse('its url is neither http nor https')
  if (url.username !== '' || url.password !== '') {
    throw refuse('its url holds a user name or password: put them in http_headers or bearer_token_env_var')
  }
  url.hash = ''
  return url.href
}

function credentials(
  { server, env, label, spawn, cwd }: OpenHttpOptions,
  token: string | undefined,
  source: HttpAuth | undefined,
  timers: Timers,
): HttpAuth {
  const command = server.httpHeadersHelper
  if (command !== undefined && spawn === undefined) throw helperNeedsHost(label)
  const helper =
    command === undefined || spawn === undefined
      ? undefined
      : { command, spawn, env, label, timers, ...(cwd !== undefined && { cwd }) }
  const configured = new ConfiguredAuth(token, helper)
  if (source === undefined) return configured
  return helper === undefined ? source : new LayeredAuth(configured, source)
}
