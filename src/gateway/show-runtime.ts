import type { EffectiveServer } from '../catalog/index.js'
import { ConfigError } from '../errors.js'
import { displayKey, type ServerKey, serverKey } from '../identity/index.js'
import type { Reeve } from '../reeve.js'
import { checkProfileName, type SelectedEnvironment, type ThreadOptions } from '../threads/index.js'
import type { FrontOptions } from './front.js'

/** What of a runtime its clients are to be shown. */
export interface RuntimeChoice {
  /** Ids of environments in order, the first one primary; empty: what the configuration selects by default. */
  readonly environments: readonly string[]
  /** Name of the permission profile that servers are told; absent: as the configuration says of each environment. */
  readonly permissions?: string | undefined
  /** One server as if it had been reached directly. */
  readonly transparent: boolean
  /** Which one, where several could be meant. */
  readonly only?: string | undefined
}

/** The choice, as the gateway and the threads that it starts are told. */
export interface ShownRuntime {
  readonly front: Pick<FrontOptions, 'transparent' | 'workspaceOf'>
  readonly thread: Pick<ThreadOptions, 'environments' | 'permissions' | 'only'>
}

interface Shown {
  readonly config: Pick<Reeve['config'], 'permissions'>
  readonly environments: Pick<Reeve['environments'], 'ids' | 'cwdOf'>
  readonly servers: readonly Pick<EffectiveServer, 'key' | 'config'>[]
}

/**
 * Checks the choice against the configuration, so that a gateway which can't be as wanted does not start.
 *
 * @throws ConfigError `unknown_environment` or `duplicate_environment`, with the ids that there are; `unknown_profile`;
 * `not_one_server`
 */
export function showRuntime(reeve: Shown, choice: RuntimeChoice): ShownRuntime {
  const environments = selection(choice.environments, reeve.environments.ids)
  const { permissions } = choice
  if (permissions !== undefined) checkProfileName(reeve.config.permissions, permissions, '--permissions')
  const transparent = choice.transparent ? onlyServer(reeve, choice) : undefined
  return {
    front: {
      workspaceOf: (id) => reeve.environments.cwdOf(id),
      ...(transparent && { transparent }),
    },
    thread: {
      ...(environments && { environments }),
      ...(permissions !== undefined && { permissions }),
      ...(transparent && { only: [{ server: transparent.name, environment: transparent.environment }] }),
    },
  }
}

/** Undefined where nothing was asked for. */
function selection(asked: readonly string[], known: readonly string[]): readonly SelectedEnvironment[] | undefined {
  if (asked.length === 0) return undefined
  asked.forEach((id, index) => {
    if (!known.includes(id)) throw unknownEnvironment(id, known)
    if (asked.indexOf(id) !== index) throw duplicateEnvironment(id, known)
  })
  return asked.map((id) => ({ id }))
}

/**
 * The one server that a transparent gateway stands in for: the only one that the configuration has enabled, or the one of
 * that name. A server that an environment contributes is known once the environment was looked into; until then its name
 * and the only selected environment say which one it is.
 */
function onlyServer({ servers }: Shown, { only, environments }: RuntimeChoice): ServerKey {
  const enabled = servers.filter(({ config }) => config.enabled)
  const named = only === undefined ? enabled : enabled.filter(({ key }) => key.name === only)
  const [place, ...others] = environments
  if (only !== undefined && place !== undefined && others.length === 0) {
    const runsThere = named.find(({ key, config }) => key.environment === null && config.environmentId === place)
    return runsThere?.key ?? serverKey(only, place)
  }
  const [found, ...more] = named
  if (found !== undefined && more.length === 0) return found.key
  throw notOneServer(
    only,
    named.map(({ key }) => key),
  )
}

function notOneServer(only: string | undefined, found: readonly ServerKey[]): ConfigError {
  const what = found.length === 0 ? 'none is' : `${found.map(displayKey).join(', ')} are`
  const message =
    only === undefined
      ? `--transparent needs a configuration with exactly one enabled server, or --only NAME: ${what} enabled`
      : `--only ${only} needs exactly one enabled server of that name in the configuration (${what} enabled), or --env ID for the one of an environment`
  return new ConfigError('not_one_server', message, { place: only === undefined ? '--transparent' : '--only' })
}

function unknownEnvironment(id: string, known: readonly string[]): ConfigError {
  return new ConfigError('unknown_environment', `no environment '${id}': there are ${known.join(', ')}`, {
    place: '--env',
    data: { environment: id, known },
  })
}

function duplicateEnvironment(id: string, known: readonly string[]): ConfigError {
  return new ConfigError('duplicate_environment', `the environment '${id}' is selected twice`, {
    place: '--env',
    data: { environment: id, known },
  })
}
