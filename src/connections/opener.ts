import type { AuthContext } from '../auth/index.js'
import type { EffectiveServer } from '../catalog/index.js'
import type { Environment } from '../environments/index.js'
import type { JsonObject, Transport } from '../protocol/index.js'

export interface OpenOptions {
  /** The live definitions of its tools, for whoever asks whether one is idempotent. */
  readonly tool?: (name: string) => JsonObject | undefined
  /** Ends the opening; a transport that is open already is closed by its owner. */
  readonly signal: AbortSignal
}

/** The same where several holders have several working directories. */
export interface PlacedOpenOptions extends OpenOptions {
  /** Where a local server without a working directory of its own runs. Absolute. */
  readonly cwd: string
  /** Where it runs, for a holder that knows; null when it knows no environment of that id. */
  readonly environment?: Environment | null
  /** The same object for whatever one connection opens. */
  readonly connection?: object
  /** First-party auth of who opens it. */
  readonly auth?: AuthContext
  /** For whom; absent: the local user. */
  readonly principal?: string
}

/** Opens servers for everybody: told for whom, by the working directory. */
export type PlacedOpener = (server: EffectiveServer, options: PlacedOpenOptions) => Promise<Transport>

/** Makes the transport of one server, not started yet. Every attempt asks for a new one. */
export type TransportOpener = (server: EffectiveServer, options: OpenOptions) => Promise<Transport>
