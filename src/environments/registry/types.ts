import type { Environment, EnvironmentState } from '../environment.js'

/** An environment under its id, and which definition of that id it is. */
export interface PlacedEnvironment {
  readonly environment: Environment
  /** Differs for two definitions of one id (other URL, command, credentials); absent for the host. Holds no secret. */
  readonly handle?: string
}

/** What a thread or its connections need of the environments: to look them up, and to hear of them. */
export interface Environments {
  /** The host included, under `local`. In the order of the configuration. */
  readonly ids: readonly string[]
  get(id: string): PlacedEnvironment | undefined
  /** Tells every later state of any of them, added ones included. Returns what ends that. */
  onstate(listener: (id: string, state: EnvironmentState) => void): () => void
}
