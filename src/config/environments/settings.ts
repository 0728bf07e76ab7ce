import type { ConfigOrigin } from '../server.js'

/** How an executor is reached (reference: catalog, 8.1). */
export type EnvironmentConnection =
  | {
      readonly kind: 'url'
      /** `ws://` or `wss://`. */
      readonly url: string
      /** Milliseconds; absent = 10,000. */
      readonly connectTimeoutMs?: number
      /** A secret: never shown, never in a key in the clear. */
      readonly bearerToken?: string
      /** A variable of the host that holds it; read at every connection. */
      readonly bearerTokenEnvVar?: string
    }
  | {
      readonly kind: 'command'
      readonly program: string
      readonly args: readonly string[]
      readonly env: Readonly<Record<string, string>>
      /** Absolute. */
      readonly cwd?: string
    }

/** One configured environment beside `local`. */
export interface EnvironmentEntry {
  readonly id: string
  readonly connection: EnvironmentConnection
  /** Milliseconds for the handshake; absent = 10,000. */
  readonly initializeTimeoutMs?: number
  /** Working directory of a thread that selects it without naming one. Absolute, in the environment's own form. */
  readonly cwd?: string
  /** Name of the permission profile or preset that holds there; absent: the default. */
  readonly permissions?: string
  /** As written, before `${VAR}` was replaced, for surfaces that must not show values. Absent when nothing was. */
  readonly written?: EnvironmentConnection
  readonly origin: ConfigOrigin
}

/** A plugin folder in an environment that every thread selects which selects the environment. */
export interface CapabilityRootEntry {
  readonly id: string
  readonly environment: string
  /** Absolute, in the environment's own form. */
  readonly path: string
  readonly origin: ConfigOrigin
}

/** All environments of a configuration: `environments.toml`, and `[[environments]]` of `config.toml` over it by id. */
export interface EnvironmentSettings {
  /** In order: the file's, then those that only `config.toml` has. */
  readonly entries: readonly EnvironmentEntry[]
  readonly includeLocal: boolean
  /** What a thread gets that selects nothing: the default first, `local` among them when it is included. */
  readonly defaultSelection: readonly string[]
  /** `[[capability_roots]]` of `config.toml`, in order. */
  readonly capabilityRoots: readonly CapabilityRootEntry[]
}

/** Where nothing is configured: the host alone. */
export const HOST_ALONE: EnvironmentSettings = Object.freeze({
  entries: [],
  includeLocal: true,
  defaultSelection: ['local'],
  capabilityRoots: [],
})
