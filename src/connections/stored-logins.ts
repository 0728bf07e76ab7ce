import type { EffectiveServer } from '../catalog/index.js'
import type { StoredAuthState } from './startup-failure.js'

/**
 * What is stored for the OAuth of servers. Processes log in and out as they like; every method tells how it is now.
 * `principal`: whose login; absent: the local user's.
 */
export interface StoredLogins {
  /** Another text after every login and logout, by whatever process, and the same after a refresh. Cheap. */
  version(): string
  /** Stands for the login of a server, or for the reason why it can't be read; holds no secret. */
  digest(server: EffectiveServer, principal?: string): string | undefined
  /** For the wording of a failure. */
  state(server: EffectiveServer, principal?: string): StoredAuthState | undefined
  /** Tells that the version may be another one. Returns what ends that. */
  onchange(listener: () => void): () => void
}
