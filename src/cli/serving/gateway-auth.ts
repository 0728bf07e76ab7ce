import type { GatewayAuthSettings, LoadedConfig } from '../../config/index.js'
import type { ProtectedResource, ResourceServerOptions } from '../../gateway/index.js'
import type { Cli } from '../cli.js'
import { oneLine } from '../printable.js'
import { UsageError } from '../usage.js'

/** What the command line says of those who may connect over HTTP. */
export interface GatewayAuthOptions {
  /** False with `--no-token`. */
  readonly token: boolean
  readonly tokenFile?: string
  /** False with `--no-auth`. */
  readonly auth?: boolean
  readonly authIssuer?: string
  readonly authResource?: string
  readonly authAudience?: readonly string[]
  readonly authJwksUrl?: string
  readonly authScope?: readonly string[]
}

/** @throws UsageError for options that exclude each other */
export function checkGatewayAuth(options: GatewayAuthOptions & { readonly stdio?: boolean }): void {
  const { stdio, auth, token, tokenFile, authIssuer, authResource, authAudience, authJwksUrl, authScope } = options
  const further = [authResource, authAudience, authJwksUrl, authScope].some((value) => value !== undefined)
  if (stdio && (authIssuer !== undefined || further)) throw new UsageError('--stdio needs no login: leave --auth-… out')
  if (auth === false && (authIssuer !== undefined || further))
    throw new UsageError('--no-auth and --auth-… exclude each other')
  if (authIssuer !== undefined && (!token || tokenFile !== undefined))
    throw new UsageError('clients bring either a token of --auth-issuer or the one of the gateway: leave one out')
}

/**
 * The authorization server whose tokens are taken: that of the command line, else of `[gateway.auth]`. Undefined where
 * clients need the gateway's own token, or none.
 *
 * @throws UsageError where it is not clear which; a section that can't be read is no reason to let others in
 */
export function resourceServerOf(
  options: GatewayAuthOptions,
  { gatewayAuth, problems }: Pick<LoadedConfig, 'gatewayAuth' | 'problems'>,
): ResourceServerOptions | undefined {
  const { authIssuer, authResource, authAudience, authJwksUrl, authScope } = options
  if (options.auth === false) return undefined
  const broken = problems.find(({ severity, path }) => severity === 'error' && path?.[0] === 'gateway')
  if (authIssuer === undefined && broken !== undefined)
    throw new UsageError(`[gateway.auth] can't be read: ${broken.message}`, { place: broken.place })
  if (authIssuer === undefined && gatewayAuth === undefined) {
    if (authResource ?? authAudience ?? authJwksUrl ?? authScope)
      throw new UsageError('--auth-… needs --auth-issuer, or an issuer in [gateway.auth]')
    return undefined
  }
  if (!options.token || options.tokenFile !== undefined)
    throw new UsageError(
      '[gateway.auth] is configured: clients log in there and need no other token; --no-auth leaves it out',
    )
  // Of another issuer nothing that is configured holds.
  const configured = authIssuer === undefined || authIssuer === gatewayAuth?.issuer ? gatewayAuth : undefined
  return {
    ...fromSettings(configured ?? {}),
    issuer: authIssuer ?? gatewayAuth?.issuer ?? '',
    ...(authResource !== undefined && { resource: authResource }),
    ...(authAudience !== undefined && { audience: authAudience }),
    ...(authJwksUrl !== undefined && { jwksUrl: authJwksUrl }),
    ...(authScope !== undefined && { requiredScopes: authScope }),
  }
}

export function fromSettings({ issuer = '', ...rest }: GatewayAuthSettings): ResourceServerOptions {
  return { issuer, ...rest }
}

/** How clients come in, for a person. */
export function tellLogin(cli: Cli, { metadata }: ProtectedResource): void {
  const { resource, authorization_servers: servers, scopes_supported: scopes } = metadata
  cli.err.line(`login     at ${cli.err.style.bold(oneLine(servers.join(' ')))}, which clients find by themselves`)
  cli.err.line(`resource  ${oneLine(resource)}`)
  if (scopes.length > 0) cli.err.line(`scopes    ${oneLine(scopes.join(' '))}`)
}

/** The same for a machine. */
export function loginJson({ metadata, metadataUrl }: ProtectedResource): Record<string, unknown> {
  const { resource, authorization_servers: servers, scopes_supported: scopes } = metadata
  return { issuer: servers[0], resource, scopes, resource_metadata: metadataUrl }
}
