import type { ReeveError } from '../errors.js'
import type { InventoryPart } from './inventory-listing.js'
import type { ConnectionState } from './state.js'
import type { FromServer, ServerRequestHandler } from './types.js'

/** What a connection tells each of its holders. */
export type ConnectionNews =
  /** `changed`: once it is ready, what differs in its offer from what it had before. */
  | { readonly type: 'state'; readonly state: ConnectionState; readonly changed: readonly InventoryPart[] }
  | { readonly type: 'inventory'; readonly what: InventoryPart }
  | { readonly type: 'notification'; readonly notification: FromServer }
  | { readonly type: 'warning'; readonly warning: ReeveError }

/** One holder of a connection. What a server asks goes to the holder whose request caused it. */
export interface ConnectionRoute {
  onNews(news: ConnectionNews): void
  /** Absent: the holder answers nothing, and the server gets method-not-found. */
  readonly onRequest: ServerRequestHandler | undefined
}
