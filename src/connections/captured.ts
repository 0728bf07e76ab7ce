import type { EffectiveServer } from '../catalog/index.js'
import type { ServerConfig } from '../config/index.js'
import { type ReeveError, StaleCatalogError, ToolDisabledError } from '../errors.js'
import type { ServerKey } from '../identity/index.js'
import type { JsonObject } from '../protocol/index.js'
import { sameExecutionContract, withoutReadOnlyHint } from './execution-contract.js'
import type { Inventory } from './inventory.js'
import type { Lease } from './lease.js'
import { outcomeError } from './lifecycle.js'
import { PreparedCall } from './prepared-call.js'
import { sameDefinition } from './tool-catalog.js'
import { enabledTools, isToolEnabled } from './tool-filter.js'
import type { ReadyClient } from './types.js'
import { type OfferBasis, offerBasis, type View } from './view.js'

/** One enabled server as a capture found it. Frozen, and bound to the connection that it was taken from. */
export interface CapturedServer {
  readonly key: ServerKey
  readonly config: ServerConfig
  readonly source: EffectiveServer['source']
  /** True when the server is up, and the tools are its own. */
  readonly live: boolean
  /** The tools that the configuration lets through, as the server defined them; those hidden from models included. */
  readonly tools: readonly JsonObject[]
  /** Of the live catalog. */
  readonly catalogRevision: number | undefined
  /** While the server is up. */
  readonly client: ReadyClient | undefined
  /** As `client`, by now: of the same connection, which may have come up since. */
  clientNow(): ReadyClient | undefined
  /** Where the tools come from: the server, or what was kept of it. Not filtered. */
  readonly inventory: Inventory | undefined
  /** Why it is not up, when it failed. */
  readonly error: ReeveError | undefined
  /** Why requests to it would have to wait now: its environment is on its way back. Asked anew each time. */
  outage(): ReeveError | undefined
  /**
   * Binds a call to the tool as it is here. A tool that is only known from the cache is bound by its execution contract.
   *
   * @throws {ToolDisabledError} the configuration filters it away
   * @throws {StaleCatalogError} the server has no such tool
   */
  prepareCall(tool: string): PreparedCall
}

export function capture(view: View & { readonly lease: Lease }): CapturedServer {
  const { key, server, lease } = view
  lease.connection.refreshExpired()
  lease.connection.reach.again()
  const basis = offerBasis(view)
  const inventory = inventoryOf(view, basis)
  const { snapshot } = lease.connection.offer.catalog
  const whole = basis === 'live' ? snapshot.tools : (inventory?.tools ?? [])
  const tools = enabledTools(server.config, whole)
  return Object.freeze({
    key,
    config: server.config,
    source: server.source,
    live: basis === 'live',
    tools: basis === 'cached' ? Object.freeze(tools.map(withoutReadOnlyHint)) : tools,
    catalogRevision: basis === 'live' ? snapshot.revision : undefined,
    client: basis === 'live' ? lease.client : undefined,
    inventory,
    error: errorOf(lease, key),
    clientNow: () => (offerBasis(view) === 'live' ? lease.client : undefined),
    outage: () => lease.connection.reach.outage(),
    prepareCall: (tool: string) => prepare(view, tools, basis, tool),
  })
}

function inventoryOf({ lease, cached }: View, basis: OfferBasis): Inventory | undefined {
  if (basis === 'cached') return cached?.inventory
  return basis === 'none' ? undefined : lease?.connection.offer.inventory
}

function prepare(
  { key, server, lease }: View & { readonly lease: Lease },
  tools: readonly JsonObject[],
  basis: OfferBasis,
  tool: string,
): PreparedCall {
  const definition = tools.find((candidate) => candidate.name === tool)
  if (definition === undefined) {
    throw isToolEnabled(server.config, tool) ? new StaleCatalogError(key, tool) : new ToolDisabledError(key, tool)
  }
  const matches = basis === 'cached' ? sameExecutionContract : sameDefinition
  return new PreparedCall({ key, config: server.config, tool, definition, live: basis === 'live' }, lease, (current) =>
    matches(definition, current),
  )
}

function errorOf({ connection: { state } }: Lease, key: ServerKey): ReeveError | undefined {
  return state.state === 'failed' || state.state === 'waiting' || state.state === 'cancelled'
    ? outcomeError(state, key)
    : undefined
}
