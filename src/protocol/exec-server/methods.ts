/** Requests of the client (reference: executor-protocol, 5). */
export const EXEC_METHODS = {
  initialize: 'initialize',
  environmentInfo: 'environment/info',
  environmentStatus: 'environment/status',
  environmentConfigRead: 'environmentConfig/read',
  processStart: 'process/start',
  processRead: 'process/read',
  processWrite: 'process/write',
  processSignal: 'process/signal',
  processTerminate: 'process/terminate',
  httpRequest: 'http/request',
  readFile: 'fs/readFile',
  open: 'fs/open',
  readBlock: 'fs/readBlock',
  writeBlock: 'fs/writeBlock',
  close: 'fs/close',
  writeFile: 'fs/writeFile',
  createDirectory: 'fs/createDirectory',
  getMetadata: 'fs/getMetadata',
  canonicalize: 'fs/canonicalize',
  readDirectory: 'fs/readDirectory',
  walk: 'fs/walk',
  remove: 'fs/remove',
  copy: 'fs/copy',
  watchMissing: 'fs/watchMissing',
  discoverV1: 'capabilityRoots/discoverV1',
  discoverV2: 'capabilities/discoverV2',
} as const

export type ExecMethod = (typeof EXEC_METHODS)[keyof typeof EXEC_METHODS]

/** The only notification that a client may send: any other drops the socket. */
export const EXEC_INITIALIZED = 'initialized'

/** Notifications of the executor. */
export const EXEC_EVENTS = {
  output: 'process/output',
  exited: 'process/exited',
  closed: 'process/closed',
  bodyDelta: 'http/request/bodyDelta',
  missingChanged: 'fs/missingChanged',
} as const

/** The one request of the executor, which a client without managed networks refuses. */
export const EXEC_POLICY_REQUEST = 'network/policyRequest'
