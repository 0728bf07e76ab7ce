import type { EnvVar } from '../../config/index.js'
import { inheritedVariables } from '../../environments/index.js'
import { ConfigError } from '../../errors.js'

export { inheritedVariables }

/**
 * The whole environment of a local child, rebuilt from nothing; later wins: the platform's allowlist, the names of
 * `env_vars` (each only if set here), the literal `env`. Windows names are compared without case, so that a configured
 * `PATH` replaces an inherited `Path`.
 *
 * Raises `ConfigError` for an `env_vars` entry with source `remote` (`remote_env_var`) and for a name or value that no
 * environment can hold (`invalid_env_var`).
 */
export function childEnvironment(
  platform: NodeJS.Platform,
  parentEnv: Readonly<Record<string, string | undefined>>,
  envVars: readonly EnvVar[],
  env: Readonly<Record<string, string>>,
): Record<string, string> {
  const child = new Variables(platform === 'win32')
  const parent = new Variables(platform === 'win32')
  for (const [name, value] of Object.entries(parentEnv)) if (value !== undefined) parent.set(name, value)

  for (const name of inheritedVariables(platform)) child.copy(parent, name)
  for (const entry of envVars) child.copy(parent, localName(entry))
  for (const [name, value] of Object.entries(env)) child.set(valid(name, 'env'), validValue(name, value))
  return child.toRecord()
}

/** What a child on an executor gets from here, and which variables it gets there. */
export interface ExecutorVariables {
  /** Laid over what the executor gives to every child. */
  readonly env: Readonly<Record<string, string>>
  /** Names that are read on the executor. */
  readonly there: readonly string[]
}

/**
 * The part of a remote child's environment that comes from its configuration (reference: connections, 11.1): the names of
 * `env_vars` with local source (each only if set here), then the literal `env`. Nothing else of the host crosses the
 * wire: the executor has its own PATH and HOME. `platform` is the host's, whose rule for equal names finds the values.
 *
 * Raises `ConfigError` (`invalid_env_var`) as `childEnvironment`.
 */
export function executorVariables(
  platform: NodeJS.Platform,
  parentEnv: Readonly<Record<string, string | undefined>>,
  envVars: readonly EnvVar[],
  env: Readonly<Record<string, string>>,
): ExecutorVariables {
  const parent = new Variables(platform === 'win32')
  for (const [name, value] of Object.entries(parentEnv)) if (value !== undefined) parent.set(name, value)
  // Whether two names are one is for the executor's system to say.
  const overlay = new Variables(false)
  const there = new Set<string>()
  for (const entry of envVars) {
    const name = valid(typeof entry === 'string' ? entry : entry.name, 'env_vars')
    if (typeof entry !== 'string' && entry.source === 'remote') there.add(name)
    else overlay.copyAs(parent, name)
  }
  for (const [name, value] of Object.entries(env)) overlay.set(valid(name, 'env'), validValue(name, value))
  return { env: overlay.toRecord(), there: [...there] }
}

function localName(entry: EnvVar): string {
  const { name, source } = typeof entry === 'string' ? { name: entry, source: undefined } : entry
  if (source === 'remote') {
    throw new ConfigError(
      'remote_env_var',
      `env_vars entry '${name}' has source 'remote', which needs a server that runs in a remote environment`,
      { place: `env_vars '${name}'`, data: { name } },
    )
  }
  return valid(name, 'env_vars')
}

function valid(name: string, member: string): string {
  if (name !== '' && !name.includes('=') && !name.includes('\0')) return name
  throw new ConfigError('invalid_env_var', `${member}: ${JSON.stringify(name)} cannot name an environment variable`, {
    place: `${member} ${JSON.stringify(name)}`,
  })
}

function validValue(name: string, value: string): string {
  if (!value.includes('\0')) return value
  throw new ConfigError('invalid_env_var', `env: the value of '${name}' holds a NUL character`, {
    place: `env ${JSON.stringify(name)}`,
  })
}

/** Environment variables under the platform's rule for equal names. The spelling that was set last stays. */
class Variables {
  readonly #entries = new Map<string, readonly [string, string]>()
  readonly #ignoreCase: boolean

  constructor(ignoreCase: boolean) {
    this.#ignoreCase = ignoreCase
  }
  set(name: string, value: string): void {
    this.#entries.set(this.#key(name), [name, value])
  }
  copy(from: Variables, name: string): void {
    const found = from.#entries.get(this.#key(name))
    if (found !== undefined) this.set(...found)
  }
  /** Under the name that was asked for. */
  copyAs(from: Variables, name: string): void {
    const found = from.#entries.get(from.#key(name))
    if (found !== undefined) this.set(name, found[1])
  }
  /** Without a prototype: a variable may be called `__proto__`. */
  toRecord(): Record<string, string> {
    const record: Record<string, string> = Object.create(null)
    for (const [name, value] of this.#entries.values()) record[name] = value
    return record
  }
  #key(name: string): string {
    return this.#ignoreCase ? name.toUpperCase() : name
  }
}
