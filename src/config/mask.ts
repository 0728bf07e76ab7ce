import type { EnvironmentConnection } from './environments/settings.js'
import type { HttpServer, ServerConfig, StdioServer } from './server.js'

/** What stands for a secret, as in the reference's tables. */
export const MASK = '*****'

/** Names after which a secret follows: `--api-key`, `?token=`. */
const SECRET_NAME =
  /(?:^|[-_.])(?:api-?key|key|token|secret|password|passwd|pwd|auth|authorization|credentials?|sig|signature|bearer|pat)$/i

/** Shapes of well-known tokens, wherever they stand. */
const TOKEN_SHAPE =
  /\b(?:sk-|sk_|pk_|rk_|gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|AKIA|AIza|ya29\.|npm_|hf_|lin_api_|ntn_|eyJ)[A-Za-z0-9._~+/=-]{8,}/g

/** A value that is nothing but variables shows nothing: `${TOKEN}`, `Bearer ${TOKEN}`. Defaults may be secrets. */
const ONLY_VARIABLES = /^(?:(?:Bearer|Basic|Token) +)?(?:\$\{[A-Za-z_][A-Za-z0-9_]*\})+$/

/**
 * The same server with what may be a secret replaced (reference: known-quirks, 44): all literal values of variables and
 * headers, passwords and token-like parameters of URLs, and arguments that look like secrets. Give it the entry as
 * written: `${VAR}` stays readable.
 */
export function maskServer(config: ServerConfig): ServerConfig {
  const { transport } = config
  return { ...config, transport: transport.type === 'stdio' ? maskStdio(transport) : maskHttp(transport) }
}

/** The same for how an environment is reached: tokens, values of variables, what looks like a secret elsewhere. */
export function maskConnection(connection: EnvironmentConnection): EnvironmentConnection {
  if (connection.kind === 'command')
    return { ...connection, args: maskArguments(connection.args), env: maskValues(connection.env) }
  const { bearerToken: token } = connection
  return {
    ...connection,
    url: maskUrl(connection.url),
    ...(token !== undefined && { bearerToken: ONLY_VARIABLES.test(token) ? token : MASK }),
  }
}

function maskStdio(server: StdioServer): StdioServer {
  return { ...server, args: maskArguments(server.args), env: maskValues(server.env) }
}

function maskHttp(server: HttpServer): HttpServer {
  const { httpHeadersHelper: helper } = server
  return {
    ...server,
    url: maskUrl(server.url),
    httpHeaders: maskValues(server.httpHeaders),
    ...(helper !== undefined && { httpHeadersHelper: maskTokens(helper) }),
  }
}

function maskValues(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const masked: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(values)) masked[name] = ONLY_VARIABLES.test(value) ? value : MASK
  return masked
}

/** A long part of a path that no person would choose: some services put the key there. */
const SECRET_SEGMENT = /(?<=\/)(?=[^/?#]*[0-9])(?=[^/?#]*[A-Z])(?=[^/?#]*[a-z])[A-Za-z0-9_=-]{32,}(?=$|[/?#])/g

/** Masks user info and the parameters whose names say that they are secret. A text that is no URL is kept, tokens aside. */
export function maskUrl(url: string): string {
  return maskTokens(
    url
      .replace(SECRET_SEGMENT, MASK)
      .replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#@]*@/i, `$1${MASK}@`)
      .replace(/([?&#])([^=&#]+)=([^&#]*)/g, (whole, mark: string, name: string, value: string) =>
        SECRET_NAME.test(name) && !ONLY_VARIABLES.test(value) ? `${mark}${name}=${MASK}` : whole,
      ),
  )
}

function maskArguments(args: readonly string[]): readonly string[] {
  return args.map((argument, index) => {
    const before = args[index - 1]
    if (before?.startsWith('-') && !before.includes('=') && !argument.startsWith('-') && isSecretName(before))
      return ONLY_VARIABLES.test(argument) ? argument : MASK
    return maskArgument(argument)
  })
}

function maskArgument(argument: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(argument)) return maskUrl(argument)
  // `--token=…`, `TOKEN=…`, and the header arguments of mcp-remote: `Authorization: Bearer …`.
  const [, name, between, value] = /^([^=:\s]+)(=|:\s*)([\s\S]+)$/.exec(argument) ?? []
  if (name !== undefined && between !== undefined && value !== undefined && isSecretName(name))
    return ONLY_VARIABLES.test(value) ? argument : name + between + MASK
  return maskTokens(argument)
}

function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name.replace(/^-+/, ''))
}

function maskTokens(text: string): string {
  return text.replace(TOKEN_SHAPE, MASK)
}

/** Characters of a text in which parameters of a URL are looked for; the search takes quadratic time. */
const LONGEST_URL = 4096

/**
 * JSON text with what looks like a secret replaced: values of members whose names say so, parameters of URLs, well-known
 * tokens anywhere. A text that is no JSON loses its tokens.
 */
export function maskJsonText(text: string): string {
  try {
    return JSON.stringify(maskedJson(JSON.parse(text)))
  } catch {
    return maskTokens(text)
  }
}

function maskedJson(value: unknown): unknown {
  if (typeof value === 'string')
    return value.length <= LONGEST_URL && /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? maskUrl(value) : maskTokens(value)
  if (Array.isArray(value)) return value.map(maskedJson)
  if (typeof value !== 'object' || value === null) return value
  const masked: Record<string, unknown> = Object.create(null)
  for (const [name, one] of Object.entries(value)) {
    const isSecret = isSecretName(name) && (typeof one === 'string' || typeof one === 'number')
    masked[maskTokens(name)] = isSecret ? MASK : maskedJson(one)
  }
  return masked
}
