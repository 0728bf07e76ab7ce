import type { HttpServer } from '../../config/index.js'
import { ConfigError, UnsupportedError } from '../../errors.js'
import { type HeaderField, isHeaderValue } from './header-fields.js'
import { type HeadersHelper, runHeadersHelper } from './headers-helper.js'
import type { HttpAuth } from './http-auth.js'

/**
 * The token of `bearer_token_env_var`; undefined when the server names no variable. A named one that holds nothing
 * usable is a `ConfigError`, before any contact (reference: connections, 5).
 */
export function bearerToken(
  server: HttpServer,
  env: Readonly<Record<string, string | undefined>>,
  label: string,
): string | undefined {
  const variable = server.bearerTokenEnvVar
  if (variable === undefined) return undefined
  const token = env[variable]
  const fault = faultOf(token)
  if (fault === undefined) return token
  throw new ConfigError('bearer_token', `environment variable ${variable} ${fault}: MCP server '${label}' needs it`, {
    place: `${label} bearer_token_env_var`,
    data: { variable },
  })
}

function faultOf(token: string | undefined): string | undefined {
  if (token === undefined) return 'is not set'
  if (token.trim() === '') return 'is empty'
  // What Node puts in the place of bytes that are no UTF-8.
  if (token.includes('\ufffd')) return 'is not valid Unicode'
  return isHeaderValue(token) ? undefined : 'holds characters that no header can carry, e.g. a line end'
}

/**
 * The credentials that the configuration itself gives: the bearer token, and what the headers helper prints. The helper
 * runs at the first operation and again after a 401; its output is kept in between.
 */
export class ConfiguredAuth implements HttpAuth {
  readonly #bearer: readonly HeaderField[]
  readonly #helper: HeadersHelper | undefined
  #helped: Promise<readonly HeaderField[]> | undefined

  constructor(token: string | undefined, helper: HeadersHelper | undefined) {
    this.#bearer = token === undefined ? [] : [['Authorization', `Bearer ${token}`]]
    this.#helper = helper
  }

  async headers(): Promise<readonly HeaderField[]> {
    return [...(await this.#help()), ...this.#bearer]
  }

  /** True when the helper gives something else than what was refused. */
  async onUnauthorized(_operation: unknown, refusal: { readonly headers: readonly HeaderField[] }): Promise<boolean> {
    if (this.#helper === undefined) return false
    const known = this.#helped
    // Another operation may have had it run again meanwhile: then its answer serves this one too.
    if (known !== undefined && isPartOf(await known, refusal.headers) && this.#helped === known)
      this.#helped = undefined
    return !isPartOf(await this.#help(), refusal.headers)
  }

  async #help(): Promise<readonly HeaderField[]> {
    if (this.#helper === undefined) return []
    this.#helped ??= runHeadersHelper(this.#helper)
    const running = this.#helped
    try {
      return await running
    } catch (error) {
      // A failure is told to those who waited for it; the next operation tries again.
      if (this.#helped === running) this.#helped = undefined
      throw error
    }
  }
}

function isPartOf(fields: readonly HeaderField[], all: readonly HeaderField[]): boolean {
  return fields.every(([name, value]) => all.some((other) => other[0] === name && other[1] === value))
}

/** A credential source over the configured helper's headers: the source's win. */
export class LayeredAuth implements HttpAuth {
  readonly #below: HttpAuth
  readonly #above: HttpAuth

  constructor(below: HttpAuth, above: HttpAuth) {
    this.#below = below
    this.#above = above
  }

  async headers(operation: Parameters<HttpAuth['headers']>[0]): Promise<readonly HeaderField[]> {
    return [...(await this.#below.headers(operation)), ...(await this.#above.headers(operation))]
  }

  async onUnauthorized(...about: Parameters<NonNullable<HttpAuth['onUnauthorized']>>): Promise<boolean> {
    if (await this.#above.onUnauthorized?.(...about)) return true
    return (await this.#below.onUnauthorized?.(...about)) ?? false
  }

  async onForbidden(...about: Parameters<NonNullable<HttpAuth['onForbidden']>>): Promise<void> {
    await this.#above.onForbidden?.(...about)
    await this.#below.onForbidden?.(...about)
  }
}

/** `http_headers_helper` runs on this host and nowhere else (reference: connections, 3). */
export function helperNeedsHost(label: string): UnsupportedError {
  return new UnsupportedError(
    `MCP server '${label}': http_headers_helper works only for servers reached from this host`,
    {
      place: `${label} http_headers_helper`,
    },
  )
}
