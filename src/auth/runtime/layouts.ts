import type { HeaderField } from '../header-field.js'

/**
 * The requests whose header order is known. `auth` is where the auth room's own fields go; of the fields beside them only
 * those go out that have a value. Source: reference, runtime-auth 3 and 4.1; vectors, `headers`.
 */
const LAYOUTS = {
  mcp_initialize: ['user-agent', 'auth', 'accept', 'content-type'],
  mcp_discover: ['user-agent', 'mcp-protocol-version', 'mcp-method', 'auth', 'accept', 'content-type'],
  mcp_post: [
    'user-agent',
    'originator',
    'x-openai-product-sku',
    'mcp-protocol-version',
    'auth',
    'accept',
    'content-type',
    'mcp-session-id',
  ],
  mcp_get: [
    'user-agent',
    'originator',
    'x-openai-product-sku',
    'mcp-protocol-version',
    'auth',
    'accept',
    'mcp-session-id',
    'last-event-id',
  ],
  mcp_delete: [
    'user-agent',
    'originator',
    'x-openai-product-sku',
    'mcp-protocol-version',
    'auth',
    'mcp-session-id',
    'accept',
  ],
  models: ['version', 'auth', 'originator', 'user-agent', 'accept'],
  app_directory: ['originator', 'user-agent', 'auth', 'oai-product-sku', 'content-type', 'accept'],
  accounts_check: ['user-agent', 'auth', 'accept'],
  usage: ['user-agent', 'auth', 'accept'],
  analytics_events: ['auth', 'content-type', 'originator', 'user-agent', 'accept'],
  responses: ['auth', 'originator', 'user-agent', 'accept', 'content-type'],
  responses_websocket: ['auth', 'user-agent', 'originator'],
  file_create: ['auth', 'content-type', 'accept'],
  file_finalise: ['auth', 'content-type', 'accept'],
  /** Storage is somebody else's, whatever its origin: nothing of ours goes there. */
  storage_put: ['x-ms-blob-type', 'x-ms-client-request-id', 'content-length', 'accept'],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type RequestLayout = keyof typeof LAYOUTS

/** Whether requests of this kind carry auth at all. */
export function carriesAuth(layout: RequestLayout): boolean {
  return placesOf(layout).includes('auth')
}

/**
 * All fields of a request, in order. A field without a place in the layout is dropped, and so is every copy of what the
 * auth room owns.
 */
export function layOut(
  layout: RequestLayout,
  { own, auth }: { readonly own: Readonly<Record<string, string>>; readonly auth: readonly HeaderField[] },
): HeaderField[] {
  // The upgrade has them the other way round; where FedRAMP stands there was never seen.
  const fields = layout === 'responses_websocket' ? [...auth].reverse() : auth
  return placesOf(layout).flatMap((place): readonly HeaderField[] => {
    if (place === 'auth') return fields
    const value = Object.hasOwn(own, place) ? own[place] : undefined
    return value === undefined ? [] : [[place, value]]
  })
}

function placesOf(layout: RequestLayout): readonly string[] {
  return LAYOUTS[layout]
}
