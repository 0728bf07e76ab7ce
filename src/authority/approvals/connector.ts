import { HOSTED_APPS_NAME, type ServerKey } from '../../identity/index.js'

/** Which hosted app a tool belongs to. */
export interface Connector {
  readonly id: string
  readonly name?: string
  readonly description?: string
  readonly linkId?: string
}

/** Only the hosted apps' own server has connectors: no other can claim one (reference: tool-calls, 2). */
export function ownConnector<C extends { readonly id: string }>(
  key: ServerKey,
  connector: C | undefined,
): C | undefined {
  return key.name === HOSTED_APPS_NAME ? connector : undefined
}
