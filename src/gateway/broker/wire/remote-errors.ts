import {
  AmbiguousServerError,
  CancelledError,
  type ErrorKey,
  ReeveError,
  type ReeveErrorFacts,
  RpcError,
  StartupFailedError,
  TransportClosedError,
  UnknownServerError,
} from '../../../errors.js'
import type { JsonObject, JsonValue } from '../../../protocol/index.js'

/** An error as it crosses the broker's socket, whole. What is no error of ours shows nothing of itself. */
export function errorToWire(error: unknown): JsonObject {
  if (!(error instanceof ReeveError)) return { code: 'internal', message: 'the broker failed: see its log' }
  const wire = { ...error.toJSON(), facts: factsOf(error) }
  return JSON.parse(JSON.stringify(wire)) as JsonObject
}

/**
 * The same error on the other side: with its code, message, key, place and data, and of its class where that has facts
 * of its own. Who tells errors apart does so by `code`.
 */
export function errorFromWire(wire: JsonObject): ReeveError {
  const code = typeof wire.code === 'string' ? wire.code : 'internal'
  const message = typeof wire.message === 'string' ? wire.message : 'the broker failed'
  const facts = objectOf(wire.facts)
  const common = commonFacts(wire)
  switch (code) {
    case 'rpc_error':
      return new RpcError(
        typeof facts.rpcCode === 'number' ? facts.rpcCode : -32603,
        message,
        facts.rpcData,
        common.key,
      )
    case 'cancelled':
      return new CancelledError(message, common)
    case 'transport_closed':
      return new TransportClosedError(message, { ...common, sent: facts.sent !== false })
    case 'startup_failed':
      return new StartupFailedError(message, { ...common, authRequired: facts.authRequired === true })
    case 'unknown_server':
      return common.key === undefined ? new ReeveError(code, message, common) : unknownServer(common.key, common)
    case 'ambiguous_server':
      return new AmbiguousServerError(common.key?.name ?? '', choicesOf(common.data?.choices))
    default:
      return new ReeveError(code, message, common)
  }
}

function factsOf(error: ReeveError): Record<string, unknown> {
  if (error instanceof RpcError) return { rpcCode: error.rpcCode, rpcData: error.rpcData }
  if (error instanceof TransportClosedError) return { sent: error.sent }
  if (error instanceof StartupFailedError) return { authRequired: error.authRequired }
  return {}
}

function commonFacts({ server, environment_id, place, data }: JsonObject): ReeveErrorFacts {
  const key: ErrorKey | undefined =
    typeof server === 'string'
      ? { name: server, environment: typeof environment_id === 'string' ? environment_id : null }
      : undefined
  return {
    ...(key && { key }),
    ...(typeof place === 'string' && { place }),
    ...(data !== undefined && { data: objectOf(data) }),
  }
}

function unknownServer(key: ErrorKey, { data }: ReeveErrorFacts): UnknownServerError {
  const suggestion = typeof data?.suggestion === 'string' ? { suggestion: data.suggestion } : {}
  return new UnknownServerError(key, { ...suggestion, choices: choicesOf(data?.choices) })
}

function choicesOf(value: unknown): (string | null)[] {
  if (!Array.isArray(value)) return []
  return value.map((choice: unknown) => (typeof choice === 'string' ? choice : null))
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
}
