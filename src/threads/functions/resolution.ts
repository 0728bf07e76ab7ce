import { ResourceFunctionError } from '../../errors.js'
import type { ServerKey } from '../../identity/index.js'
import { type Addressable, addressed } from '../select.js'

/** What a name in a resource call is looked up in: the servers of one step and the environments selected for it. */
export interface ResolutionScope {
  readonly servers: readonly Addressable[]
  /** Every selected environment counts, whether it has servers or is up at all. */
  readonly selected: readonly string[]
  /** Feature `multi_environment_mcp`. Off: there is one server of a name. */
  readonly multiEnvironment: boolean
  /** Whether a name alone may mean the only scoped server of that name while several environments are selected. */
  readonly soleOwners: boolean
}

/**
 * The one server that a name, with or without an environment id, means to a model (reference: tool-calls, 9.2). Order of
 * configuration or arrival decides nothing.
 *
 * @throws ResourceFunctionError `unknown_server`, or `environment_id_required` with the owners in `data.choices`
 */
export function resolveServer(
  { server, environmentId }: { readonly server: string; readonly environmentId?: string },
  scope: ResolutionScope,
): ServerKey {
  const named = scope.servers.filter(({ key }) => key.name === server)
  const found = scope.multiEnvironment
    ? environmentId === undefined
      ? byName(server, named, scope)
      : addressed(named, server, environmentId)
    : named[0]?.key
  if (found === undefined) throw unknown(server, environmentId, named)
  return found
}

function byName(
  server: string,
  named: readonly Addressable[],
  { selected, soleOwners }: ResolutionScope,
): ServerKey | undefined {
  const shared = addressed(named, server, null)
  if (shared !== undefined || named.length === 0) return shared
  const [primary, ...others] = selected
  if (others.length === 0) return primary === undefined ? undefined : addressed(named, server, primary)
  const [only, ...rest] = named
  if (soleOwners && rest.length === 0) return only?.key
  throw new ResourceFunctionError(
    'environment_id_required',
    `environment_id is required for MCP server '${server}' when multiple environments are selected`,
    { key: { name: server, environment: null }, data: { choices: ownersOf(named) } },
  )
}

function unknown(server: string, environment: string | undefined, named: readonly Addressable[]) {
  return new ResourceFunctionError('unknown_server', `unknown MCP server '${server}' for the selected environment`, {
    key: { name: server, environment: environment ?? null },
    data: { choices: ownersOf(named) },
  })
}

const ownersOf = (named: readonly Addressable[]): readonly (string | null)[] => named.map(({ key }) => key.environment)
