import type { ClientProfile, ServerRequestHandler } from '../connections/index.js'
import type { Thread, ThreadEvent } from '../threads/index.js'

export interface StartThreadOptions {
  readonly client: ClientProfile
  readonly naming: 'readable'
  readonly appTools: boolean
  /** For whom; absent: the local user. */
  readonly principal?: string
  readonly sharing: 'shared' | 'isolated'
  readonly onRequest: ServerRequestHandler
  readonly onEvent: (event: ThreadEvent) => void
}

/** Starts the thread of one client. `Reeve.startThread`, with whatever else the host wants bound to it. */
export type ThreadStarter = (options: StartThreadOptions) => Promise<Thread>
