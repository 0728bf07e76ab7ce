import { join, resolve } from 'node:path'
import {
  type Authentication,
  type GatewaySessionOptions,
  type HttpServing,
  hookLog,
  ownersAuth,
  type RuntimeChoice,
  type ShownRuntime,
  showRuntime,
} from '../../gateway/index.js'
import { packageVersion } from '../../protocol/index.js'
import type { Reeve, SubjectToken } from '../../reeve.js'
import { usesBroker } from '../broker/broker-of.js'
import { serveFromBroker } from '../broker/serve-stdio.js'
import type { Cli } from '../cli.js'
import { type Log, logEvent, openLog } from '../log.js'
import { oneLine } from '../printable.js'
import { addressFrom, DEFAULT_ADDRESS } from '../serving/address.js'
import { connectLines } from '../serving/connect-lines.js'
import {
  checkGatewayAuth,
  type GatewayAuthOptions,
  loginJson,
  resourceServerOf,
  tellLogin,
} from '../serving/gateway-auth.js'
import { openHostedRuntime } from '../serving/hosted-runtime.js'
import { warmUp } from '../serving/warm-up.js'
import { openRuntime } from '../session.js'
import { UsageError } from '../usage.js'

export interface ServeOptions extends GatewayAuthOptions {
  readonly stdio?: boolean
  readonly http?: string
  /** Ids of environments, in order. */
  readonly env?: readonly string[]
  /** Name of a permission profile. */
  readonly permissions?: string
  readonly transparent?: boolean
  readonly only?: string
}

/** Milliseconds that a server stays up for the next client. */
const IDLE_MS = 60_000

/** Serves until the client leaves (stdio) or the process is told to stop (HTTP). */
export async function run(cli: Cli, options: ServeOptions): Promise<number> {
  checkOptions(options)
  checkGatewayAuth(options)
  if (options.stdio && usesBroker(cli)) {
    const code = await serveFromBroker(cli, choiceOf(options))
    if (code !== undefined) return code
  }
  const log = await openLog(cli)
  const hosted = options.stdio ? undefined : await openHostedRuntime(cli, log)
  await using opened = hosted ?? (await openRuntime(cli, { idleMs: IDLE_MS }))
  const shown = showRuntime(opened.reeve, choiceOf(options))
  const gateway = gatewayOptions(opened.reeve, log, shown)
  if (options.stdio) await overStdio(cli, gateway)
  else {
    const warm = () => warmUp(cli, opened.reeve, log, shown.thread)
    await overHttp(cli, options, opened.reeve, gateway, warm, hosted?.stopped)
  }
  return 0
}

function checkOptions({ stdio, http, token, tokenFile, transparent, only }: ServeOptions): void {
  if (stdio && http !== undefined) throw new UsageError('serve either --stdio or --http, not both')
  if (stdio && (!token || tokenFile !== undefined))
    throw new UsageError('--stdio needs no token: leave the token options out')
  if (!token && tokenFile !== undefined) throw new UsageError('--no-token and --token-file exclude each other')
  if (only !== undefined && !transparent) throw new UsageError('--only goes with --transparent', { place: '--only' })
}

function choiceOf({ env = [], permissions, transparent = false, only }: ServeOptions): RuntimeChoice {
  return {
    environments: env,
    transparent,
    ...(permissions !== undefined && { permissions }),
    ...(only !== undefined && { only }),
  }
}

type Gateway = GatewaySessionOptions & { readonly signals: readonly [] }

async function overStdio(cli: Cli, gateway: Gateway): Promise<void> {
  const { serveStdio } = await import('../serving/endpoints.js')
  if (cli.stdin.isTTY) cli.err.line('waiting for an MCP client on stdin; Ctrl-D ends')
  await using serving = await serveStdio(gateway)
  await Promise.race([serving.closed, aborted(cli.signal)])
}

async function overHttp(
  cli: Cli,
  options: ServeOptions,
  reeve: Reeve,
  gateway: Gateway,
  warm: () => Promise<void>,
  stopped: AbortSignal | undefined,
): Promise<void> {
  const { serveHttp, loadOrCreateToken } = await import('../serving/endpoints.js')
  const address = options.http === undefined ? DEFAULT_ADDRESS : addressFrom(options.http)
  const login = loginOf(reeve, options)
  const tokenFile =
    options.token && login === undefined
      ? resolve(cli.cwd, options.tokenFile ?? join(cli.home, 'run', 'gateway-token'))
      : undefined
  const otherwise: Authentication =
    tokenFile === undefined ? { kind: 'none' } : { kind: 'bearer', token: await loadOrCreateToken(tokenFile) }
  const authentication = login ?? otherwise
  await using serving = await serveHttp({ ...gateway, ...address, authentication })
  tellEndpoint(cli, serving, tokenFile)
  await warm()
  await Promise.race([serving.closed, aborted(cli.signal), ...(stopped ? [aborted(stopped)] : [])])
}

/** What clients come with is kept for the servers that take exchanged tokens, and for nothing else. */
function loginOf(reeve: Reeve, options: ServeOptions): Authentication | undefined {
  const resource = resourceServerOf(options, reeve.config)
  const onToken = (principal: string, token: SubjectToken) => reeve.subjectTokens.put(principal, token)
  return resource && { kind: 'oauth', resource: { ...resource, onToken } }
}

/** Signals reach us through the command line, which then ends the runtime too. */
function gatewayOptions(reeve: Reeve, log: Log, shown: ShownRuntime): Gateway {
  return {
    ...shown.front,
    version: packageVersion(),
    stateFolder: join(reeve.home, 'run'),
    signals: [],
    onWarning: (warning) => log.warn({}, warning.message),
    startThread: (given) =>
      reeve.startThread({
        ...given,
        ...shown.thread,
        ...ownersAuth(reeve.auth, given.principal),
        onHook: hookLog(log),
        onEvent: (event) => {
          logEvent(log, event)
          given.onEvent(event)
        },
      }),
  }
}

/** Everything that a person needs to connect a client; on stderr, so that stdout stays for machines. */
function tellEndpoint(cli: Cli, { url, token, resource }: HttpServing, tokenFile: string | undefined): void {
  if (cli.json) cli.out.json({ url, token_file: tokenFile ?? null, ...(resource && { auth: loginJson(resource) }) })
  const { bold, dim } = cli.err.style
  cli.err.line(`endpoint  ${bold(url)}`)
  if (resource !== undefined) tellLogin(cli, resource)
  else cli.err.line(`token     ${tokenFile === undefined ? 'none needed' : dim(`in ${oneLine(tokenFile)}`)}`)
  cli.err.line()
  cli.err.line('connect a client:')
  for (const line of connectLines({ url: resource?.resource ?? url, ...(token !== undefined && { token }) }))
    cli.err.line(`  ${line}`)
  cli.err.line()
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
