import type { AuthContext } from '../auth/index.js'
import type { EffectiveServer } from '../catalog/index.js'
import type { Environment } from '../environments/index.js'
import { ActiveTime } from './active-time.js'
import { Closings } from './closings.js'
import { EraKnowledge } from './eras/knowledge.js'
import type { EraMemory } from './eras/memory.js'
import type { ConnectionIdentity } from './identity.js'
import type { Inventory } from './inventory.js'
import type { TransportOpener } from './opener.js'
import type { Debounce } from './relister.js'
import { SessionMemory } from './session-memory.js'
import type { Recipe } from './startup.js'
import type { StoredAuthState } from './startup-failure.js'
import type { Timers } from './timers.js'
import type { ClientProfile } from './types.js'

export interface ConnectionOptions {
  readonly server: EffectiveServer
  readonly identity: ConnectionIdentity
  readonly profile: ClientProfile
  readonly open: TransportOpener
  /** Where the server runs, where that is known: its state decides when a lost server is started again. */
  readonly environment?: Environment
  /** First-party auth of its requests. */
  readonly auth?: AuthContext
  readonly timers: Timers
  /** Keeps what the server offers beyond this process. */
  readonly keep?: (inventory: Inventory) => void
  /** Told before the tools are listed. */
  readonly began?: () => void
  /** Which era each server was found to speak. */
  readonly eras?: EraMemory
  readonly authState?: (server: EffectiveServer) => StoredAuthState | undefined
  /** For whom; absent: the local user. */
  readonly principal?: string
  readonly debounce?: Debounce
  /** From 0 up to 1; for the jitter of restarts. */
  readonly random?: () => number
}

/** How a connection's server is started, each time: what the sessions have in common. */
export function recipeOf(
  { server, identity, profile, open, environment, timers, authState, principal, eras, began }: ConnectionOptions,
  { warn, ...ports }: Pick<Recipe, 'tool' | 'handlers'> & { readonly warn: (warning: unknown) => void },
): Recipe {
  return {
    server,
    profile,
    open,
    environment,
    timers,
    active: new ActiveTime(),
    closings: new Closings(warn),
    eras: new EraKnowledge({
      key: server.key,
      pinned: server.config.protocol,
      identity: identity.launch,
      memory: eras,
      now: () => timers.now(),
      warn,
    }),
    memory: new SessionMemory(),
    ...ports,
    ...(authState && { authState }),
    ...(principal !== undefined && { principal }),
    ...(began && { began }),
  }
}
