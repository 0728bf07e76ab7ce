import { StartupFailedError } from '../errors.js'
import type { ConnectionState } from './state.js'
import { enabledTools } from './tool-filter.js'
import type { ConnectionStatus, ServerStatus } from './types.js'
import { type OfferBasis, offerBasis, type View } from './view.js'

/** How a server is doing, made without starting or awaiting anything (reference: connections, 6). */
export function statusRow(view: View, published: number): ServerStatus {
  const { key, server, lease } = view
  const { config } = server
  const state = lease?.connection.state
  const basis = offerBasis(view)
  const inventory = basis === 'cached' ? view.cached?.inventory : lease?.connection.offer.inventory
  const offered = basis === 'none' || inventory === undefined ? undefined : inventory
  return Object.freeze({
    key,
    status: state === undefined ? ('disabled' as const) : statusOf(state),
    required: config.required,
    transport: config.transport.type,
    executionEnvironment: config.environmentId,
    ...(config.transport.type === 'stdio' && config.transport.sandbox && { sandbox: config.transport.sandbox }),
    ...('plugin' in server.source && { pluginId: server.source.plugin.id }),
    since: state?.since ?? published,
    ...(state !== undefined && failureOf(state)),
    ...(lease?.client && { era: lease.client.era }),
    ...(inventory && {
      protocolVersion: inventory.protocolVersion,
      serverInfo: inventory.serverInfo,
      capabilities: inventory.capabilities,
      ...(inventory.instructions !== undefined && { instructions: inventory.instructions }),
    }),
    ...(offered?.toolList && { toolList: offered.toolList }),
    ...(offered && { tools: enabledTools(config, offered.tools).length }),
    cached: isCached(basis),
  })
}

export function statusOf(state: ConnectionState): ConnectionStatus {
  switch (state.state) {
    case 'idle':
      return 'not_started'
    case 'starting':
      return 'starting'
    case 'ready':
      return 'connected'
    case 'failed':
      return state.error.authRequired ? 'authentication_required' : 'failed'
    case 'waiting':
      return 'failed'
    case 'cancelled':
    case 'closed':
      return 'cancelled'
  }
}

/** The wording that clients get for a login that ended. */
export function failureReasonOf(error: Error): 'reauthenticationRequired' | undefined {
  const marked = error instanceof StartupFailedError && error.data?.failureReason === 'reauthenticationRequired'
  return marked ? 'reauthenticationRequired' : undefined
}

function failureOf(state: ConnectionState): Partial<ServerStatus> {
  if (state.state !== 'failed' && state.state !== 'waiting') return {}
  const failureReason = failureReasonOf(state.error)
  return {
    error: state.error,
    ...(failureReason && { failureReason }),
    ...(state.state === 'waiting' && { retryAt: state.retryAt }),
  }
}

function isCached(basis: OfferBasis): boolean {
  return basis === 'cached' || basis === 'kept'
}
