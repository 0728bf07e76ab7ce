import type { EffectiveServer } from '../catalog/index.js'
import type { Transport } from '../protocol/index.js'

export interface OpenOptions {
  /** Ends the opening; a transport that is open already is closed by its owner. */
  readonly signal: AbortSignal
}

/** Makes the transport of one server, not started yet. Every attempt asks for a new one. */
export type TransportOpener = (server: EffectiveServer, options: OpenOptions) => Promise<Transport>
