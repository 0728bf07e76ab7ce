/** Error codes of an executor (reference: executor-protocol, 13). Branch on these and on `data.kind`, never on a text. */
export const EXEC_CODES = {
  /** Invalid in this state; unknown session or process; malformed, then with id -1. */
  invalidRequest: -32600,
  unknownMethod: -32601,
  badParams: -32602,
  /** Internal, spawn, operating system, HTTP. */
  internal: -32603,
  /** A file or handle that is not there. */
  notFound: -32004,
  /** The session is attached to another socket: try again. */
  sessionAttached: -32010,
} as const

/** `data.kind` of a failed `process/start`. */
export type ExecSpawnFault = 'spawnNotFound' | 'spawnPermissionDenied' | 'spawnFailed'
