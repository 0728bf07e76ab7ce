import type { LoadedConfig, ServerConfig } from '../../../config/index.js'
import { BrokerError } from '../../../errors.js'
import { inheritedVariables } from '../../../transports/index.js'
import { BROKER_LIMITS } from '../wire/limits.js'

export type Variables = Readonly<Record<string, string | undefined>>

/** Asks the client; what it leaves out is not set there. */
export type AskForVariables = (names: readonly string[]) => Promise<ReadonlyMap<string, string>>

/** Proxies decide how servers are reached. */
const PROXY_VARIABLES = ['http_proxy', 'https_proxy', 'no_proxy'].flatMap((name) => [name, name.toUpperCase()])

/**
 * Every client has a terminal of its own or none, and a server behind the broker has none: told apart by `TERM`, no two
 * clients would ever share a server.
 */
const TERMINAL = { TERM: 'dumb' }

/** What a client's servers depend on. */
export interface ClientSettings<Config> {
  readonly config: Config
  /** Those that every server gets, and those that the configuration names; nothing else of the client's, none of ours. */
  readonly env: Variables
}

/**
 * Loads a client's configuration with the client's own variables, and gets these from it: first the list that every
 * server gets, then whatever loading looked up or servers name, until nothing is missing.
 *
 * @param load loads the configuration with the variables that are known
 * @param known names that the same configuration asked for last time, to save a round
 */
export async function clientSettings<Config extends Pick<LoadedConfig, 'servers'>>(
  load: (env: Variables) => Promise<Config>,
  ask: AskForVariables,
  known: Iterable<string>,
): Promise<ClientSettings<Config> & { readonly names: ReadonlySet<string> }> {
  const names = new Set<string>()
  const given: Record<string, string> = Object.create(null)
  let missing = new Set([...inheritedVariables(process.platform), ...PROXY_VARIABLES, ...known])
  for (const name of Object.keys(TERMINAL)) missing.delete(name)
  for (;;) {
    if (missing.size > 0) await take([...missing], ask, names, given)
    const looked = new Set<string>()
    const config = await load(noting({ ...given, ...TERMINAL }, looked))
    for (const { config: server } of config.servers) for (const name of namedBy(server)) looked.add(name)
    missing = new Set([...looked].filter((name) => !names.has(name) && !Object.hasOwn(TERMINAL, name)))
    if (missing.size === 0) return { config, names, env: Object.freeze({ ...given, ...TERMINAL }) }
  }
}

async function take(
  wanted: readonly string[],
  ask: AskForVariables,
  names: Set<string>,
  given: Record<string, string>,
): Promise<void> {
  for (const name of wanted) names.add(name)
  if (names.size > BROKER_LIMITS.variables) {
    throw new BrokerError('broker_refused', `the configuration names more than ${BROKER_LIMITS.variables} variables`)
  }
  const values = await ask(wanted)
  for (const name of wanted) {
    const value = values.get(name)
    if (value !== undefined) given[name] = value
  }
}

/** Variables that tell which names were looked up, set or not. */
function noting(env: Variables, looked: Set<string>): Variables {
  return new Proxy(env, {
    get: (target, name) => (typeof name === 'string' ? note(target, name, looked) : undefined),
    getOwnPropertyDescriptor: (target, name) => {
      if (typeof name === 'string') looked.add(name)
      return Reflect.getOwnPropertyDescriptor(target, name)
    },
  })
}

function note(env: Variables, name: string, looked: Set<string>): string | undefined {
  looked.add(name)
  return Object.hasOwn(env, name) ? env[name] : undefined
}

/** Those that are only read when the server is started. */
function namedBy({ transport }: ServerConfig): readonly string[] {
  if (transport.type === 'stdio') {
    return transport.envVars.flatMap((entry) => {
      if (typeof entry === 'string') return [entry]
      return entry.source === 'remote' ? [] : [entry.name]
    })
  }
  const bearer = transport.bearerTokenEnvVar === undefined ? [] : [transport.bearerTokenEnvVar]
  return [...bearer, ...Object.values(transport.envHttpHeaders)]
}
