/**
 * The identity of a server registration: its name and the environment that contributed it. It goes unchanged through
 * catalog, connections, calls, resources, approvals and audit; no code parses a display form to get it back.
 */

declare const serverNameBrand: unique symbol
declare const environmentIdBrand: unique symbol

/** The key under `mcp_servers`, raw. Free text at load, checked at startup. */
export type ServerName = string & { readonly [serverNameBrand]: true }

/** The id of an environment. `local` is the host. */
export type EnvironmentId = string & { readonly [environmentIdBrand]: true }

export interface ServerKey {
  readonly name: ServerName
  /** Null for a thread-wide (shared) server, wherever it executes. */
  readonly environment: EnvironmentId | null
}

export const LOCAL_ENVIRONMENT = 'local' as EnvironmentId

export function environmentId(id: string): EnvironmentId {
  return id as EnvironmentId
}

/**
 * @example
 * ```ts
 * serverKey('notes')            // thread-wide
 * serverKey('notes', 'devbox')  // contributed by the environment `devbox`
 * ```
 */
export function serverKey(name: string, environment: string | null = null): ServerKey {
  return Object.freeze({ name: name as ServerName, environment: environment as EnvironmentId | null })
}

export function sameKey(a: ServerKey, b: ServerKey): boolean {
  return a.name === b.name && a.environment === b.environment
}

/** `name`, or `name (environment <id>)`: for people and error texts only. */
export function displayKey(key: ServerKey): string {
  return key.environment === null ? key.name : `${key.name} (environment ${key.environment})`
}

/** The form S of the reference: the name, or compact JSON `["<environment>","<name>"]`. For hashing and sorting. */
export function serialiseKey(key: ServerKey): string {
  return key.environment === null ? key.name : JSON.stringify([key.environment, key.name])
}

/** An injective text of a key, for maps. (S is not: a shared server may be *named* `["a","b"]`.) */
export function keyText(key: ServerKey): string {
  return JSON.stringify([key.environment, key.name])
}

/** Rows of a status list: by name, then scope, null first. Code unit order. */
export function compareKeys(a: ServerKey, b: ServerKey): number {
  return (
    compareText(a.name, b.name) ||
    compareText(a.environment ?? '', b.environment ?? '') ||
    Number(a.environment !== null) - Number(b.environment !== null)
  )
}

/** Order of namespaces in a model request: bytewise by S. */
export function compareSerialised(a: ServerKey, b: ServerKey): number {
  // Sorting tools compares neighbours of one server most of the time.
  if (sameKey(a, b)) return 0
  return Buffer.compare(Buffer.from(serialiseKey(a)), Buffer.from(serialiseKey(b)))
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** A map by exact key. Iterates in insertion order. */
export class ServerKeyMap<V> {
  readonly #entries = new Map<string, readonly [ServerKey, V]>()

  constructor(entries: Iterable<readonly [ServerKey, V]> = []) {
    for (const [key, value] of entries) this.set(key, value)
  }
  get size(): number {
    return this.#entries.size
  }
  get(key: ServerKey): V | undefined {
    return this.#entries.get(keyText(key))?.[1]
  }
  has(key: ServerKey): boolean {
    return this.#entries.has(keyText(key))
  }
  set(key: ServerKey, value: V): this {
    this.#entries.set(keyText(key), [key, value])
    return this
  }
  delete(key: ServerKey): boolean {
    return this.#entries.delete(keyText(key))
  }
  keys(): ServerKey[] {
    return [...this.#entries.values()].map(([key]) => key)
  }
  values(): V[] {
    return [...this.#entries.values()].map(([, value]) => value)
  }
  [Symbol.iterator](): IterableIterator<readonly [ServerKey, V]> {
    return this.#entries.values()
  }
}
