import {
  EnvironmentError,
  type EnvironmentFault,
  FirstPartyAuthError,
  OperationTimeoutError,
  ReeveError,
  RpcError,
  TransportClosedError,
} from '../errors.js'
import type { ServerKey } from '../identity/index.js'
import { refusedOperation } from './first-party-errors.js'

/** An error of a request, with the server that it concerns; anything else as it is. */
export function withKey(error: unknown, key: ServerKey, method: string, timeoutMs: number | undefined): unknown {
  if (!(error instanceof ReeveError) || error.key !== undefined) return error
  if (error instanceof RpcError) return new RpcError(error.rpcCode, error.message, error.rpcData, key)
  if (error instanceof TransportClosedError) return closedWithKey(error, key)
  if (error instanceof OperationTimeoutError) return new OperationTimeoutError(method, timeoutMs ?? 0, key)
  if (error instanceof FirstPartyAuthError) return refusedOperation(error, key)
  if (error instanceof EnvironmentError) return withEnvironmentKey(error, key)
  return error
}

export function withEnvironmentKey(error: EnvironmentError, key: ServerKey): EnvironmentError {
  const { message, cause, place, data } = error
  const environment = String(data?.environment)
  const code = FAULTS.find((fault) => fault === error.code) ?? 'environment_unreachable'
  return new EnvironmentError(code, environment, message, {
    key,
    cause,
    ...(place !== undefined && { place }),
    ...(data && { data }),
  })
}

const FAULTS: readonly EnvironmentFault[] = ['environment_unauthorized', 'environment_recovering', 'environment_lost']

function closedWithKey(error: TransportClosedError, key: ServerKey): TransportClosedError {
  const { sent, cause, place, data } = error
  return new TransportClosedError(error.message, {
    key,
    sent,
    cause,
    ...(place !== undefined && { place }),
    ...(data && { data }),
  })
}
