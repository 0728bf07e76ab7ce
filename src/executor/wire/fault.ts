import { RpcError } from '../../errors.js'
import { EXEC_CODES, type ExecSpawnFault } from '../../protocol/index.js'

export const invalidRequest = (message: string): RpcError => new RpcError(EXEC_CODES.invalidRequest, message)
export const invalidParams = (message: string): RpcError => new RpcError(EXEC_CODES.badParams, message)
export const internal = (message: string): RpcError => new RpcError(EXEC_CODES.internal, message)
export const unknownMethod = (method: string): RpcError =>
  new RpcError(EXEC_CODES.unknownMethod, `this executor has no method '${method.slice(0, 100)}'`)
export const sessionAttached = (): RpcError =>
  new RpcError(EXEC_CODES.sessionAttached, 'the session is attached to another connection')
export const notFound = (message: string): RpcError => new RpcError(EXEC_CODES.notFound, message)
export const spawnFault = (kind: ExecSpawnFault, message: string): RpcError =>
  new RpcError(EXEC_CODES.internal, message, { kind })

/** The error of an operating system call as the protocol answers it (reference: executor-protocol, 8). */
export function systemFault(error: unknown): RpcError {
  if (error instanceof RpcError) return error
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const message = error instanceof Error ? error.message : String(error)
  switch (code) {
    case 'ENOENT':
      return notFound(message)
    case 'EACCES':
    case 'EPERM':
    case 'EINVAL':
    case 'ERR_INVALID_ARG_VALUE':
      return invalidRequest(message)
    default:
      return internal(message)
  }
}
