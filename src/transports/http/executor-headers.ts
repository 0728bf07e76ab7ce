import type { HttpServer } from '../../config/index.js'
import type { Environment, ExecutorHeader } from '../../environments/index.js'
import { InvalidArgumentsError, UnsupportedError } from '../../errors.js'
import { type HeaderField, isSendable, shownName } from './header-fields.js'

export interface ExecutorCredentials {
  readonly headers: readonly ExecutorHeader[]
  readonly warnings: readonly InvalidArgumentsError[]
}

/**
 * `env_http_headers`, then `bearer_token_env_var` over them, as headers whose values the executor adds, so that no secret
 * crosses the wire (reference: connections, 10.3). A field that cannot be sent is warned about and left out.
 *
 * Raises `UnsupportedError` when the executor cannot read variables into headers: it would send them without (reference:
 * executor-protocol, 14). Asks it only where there are variables; raises `EnvironmentError` when it does not answer.
 */
export async function executorCredentials(
  server: HttpServer,
  executor: Pick<Environment, 'id' | 'info'>,
  label: string,
): Promise<ExecutorCredentials> {
  const headers = new Map<string, ExecutorHeader>()
  const warnings: InvalidArgumentsError[] = []
  for (const [name, variable] of Object.entries(server.envHttpHeaders)) {
    if (isSendable(name, '')) headers.set(name.toLowerCase(), { name, prefix: '', variable })
    else {
      const text = `MCP server '${label}': header '${shownName(name)}' of env_http_headers can't be sent and is left out`
      warnings.push(new InvalidArgumentsError(text, { place: `${label} env_http_headers.${shownName(name)}` }))
    }
  }
  const bearer = server.bearerTokenEnvVar
  if (bearer !== undefined) headers.set('authorization', { name: 'Authorization', prefix: 'Bearer ', variable: bearer })
  if (headers.size > 0) await checkCapability(executor, label)
  return { headers: [...headers.values()], warnings }
}

async function checkCapability(executor: Pick<Environment, 'id' | 'info'>, label: string): Promise<void> {
  const { capabilities } = await executor.info()
  if (capabilities?.httpHeaderEnvVars === true) return
  throw new UnsupportedError(
    `MCP server '${label}': the executor of environment '${executor.id}' cannot put its variables into headers, which ` +
      'bearer_token_env_var and env_http_headers need there',
    { place: label, data: { environment: executor.id } },
  )
}

/**
 * Both kinds of headers of one operation. What the executor adds replaces a configured header of its name, and is itself
 * replaced by what belongs to the protocol or to a credential of this very operation. `fields` were built without the
 * configured headers that `replaced` names.
 */
export function withExecutorHeaders(
  fields: readonly HeaderField[],
  headers: readonly ExecutorHeader[],
): { readonly headers: readonly HeaderField[]; readonly executorHeaders?: readonly ExecutorHeader[] } {
  if (headers.length === 0) return { headers: fields }
  const taken = new Set(fields.map(([name]) => name.toLowerCase()).filter((name) => name !== DEFAULTED))
  const added = headers.filter(({ name }) => !taken.has(name.toLowerCase()))
  const names = replaced(added)
  return { headers: fields.filter(([name]) => !names.has(name.toLowerCase())), executorHeaders: added }
}

/** Lower-case names of what the executor adds. */
export function replaced(headers: readonly ExecutorHeader[]): ReadonlySet<string> {
  return new Set(headers.map(({ name }) => name.toLowerCase()))
}

/** The one field that is there for want of another. */
const DEFAULTED = 'user-agent'
