import type { EffectiveServer } from '../catalog/index.js'
import {
  AuthRequiredError,
  FirstPartyAuthError,
  InsufficientScopeError,
  ReeveError,
  StartupFailedError,
  StartupTimeoutError,
  TransportClosedError,
} from '../errors.js'
import { displayKey, type ServerKey } from '../identity/index.js'
import { refusalText } from './first-party-errors.js'
import type { StartupPhase } from './startup-deadline.js'

/** Milliseconds that a startup may take in all where the configuration says nothing. */
export const DEFAULT_STARTUP_TIMEOUT = 30_000

/** What is stored for a server's OAuth; decides the wording when it wants a login. */
export type StoredAuthState =
  | 'unsupported'
  | 'logged_out'
  | 'logged_out_needs_reauthentication'
  | 'bearer_token'
  | 'oauth'

const GITHUB_URL = 'https://api.githubcopilot.com/mcp/'
const TIMEOUT_TEXTS = ['request timed out', 'timed out handshaking with MCP server', 'MCP client startup timed out']

/**
 * Wraps whatever ended a startup, once. The message is the display text (reference: connections, 6); `data.reason` has the raw
 * text, which summaries and joined errors use; the cause is kept.
 */
export function startupFailure(
  server: EffectiveServer,
  error: unknown,
  phase: StartupPhase,
  auth?: StoredAuthState,
  principal?: string,
): StartupFailedError {
  if (error instanceof StartupFailedError) return error
  const { key } = server
  const reason = rawText(error, phase)
  const authRequired = meansAuthRequired(error, reason)
  const reauthentication = failureReason(authRequired, auth) !== undefined
  return new StartupFailedError(displayText(server, reason, authRequired, reauthentication, principal), {
    key,
    authRequired,
    cause: error,
    data: {
      reason,
      ...(error instanceof ReeveError && { code: error.code, ...error.data }),
      ...(reauthentication && { failureReason: 'reauthenticationRequired' }),
    },
  })
}

/** Only a server that wants a login and had one (reference: connections, 6; test-behaviours, 58). */
export function failureReason(authRequired: boolean, auth: StoredAuthState | undefined) {
  const hadLogin = auth === 'oauth' || auth === 'logged_out_needs_reauthentication'
  return authRequired && hadLogin ? ('reauthenticationRequired' as const) : undefined
}

/** The raw text of a failed startup. */
export function failureText(failure: ReeveError): string {
  const reason = failure.data?.reason
  return typeof reason === 'string' ? reason : failure.message
}

function displayText(
  server: EffectiveServer,
  reason: string,
  authRequired: boolean,
  again: boolean,
  principal: string | undefined,
): string {
  const { key, config } = server
  if (isGitHubWithoutToken(server)) return githubText(key)
  if (authRequired) return authText(key, again, principal)
  if (TIMEOUT_TEXTS.some((text) => reason.includes(text))) {
    return timeoutText(key, config.startupTimeoutMs ?? DEFAULT_STARTUP_TIMEOUT)
  }
  return `MCP client for \`${key.name}\` failed to start: MCP startup failed: ${reason}`
}

function isGitHubWithoutToken({ config: { transport } }: EffectiveServer): boolean {
  return (
    transport.type !== 'stdio' &&
    transport.url === GITHUB_URL &&
    transport.bearerTokenEnvVar === undefined &&
    Object.keys(transport.httpHeaders).length === 0
  )
}

function githubText(key: ServerKey): string {
  return (
    `GitHub MCP does not support OAuth. Log in with a personal access token: create one at ` +
    `https://github.com/settings/personal-access-tokens, export it as CODEX_GITHUB_PERSONAL_ACCESS_TOKEN, and set ` +
    `\`bearer_token_env_var = "CODEX_GITHUB_PERSONAL_ACCESS_TOKEN"\` under \`[${tablePath(key)}]\``
  )
}

/** To another than the local user: what the operator of the gateway can do for them. */
function authText(key: ServerKey, again: boolean, principal: string | undefined): string {
  const what = again ? 'requires OAuth reauthentication' : 'is not logged in'
  const where = key.environment === null ? '' : ` --env ${key.environment}`
  const whose = principal === undefined ? '' : ` --principal ${principal}`
  return `The ${displayKey(key)} MCP server ${what}. Run \`reeve login ${key.name}${where}${whose}\`.`
}

function timeoutText(key: ServerKey, timeoutMs: number): string {
  return (
    `MCP client for \`${key.name}\` timed out after ${timeoutMs < 1000 ? timeoutMs / 1000 : Math.floor(timeoutMs / 1000)} seconds. ` +
    `Add or adjust \`startup_timeout_sec\` in your config.toml:\n[${tablePath(key)}]\nstartup_timeout_sec = XX`
  )
}

function tablePath(key: ServerKey): string {
  return `mcp_servers.${/^[A-Za-z0-9_-]+$/.test(key.name) ? key.name : JSON.stringify(key.name)}`
}

function meansAuthRequired(error: unknown, reason: string): boolean {
  return (
    chain(error).some((link) => link instanceof AuthRequiredError || link instanceof InsufficientScopeError) ||
    reason.includes('Auth required')
  )
}

function rawText(error: unknown, phase: StartupPhase): string {
  const text = error instanceof Error ? error.message : String(error)
  if (error instanceof FirstPartyAuthError) return refusalText(error)
  if (error instanceof StartupTimeoutError || phase === 'opening') return text
  const context = phase === 'handshake' ? 'handshaking with MCP server failed: ' : ''
  return `${context}${isEnded(error) ? endedText(error, phase) : text}`
}

/** The peer says so when a transport ends under a request; why it ended follows where that is known. */
function isEnded(error: unknown): error is TransportClosedError {
  return error instanceof TransportClosedError && error.data?.during !== undefined
}

function endedText(error: TransportClosedError, phase: StartupPhase): string {
  const awaited = phase === 'handshake' ? 'initialize response' : 'tools/list response'
  const why = error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return `connection closed: ${awaited}${why}`
}

function chain(error: unknown): unknown[] {
  const links: unknown[] = []
  for (
    let link = error;
    link !== undefined && links.length < 8;
    link = link instanceof Error ? link.cause : undefined
  ) {
    links.push(link)
  }
  return links
}
