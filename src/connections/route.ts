import type { ReeveError } from '../errors.js'
import type { ConnectionState } from './state.js'
import type { FromServer, ServerRequestHandler } from './types.js'

/** What a connection tells each of its holders. */
export type ConnectionNews =
  | { readonly type: 'state'; readonly state: ConnectionState }
  | { readonly type: 'inventory'; readonly what: 'tools' | 'resources' | 'prompts' }
  | { readonly type: 'notification'; readonly notification: FromServer }
  | { readonly type: 'warning'; readonly warning: ReeveError }

/** One holder of a connection. What a server asks goes to the holder whose request caused it. */
export interface ConnectionRoute {
  onNews(news: ConnectionNews): void
  /** Absent: the holder answers nothing, and the server gets method-not-found. */
  readonly onRequest: ServerRequestHandler | undefined
}
