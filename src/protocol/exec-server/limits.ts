/** Limits and times of the protocol (reference: executor-protocol, 12). Bytes and milliseconds. */
export const EXEC_LIMITS = {
  /** One WebSocket frame into the executor. */
  frame: 16 * 1024 * 1024,
  /** One message into the executor, and one line on stdio. */
  message: 64 * 1024 * 1024,
  /** One message from the executor: a `fs/readFile` of 60 MiB comes as one of 84 MB. */
  answer: 128 * 1024 * 1024,
  /** JSON values in one message. */
  values: 262_144,
  /** One read of a pipe, so one `process/output`. */
  outputChunk: 8192,
  /** What is kept of the output of each process for `process/read`. */
  retainedBytes: 1024 * 1024,
  retainedChunks: 50_000,
  /** `process/write` calls behind the pipe. */
  stdinQueue: 128,
  /** Accepted `writeId`s that are remembered for each process. */
  writeIds: 4096,
  /** Events of one process that wait for an earlier one. */
  reorderEvents: 256,
  reorderBytes: 1024 * 1024,
  /** One `http/request/bodyDelta`, decoded. */
  httpDelta: 1024 * 1024,
  httpQueueDeltas: 256,
  httpQueueBytes: 16 * 1024 * 1024,
  fileHandles: 128,
  fileHandleId: 32,
  fileBlock: 1024 * 1024,
  readFile: 512 * 1024 * 1024,
  directoryEntries: 50_000,
  walkDepth: 64,
  walkDirectories: 10_000,
  walkEntries: 50_000,
  walkBytes: 4 * 1024 * 1024,
  /** How long a session without a socket, and a closed process, are kept. */
  detachedMs: 80_000,
  closedMs: 80_000,
  /** The client's whole budget for a resume, inside `detachedMs`. */
  recoveryMs: 45_000,
  recoveryRetryMs: 100,
  connectMs: 10_000,
  initializeMs: 10_000,
  infoMs: 30_000,
  statusMs: 10_000,
  pingMs: 30_000,
} as const
