import type { EnvVar, HttpServer, ServerConfig } from '../config/index.js'

export type HostVariables = Readonly<Record<string, string | undefined>>

export interface NormalEnvVar {
  readonly name: string
  readonly source: 'local' | 'remote'
}

/** `"X"` and `{ name: "X" }` say the same; a variable comes from the host unless it says otherwise. */
export function normalEnvVar(entry: EnvVar): NormalEnvVar {
  return typeof entry === 'string'
    ? { name: entry, source: 'local' }
    : { name: entry.name, source: entry.source ?? 'local' }
}

/**
 * The host variables whose values a connection depends on, sorted and unique (reference: connections, 2). stdio: what
 * `env_vars` takes from the host. HTTP: the bearer variable (of a remote server only when it is set here) and all
 * header variables.
 */
export function referencedVariables(config: ServerConfig, env: HostVariables): readonly string[] {
  const { transport } = config
  const names =
    transport.type === 'stdio'
      ? transport.envVars
          .map(normalEnvVar)
          .filter((variable) => variable.source === 'local')
          .map((variable) => variable.name)
      : [...bearerVariable(transport, config.environmentId, env), ...Object.values(transport.envHttpHeaders)]
  return [...new Set(names)].sort()
}

export function variable(env: HostVariables, name: string): string | undefined {
  return Object.hasOwn(env, name) ? env[name] : undefined
}

function bearerVariable(http: HttpServer, environmentId: string, env: HostVariables): readonly string[] {
  const name = http.bearerTokenEnvVar
  if (name === undefined) return []
  return environmentId === 'local' || variable(env, name) !== undefined ? [name] : []
}
